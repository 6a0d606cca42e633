package source

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A generation is one file that bears or bore a followed path's name.
//
//	0 …… settled …… done …… read …… size
//	     in store   │       └ fed to records; what lies after done is held there
//	                └ end of the last record submitted
type generation struct {
	f       *os.File // nil once its bytes are gone
	info    fs.FileInfo
	records *records
	edges   edges // of what was read
	done    int64
	settled int64

	over    bool      // the path names another file by now
	quiet   time.Time // since when an over generation has not grown
	flushed bool      // no more of it is read
}

// newGeneration begins to read a file at an offset. It takes the file over.
func newGeneration(f *os.File, t Text, at int64) (*generation, error) {
	info, err := f.Stat()
	if err != nil {
		closeAll(f)
		return nil, err
	}
	g := &generation{f: f, info: info, settled: at}
	if err := g.restart(t); err != nil {
		closeAll(f)
		return nil, err
	}
	return g, nil
}

// openGeneration opens a file. What is no regular file is refused: to open a
// FIFO would wait for a writer.
func openGeneration(path string, t Text, at int64) (*generation, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	return newGeneration(f, t, at)
}

func openRegular(path string) (*os.File, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrConfig, path)
	}
	return os.Open(path)
}

// restart goes back to what is settled.
func (g *generation) restart(t Text) error {
	if g.f == nil {
		return fmt.Errorf("go back to byte %d: the file was truncated", g.settled)
	}
	e, err := edgesAt(g.f, g.settled)
	if err != nil {
		return fmt.Errorf("go back to byte %d: %w", g.settled, err)
	}
	g.edges, g.done = e, g.settled
	g.records = newRecords(t, g.settled)
	g.flushed = false
	return nil
}

// read feeds the next bytes, and says how many there were.
func (g *generation) read(buf []byte, now time.Time, give func(record)) (int, error) {
	if g.f == nil || g.flushed {
		return 0, nil
	}
	n, err := g.f.ReadAt(buf, g.edges.at)
	if n > 0 {
		g.edges.add(buf[:n])
		g.records.feed(buf[:n], now, give)
		g.quiet = now
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// truncated reports whether the bytes that were read are no longer there.
func (g *generation) truncated() bool {
	fi, err := g.f.Stat()
	if err != nil {
		return false
	}
	if fi.Size() < g.edges.at {
		return true
	}
	if fi.Size() == g.info.Size() && fi.ModTime().Equal(g.info.ModTime()) {
		return false
	}
	g.info = fi
	return !g.here().fits(g.f)
}

// grown reports whether there is more than was read.
func (g *generation) grown() bool {
	if g.f == nil {
		return false
	}
	fi, err := g.f.Stat()
	return err == nil && fi.Size() > g.edges.at
}

// here identifies the file by what was read of it.
func (g *generation) here() mark { return mark{Offset: g.edges.at, Sum: g.edges.sum()} }

// mark is how far it is settled; false if the file no longer says so.
func (g *generation) mark() (mark, bool) {
	if g.f == nil {
		return mark{}, false
	}
	e, err := edgesAt(g.f, g.settled)
	if err != nil {
		return mark{}, false
	}
	m := mark{Offset: g.settled, Sum: e.sum(), Inode: inode(g.info), Mod: g.info.ModTime()}
	// Truncated and written anew in between, the sum would be another file's.
	return m, g.here().fits(g.f)
}

func (g *generation) close() {
	if g.f != nil {
		closeAll(g.f)
		g.f = nil
	}
}
