package stack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// markName is the file in the data folder that says that a store was made in
// it. What JetStream keeps there cannot say so: the server makes its folders
// before there is a store, and takes empty ones away.
const markName = "datastream.store"

const mark = `A store was made in this folder. While this file is here, ds up makes no other
one in its place: what is gone is reported, and for a person to restore.
`

// fresh reports whether a folder has held no store yet: then, and only then,
// one may be made (P8.4). A start that failed before leaves it fresh.
func fresh(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, markName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("look into the data folder: %w; make it readable, or choose another with --dir", err)
	}
	return false, nil
}

// markUsed writes the mark, unless it is there, and has it on disk before it
// returns: the commits that follow are, too.
func markUsed(dir string) error {
	path := filepath.Join(dir, markName)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return fmt.Errorf("mark the data folder as used: %w", err)
	}
	_, err = f.WriteString(mark)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = syncFolder(dir)
	}
	if err != nil {
		return fmt.Errorf("mark the data folder as used: %w", err)
	}
	return nil
}

// syncFolder has the folder's entries on disk. Windows has no such call, and
// needs none.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}
