//go:build unix

package source

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes the process lead a group, so that a signal reaches all of its
// descendants.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func send(p *os.Process, group bool, s os.Signal) error {
	if n, ok := s.(syscall.Signal); ok && group {
		return syscall.Kill(-p.Pid, n)
	}
	return p.Signal(s)
}

func (g *guard) terminate() bool { return g.signal(syscall.SIGTERM) }

func (g *guard) kill() bool { return g.signal(syscall.SIGKILL) }

func exitOf(s *os.ProcessState) Exit {
	e := Exit{
		Code: s.ExitCode(), PID: s.Pid(),
		UserTime: s.UserTime().Milliseconds(), SysTime: s.SystemTime().Milliseconds(),
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		e.Code, e.Signal = 128+int(w.Signal()), unix.SignalName(w.Signal())
	}
	return e
}
