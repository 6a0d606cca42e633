package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// resume finds the files of an earlier run again, under whatever name of the
// path's they bear by now. If they are moved meanwhile, it looks again.
func (t *tail) resume(was memory, now time.Time) {
	marks := was.Marks
	if len(marks) == 0 {
		return
	}
	t.began, t.since = true, was.Since
	for range maxScans {
		before, err := os.Stat(filepath.Dir(t.path))
		if marks = t.recover(marks, now); len(marks) == 0 {
			return
		}
		after, e := os.Stat(filepath.Dir(t.path))
		if err != nil || e != nil || before.ModTime().Equal(after.ModTime()) {
			break
		}
	}
	for _, m := range marks {
		if m.Past {
			continue
		}
		// Whatever it is called by now, if it is there it is read from its beginning.
		if m.Mod.Before(t.since) {
			t.since = m.Mod
		}
		t.f.vanish(fmt.Sprintf("%s: the file that was read to byte %d is not found: what followed in it may be lost", t.path, m.Offset))
	}
}

// recover takes up the files of the marks that it finds, and gives the others.
func (t *tail) recover(marks []mark, now time.Time) (others []mark) {
	names := []string{t.path}
	for _, s := range siblings(t.path, time.Time{}) {
		names = append(names, s.path)
	}
	current := t.current()
	if current != nil {
		t.gens = t.gens[:len(t.gens)-1]
	}
	for _, m := range marks {
		g, at := t.find(m, names)
		switch {
		case g == nil:
			others = append(others, m)
			continue
		case m.Past && !g.grown() && names[at] != t.path:
			g.close()
			t.past = append(t.past, m)
		case names[at] == t.path && current == nil:
			current = g
		default:
			g.over, g.quiet = true, now
			t.gens = append(t.gens, g)
		}
		names = slices.Delete(names, at, at+1)
	}
	if current != nil {
		t.gens = append(t.gens, current)
	}
	return others
}

// find opens the file of a mark, and says which of the names it bears.
func (t *tail) find(m mark, names []string) (*generation, int) {
	for i, name := range names {
		f, err := openRegular(name)
		if err != nil {
			continue
		}
		fi, err := f.Stat()
		if err != nil || !m.is(f, fi) {
			closeAll(f)
			continue
		}
		if g, err := newGeneration(f, t.f.cfg.Text, m.Offset); err == nil {
			return g, i
		}
	}
	return nil, 0
}

// rotate turns to the file that has the name now, and before it to those that
// had it in between and were moved aside.
func (t *tail) rotate(g *generation, now time.Time) {
	next, err := openGeneration(t.path, t.f.cfg.Text, t.first())
	if err != nil {
		t.tell(err)
		return
	}
	t.lost = time.Time{}
	if same := slices.IndexFunc(t.gens, func(o *generation) bool {
		return o.f != nil && os.SameFile(o.info, next.info)
	}); same >= 0 { // it was moved back
		next.close()
		next = t.gens[same]
		next.over, next.flushed = false, false
		t.gens = slices.Delete(t.gens, same, same+1)
	}
	if g != nil {
		g.over, g.quiet = true, now
	}
	if t.began {
		t.f.stats.rotations.Add(1)
		t.scanned = time.Time{}
		t.between(next, now)
	} else {
		t.presume()
		t.advance(next.info.ModTime())
	}
	t.began, t.f.dirty = true, true // to begin at the end is remembered at once
	t.gens = append(t.gens, next)
}

// first is where to begin a file of which nothing is remembered. One that comes
// later is new and read from its beginning.
func (t *tail) first() int64 {
	if !t.f.cfg.FromEnd || t.began || t.looked {
		return 0
	}
	f, err := openRegular(t.path)
	if err != nil {
		return 0
	}
	defer closeAll(f)
	fi, err := f.Stat()
	if err != nil {
		return 0
	}
	return lastLine(f, fi.Size())
}

const (
	// maxScans bounds how often a folder that changes meanwhile is read at once.
	maxScans = 20
	// racy is a multiple of the resolution of a file system's times.
	racy = 100 * time.Millisecond
)

// between adds the files that bore the name since it was last known what they
// are, but not when anybody looked; next, if any, bears it now. While they are
// moved, a name can be another file's by the time it is opened: until nothing
// moves, nothing is known, and the next look reads again.
func (t *tail) between(next *generation, now time.Time) {
	for range maxScans {
		before, err := os.Stat(filepath.Dir(t.path))
		if err != nil || before.ModTime().Equal(t.scanned) {
			return
		}
		newest, steady := t.scan(next, now)
		after, err := os.Stat(filepath.Dir(t.path))
		if steady && err == nil && before.ModTime().Equal(after.ModTime()) {
			t.advance(newest)
			t.scanned = time.Time{}
			if now.Sub(after.ModTime()) > racy { // else it may change and not show it
				t.scanned = after.ModTime()
			}
			return
		}
	}
	t.scanned = time.Time{}
}

