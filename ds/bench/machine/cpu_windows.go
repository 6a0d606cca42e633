package machine

import (
	"syscall"
	"time"
)

// CPU is how much processor time the process has used, the system's on its
// behalf included. Unlike a rate it says the same on a machine that others use,
// too.
func CPU() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, ended, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &ended, &kernel, &user) != nil {
		return 0
	}
	const tick = 100 * time.Nanosecond
	total := func(f syscall.Filetime) time.Duration {
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * tick
	}
	return total(kernel) + total(user)
}
