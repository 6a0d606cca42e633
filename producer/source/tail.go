package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"datastream/subjects"
)

const (
	// maxGenerations bounds the files that one path holds open.
	maxGenerations = 16
	// maxPast bounds what is remembered of generations that were read.
	maxPast = 8
)

// A tail is one followed path: the file that bears its name now, and those
// before it that are not settled yet.
type tail struct {
	path    string
	channel subjects.Channel
	f       *Follow
	gens    []*generation // the oldest first
	past    []mark        // generations that are done with, the oldest first; bounded
	since   time.Time     // all files of the name modified before are known
	scanned time.Time     // the folder as it was when that was found out; zero: it was not
	lost    time.Time     // since when no file bears the name
	began   bool          // a file bore the name once, in this run or an earlier one
	looked  bool          // in this run
	told    string        // the last error told
}

// current is the generation that bears the name, or nil.
func (t *tail) current() *generation {
	if n := len(t.gens); n > 0 && !t.gens[n-1].over {
		return t.gens[n-1]
	}
	return nil
}

// look finds out what the name means now.
func (t *tail) look(now time.Time) {
	g := t.current()
	fi, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.missing(g, now)
	case err != nil:
		t.tell(err)
	case g != nil && os.SameFile(fi, g.info):
		t.lost = time.Time{}
		if g.truncated() {
			t.truncate(g, now)
		}
	case len(t.gens) < maxGenerations: // else when older ones are done with
		t.rotate(g, now)
	}
	if t.began && t.scanned.IsZero() {
		t.between(t.current(), now)
	}
	if g = t.current(); g != nil && !t.scanned.IsZero() {
		t.advance(g.info.ModTime())
	}
	t.looked = true
}

// missing ends a generation whose name stays away: it was removed.
func (t *tail) missing(g *generation, now time.Time) {
	if t.lost.IsZero() {
		t.lost = now
	}
	if now.Sub(t.lost) < t.f.cfg.RotateWait {
		return
	}
	if g != nil {
		g.over, g.quiet, t.scanned = true, now, time.Time{}
	}
	if t.began {
		t.between(nil, now) // only when the folder changed
	}
}

// retire lets go of the generations that are read and settled.
func (t *tail) retire(now time.Time) (changed bool) {
	if t.f.err != nil || t.f.again {
		return false // nothing can be submitted now
	}
	t.gens = slices.DeleteFunc(t.gens, func(g *generation) bool {
		if !g.over {
			return false
		}
		if !g.flushed && (g.f == nil || now.Sub(g.quiet) >= t.f.cfg.RotateWait) && !g.grown() {
			g.records.flush(now, t.f.giver(t, g))
			g.flushed = t.f.err == nil && !t.f.again
		}
		if !g.flushed || g.settled != g.done {
			return false
		}
		if m, ok := g.mark(); ok {
			m.Past = true
			t.past = append(t.past, m)
			t.past = slices.Delete(t.past, 0, max(0, len(t.past)-maxPast))
		}
		g.close()
		changed = true
		return true
	})
	return changed
}

// memory is what to remember, the oldest generation first.
func (t *tail) memory() memory {
	all := slices.Clone(t.past)
	for _, g := range t.gens {
		if m, ok := g.mark(); ok {
			all = append(all, m)
		}
	}
	return memory{Since: t.since, Marks: all}
}

func (t *tail) tell(err error) {
	if s := err.Error(); s != t.told {
		t.told = s
		t.f.cfg.OnNotice(fmt.Sprintf("follow %s: %v", t.path, err))
	}
}

// lastLine is the offset after the last newline in the 64 KiB before size, or
// size.
func lastLine(f *os.File, size int64) int64 {
	b := make([]byte, min(size, 64<<10))
	n, _ := f.ReadAt(b, size-int64(len(b)))
	for i := n - 1; i >= 0; i-- {
		if b[i] == '\n' {
			return size - int64(len(b)) + int64(i) + 1
		}
	}
	return size
}
