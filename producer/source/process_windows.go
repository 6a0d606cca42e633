package source

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps this console's Ctrl-C from the process: it is forwarded like
// any other signal.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// send ends the process whatever the signal: the system knows no other. Its
// descendants live on.
func send(p *os.Process, _ bool, _ os.Signal) error { return p.Kill() }

func (g *guard) terminate() bool { return g.signal(os.Kill) }

func (g *guard) kill() bool { return g.signal(os.Kill) }

func exitOf(s *os.ProcessState) Exit {
	return Exit{
		Code: s.ExitCode(), PID: s.Pid(),
		UserTime: s.UserTime().Milliseconds(), SysTime: s.SystemTime().Milliseconds(),
	}
}
