//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package server

import (
	"errors"
	"os"
	"syscall"
)

// openLocked opens the file and locks it until it is closed or the process
// ends. The lock belongs to the open file, so that it also holds against
// another Server of this process.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}
