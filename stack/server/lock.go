package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lockName is the file in the data folder that its holder keeps locked. It
// bears the holder's process id and stays behind, unlocked.
const lockName = "datastream.lock"

// errHeld is what lockFile says when another open file holds the lock.
var errHeld = errors.New("held")

// lockFolder makes the folder and takes it for this process. It wraps
// ErrFolder or ErrInUse.
func lockFolder(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("open the data folder: %w: %w; choose another with --dir", ErrFolder, err)
	}
	path := filepath.Join(dir, lockName)
	f, err := openLocked(path)
	if errors.Is(err, errHeld) {
		return nil, fmt.Errorf("open the data folder: %w: %s is in use by another process (%s); stop that one, or choose another folder with --dir",
			ErrInUse, dir, holder(path))
	}
	if err != nil {
		return nil, fmt.Errorf("open the data folder: %w: %w; make it writable, or choose another with --dir", ErrFolder, err)
	}
	if err := writePid(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("open the data folder: %w: %w; free some space, or choose another with --dir", ErrFolder, err)
	}
	return f, nil
}

func writePid(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder says who wrote the lock file last, which is who holds it but for the
// instant between lock and write.
func holder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "pid unknown"
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 32))
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return "pid unknown"
	}
	return "pid " + strconv.Itoa(pid)
}
