package source

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// edge is how many bytes at either end of what was read tell a file from
// another.
const edge = 1 << 10

// A mark remembers a file and how much of it is settled. Names are reused by
// rotation, so the bytes identify it: the first and the last of what is settled.
type mark struct {
	Offset int64     `json:"offset"`
	Sum    string    `json:"sum"`
	Inode  string    `json:"inode,omitempty"`
	Mod    time.Time `json:"modified"`
	Past   bool      `json:"past,omitempty"` // the file was rotated away and is read to its end
}

// edges are the two ends of what was read of a file.
type edges struct {
	head, tail []byte
	at         int64
}

// add goes on by the next bytes.
func (e *edges) add(b []byte) {
	e.head = append(e.head, b[:min(len(b), edge-len(e.head))]...)
	e.at += int64(len(b))
	if extra := len(e.tail) + len(b) - edge; extra > 0 {
		gone := min(extra, len(e.tail))
		e.tail = e.tail[:copy(e.tail, e.tail[gone:])]
	}
	e.tail = append(e.tail, b[max(0, len(b)-edge):]...)
}

func (e *edges) sum() string {
	h := sha256.New()
	h.Write(e.head)
	h.Write(e.tail)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// edgesAt reads the ends of the first at bytes of a file. It fails if there are
// not so many.
func edgesAt(r io.ReaderAt, at int64) (edges, error) {
	n := min(at, edge)
	e := edges{head: make([]byte, n, edge), tail: make([]byte, n, edge), at: at}
	if n == 0 {
		return e, nil
	}
	if _, err := r.ReadAt(e.head, 0); err != nil {
		return e, err
	}
	if m, err := r.ReadAt(e.tail, at-n); m < len(e.tail) {
		return e, err
	}
	return e, nil
}

// fits reports whether a file begins with just the bytes that a mark was set
// after.
func (m mark) fits(r io.ReaderAt) bool {
	e, err := edgesAt(r, m.Offset)
	return err == nil && e.sum() == m.Sum
}

// is reports whether a file is the one that a mark was set in. Of another inode
// it can be a copy; then the bytes must be enough to tell.
func (m mark) is(r io.ReaderAt, fi fs.FileInfo) bool {
	if now := inode(fi); now == "" || now != m.Inode {
		if m.Offset == 0 || (now != "" && m.Offset < edge) {
			return false
		}
	}
	return m.fits(r)
}

// A memory is what is remembered of a path.
type memory struct {
	Since time.Time `json:"since"` // all files of the name modified before are marked, or done with
	Marks []mark    `json:"generations"`
}

// A state is what a Follow remembers of its files between runs, by path.
type state struct {
	Version int               `json:"version"`
	Files   map[string]memory `json:"files"`
}

const stateVersion = 1

// loadState reads the state file; none is an empty state. It wraps ErrState.
func loadState(path string) (state, error) {
	s := state{Version: stateVersion, Files: map[string]memory{}}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read positions: %w: %w", ErrState, err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("read positions: %w: %s: %w; remove it to begin anew", ErrState, path, err)
	}
	if s.Version != stateVersion || s.Files == nil {
		return s, fmt.Errorf("read positions: %w: %s has version %d, this program knows %d", ErrState, path, s.Version, stateVersion)
	}
	return s, nil
}

// save replaces the state file: after a crash it is the old one or the new one,
// whole. It wraps ErrState.
func (s state) save(path string) error {
	b, err := json.MarshalIndent(s, "", " ")
	if err == nil {
		err = replaceFile(path, b)
	}
	if err != nil {
		return fmt.Errorf("write positions: %w: %w", ErrState, err)
	}
	return nil
}

func replaceFile(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync() // not every system can sync a folder; the rename alone is atomic
		closeAll(d)
	}
	return nil
}