// scan reads the folder once. It gives the time of the newest file that bore
// the name, and whether each was still what its name had promised.
func (t *tail) scan(next *generation, now time.Time) (newest time.Time, steady bool) {
	steady = true
	for _, s := range siblings(t.path, t.since) {
		o, err := openGeneration(s.path, t.f.cfg.Text, 0)
		if err != nil {
			steady = steady && !errors.Is(err, fs.ErrNotExist)
			continue
		}
		steady = steady && os.SameFile(s.info, o.info)
		newest = s.info.ModTime()
		if (next != nil && os.SameFile(o.info, next.info)) || t.knows(o) {
			o.close()
			continue
		}
		t.catchUp(o, s.path, now)
	}
	return newest, steady
}

// advance says that all files modified before an instant are known.
func (t *tail) advance(to time.Time) {
	if to.After(t.since) {
		t.since = to
	}
}

// knows reports whether a file is read already, or was, or is a copy that was
// made before a truncation which is still to come.
func (t *tail) knows(o *generation) bool {
	return slices.ContainsFunc(t.past, func(m mark) bool { return m.is(o.f, o.info) }) ||
		slices.ContainsFunc(t.gens, func(g *generation) bool {
			return os.SameFile(g.info, o.info) || (g.edges.at >= edge && g.here().fits(o.f))
		})
}

// presume counts the files that bore the name before it was followed as read.
func (t *tail) presume() {
	old := siblings(t.path, time.Time{})
	for _, s := range old[max(0, len(old)-maxPast):] {
		f, err := openRegular(s.path)
		if err != nil {
			continue
		}
		if e, err := edgesAt(f, s.info.Size()); err == nil {
			t.past = append(t.past, mark{Offset: e.at, Sum: e.sum(), Inode: inode(s.info), Mod: s.info.ModTime(), Past: true})
		}
		closeAll(f)
		t.advance(s.info.ModTime())
	}
}

// catchUp reads a file that has another name by now, from its beginning.
func (t *tail) catchUp(o *generation, path string, now time.Time) {
	if len(t.gens) >= 2*maxGenerations {
		o.close()
		t.f.vanish(fmt.Sprintf("%s: more than %d files to catch up on: %s is left out", t.path, 2*maxGenerations, path))
		return
	}
	o.over, o.quiet, t.f.dirty = true, now, true
	at := len(t.gens)
	if t.current() != nil {
		at--
	}
	t.gens = slices.Insert(t.gens, at, o)
}

// truncate begins the file anew. What was not read of it, and what has to be
// read again, is in its copy, if it was copied before.
func (t *tail) truncate(g *generation, now time.Time) {
	t.f.stats.truncations.Add(1)
	t.f.dirty = true
	next, err := openGeneration(t.path, t.f.cfg.Text, 0)
	if err != nil {
		t.tell(err)
		return
	}
	g.over, g.quiet = true, now
	g.close()
	was, since := g.here(), t.since
	if was.Offset >= edge {
		since = time.Time{} // enough to tell an older file from its copy
	}
	for _, s := range siblings(t.path, since) {
		f, err := openRegular(s.path)
		if err != nil {
			continue
		}
		fi, err := f.Stat()
		if was.Offset == 0 || err != nil || os.SameFile(fi, next.info) || !was.fits(f) {
			closeAll(f)
			continue
		}
		g.f, g.info = f, fi
		break
	}
	if g.f == nil {
		t.f.cfg.OnNotice(fmt.Sprintf("%s was truncated: what was not read of it is lost unless a copy bears its name and a number", t.path))
	}
	t.scanned = time.Time{}
	t.between(next, now)
	t.gens = append(t.gens, next)
}

// A sibling is a file that rotation may have made of a path.
type sibling struct {
	path string
	info fs.FileInfo
}

// siblings are those called name.1 or name-20240131, modified at or after an
// instant, the oldest first.
func siblings(path string, since time.Time) (all []sibling) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path))
		if !ok || !isGeneration(rest) {
			continue
		}
		fi, err := e.Info()
		if err == nil && fi.Mode().IsRegular() && !fi.ModTime().Before(since) {
			all = append(all, sibling{filepath.Join(filepath.Dir(path), e.Name()), fi})
		}
	}
	slices.SortStableFunc(all, func(a, b sibling) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	return all
}

// isGeneration reports whether what follows the name is a number or a date, not
// that of something compressed.
func isGeneration(rest string) bool {
	if len(rest) < 2 || (rest[0] != '.' && rest[0] != '-') || rest[1] < '0' || rest[1] > '9' {
		return false
	}
	return strings.IndexFunc(rest, func(r rune) bool {
		return (r < '0' || r > '9') && !strings.ContainsRune(".-_:T", r)
	}) < 0
}
