package ring

import (
	"sort"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// An entry is one run held, or a grave: one that is no longer held but still
// keeps its place among its neighbours.
type entry struct {
	shelf       *shelf
	run         frame.Run
	cost        int
	first, last subjects.Position
	// reach is the highest last position of its slice up to this run. Slices
	// follow each other, so it never falls along a shelf: the key by which
	// overlapping runs can be searched.
	reach        subjects.Position
	paced        bool
	gone         bool
	older, newer *entry // in ages; only unpaced runs
}

// unsettled is how many frames of the run are not settled.
func (e *entry) unsettled() uint64 {
	n := e.run.Len()
	return uint64(n - sort.Search(n, func(i int) bool { return e.run.Pos(i) >= e.shelf.below }))
}

// A shelf is what is held of one stream: runs[head:], ascending by first
// position, graves among them. Between calls it is tidy: its front is held,
// and graves are fewer than what is held, or few.
type shelf struct {
	runs  []*entry
	head  int
	young int // no unpaced run is held before this index
	live  int // runs held
	bytes int // their cost
	// unpaced counts the runs held that may be pushed out.
	unpaced int
	added   subjects.Position // everything below was added
	below   subjects.Position // everything below is settled
}

// push appends a run.
func (s *shelf) push(e *entry) {
	s.runs = append(s.runs, e)
	s.live++
}

// bury marks a run as no longer held and lets its frames go.
func (s *shelf) bury(e *entry) {
	e.gone = true
	e.run = frame.Run{}
	s.live--
}

// oldestUnpaced is the first run that may be pushed out. There must be one.
func (s *shelf) oldestUnpaced() *entry {
	s.young = max(s.young, s.head)
	for e := s.runs[s.young]; e.gone || e.paced; e = s.runs[s.young] {
		s.young++
	}
	return s.runs[s.young]
}

// minGraves is how many graves a shelf may have whatever it holds, so that a
// short shelf is not rewritten at each step.
const minGraves = 64

// tidy drops the graves at the front, and all of them once they are more than
// what is held: a run is moved once for at least one that was buried.
func (s *shelf) tidy() {
	for s.head < len(s.runs) && s.runs[s.head].gone {
		s.runs[s.head] = nil
		s.head++
	}
	if s.live == 0 {
		s.runs, s.head, s.young = nil, 0, 0
		return
	}
	// Freed places in front count as graves: they take room as well.
	if graves := len(s.runs) - s.live; graves <= minGraves || graves <= s.live {
		return
	}
	kept := make([]*entry, 0, s.live+s.live/2+1)
	for _, e := range s.runs[s.head:] {
		if !e.gone {
			kept = append(kept, e)
		}
	}
	s.runs, s.head, s.young = kept, 0, 0
}

// search is the index of the first run from i on whose slice reaches p at or
// before it: no run before that index holds p or more.
func (s *shelf) search(i int, p subjects.Position) int {
	return i + sort.Search(len(s.runs)-i, func(k int) bool { return s.runs[i+k].reach >= p })
}
