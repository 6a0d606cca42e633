//go:build !windows

package harness

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a process the head of a group, so that its children can be
// killed with it.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
