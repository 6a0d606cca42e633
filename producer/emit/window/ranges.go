package window

import (
	"slices"
	"sort"

	"datastream/subjects"
	"datastream/subjects/control"
)

// ranges is a set of positions: ascending, disjoint, not touching.
type ranges []control.Range

// from is the index of the first range that ends at or after p.
func (s ranges) from(p subjects.Position) int {
	return sort.Search(len(s), func(i int) bool { return s[i].To >= p })
}

// add unites the set with r.
func (s *ranges) add(r control.Range) {
	before := r.From
	if before > 0 {
		before-- // a range that only touches is joined too
	}
	i := s.from(before)
	j := i
	for j < len(*s) && (*s)[j].From <= r.To+1 {
		r.From = min(r.From, (*s)[j].From)
		r.To = max(r.To, (*s)[j].To)
		j++
	}
	*s = slices.Replace(*s, i, j, r)
}

// remove takes r out of the set.
func (s *ranges) remove(r control.Range) {
	i := s.from(r.From)
	j := i
	var rest [2]control.Range
	keep := rest[:0]
	for j < len(*s) && (*s)[j].From <= r.To {
		if x := (*s)[j]; x.From < r.From {
			keep = append(keep, control.Range{From: x.From, To: r.From - 1})
		}
		if x := (*s)[j]; x.To > r.To {
			keep = append(keep, control.Range{From: r.To + 1, To: x.To})
		}
		j++
	}
	*s = slices.Replace(*s, i, j, keep...)
}

// count is how many positions of from … to-1 are in the set.
func (s ranges) count(from, to subjects.Position) uint64 {
	var n uint64
	for i := s.from(from); i < len(s) && s[i].From < to; i++ {
		n += uint64(min(s[i].To, to-1)-max(s[i].From, from)) + 1
	}
	return n
}
