package ring

import (
	"sort"

	"datastream/subjects/control"
)

// spans is a set of positions as ascending ranges, none of which touch.
type spans struct {
	list    []control.Range
	scratch []control.Range
}

// add joins ascending, disjoint pieces to the set, unless it would then have
// more than limit ranges: then it reports false and changes nothing. Only an
// empty set takes as many as the limit allows.
func (s *spans) add(pieces []control.Range, limit int) bool {
	// Only ranges that reach the first piece, or touch it, can change.
	from := pieces[0].From
	keep := sort.Search(len(s.list), func(i int) bool { return s.list[i].To >= from || s.list[i].To+1 == from })
	tail, merged := s.list[keep:], s.scratch[:0]
	for len(tail) > 0 || len(pieces) > 0 {
		var next control.Range
		if len(pieces) == 0 || len(tail) > 0 && tail[0].From < pieces[0].From {
			next, tail = tail[0], tail[1:]
		} else {
			next, pieces = pieces[0], pieces[1:]
		}
		// No range ends at 2^64-1, so that the sum does not wrap.
		if n := len(merged); n > 0 && next.From <= merged[n-1].To+1 {
			merged[n-1].To = max(merged[n-1].To, next.To)
		} else {
			merged = append(merged, next)
		}
	}
	s.scratch = merged
	if keep+len(merged) > limit {
		if len(s.list) > 0 {
			return false
		}
		merged = merged[:limit]
	}
	s.list = append(s.list[:keep], merged...)
	return true
}
