package mux

import (
	"sort"

	"datastream/subjects"
)

// source is what is known of one paced producer of one stream.
type source struct {
	next  uint64  // the number that is taken next
	taken []taken // the last runs taken, ascending and adjoining, up to next
	held  []*held // the runs that wait, ascending and adjoining, from next on
}

// taken is a run that was taken.
type taken struct {
	n     uint64 // its first number
	count int
	first subjects.Position
}

// expected is the number that the producer's next new run begins with.
func (s *source) expected() uint64 {
	if len(s.held) > 0 {
		return s.held[len(s.held)-1].end()
	}
	return s.next
}

// remember notes a run as taken, and forgets the oldest past the limit.
func (s *source) remember(t taken, limit int) {
	if n := len(s.taken); n >= limit {
		s.taken = s.taken[n-limit+1:] // append moves them, now and then
	}
	s.taken = append(s.taken, t)
	s.next = t.n + uint64(t.count)
}

// recall is where a run was taken that begins at n: one run as it was, or
// several in a row whose positions follow each other, for an answer names the
// first position only.
func (s *source) recall(n uint64, count int) (first subjects.Position, ok bool) {
	i := sort.Search(len(s.taken), func(i int) bool { return s.taken[i].n >= n })
	if i == len(s.taken) || s.taken[i].n != n {
		return 0, false
	}
	first = s.taken[i].first
	for at := first; i < len(s.taken) && s.taken[i].first == at && s.taken[i].count <= count; i++ {
		count -= s.taken[i].count
		at += subjects.Position(s.taken[i].count)
		if count == 0 {
			return first, true
		}
	}
	return 0, false
}

// waiting is the held run that begins at n, nil when there is none.
func (s *source) waiting(n uint64) *held {
	i := sort.Search(len(s.held), func(i int) bool { return s.held[i].offer.Seq.N >= n })
	if i == len(s.held) || s.held[i].offer.Seq.N != n {
		return nil
	}
	return s.held[i]
}
