//go:build unix

package machine

import (
	"syscall"
	"time"
)

// CPU is how much processor time the process has used, the system's on its
// behalf included. Unlike a rate it says the same on a machine that others use,
// too.
func CPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
