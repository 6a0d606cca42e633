package ledger

import (
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// A run over interleaved channels is a comb: hundreds of single positions
// with gaps that the other runs of its slice fill. Adding it tooth by tooth
// would move the set's tail for every tooth; here a whole comb is merged with
// the few intervals it reaches over, in one pass.

// stretches appends the consecutive stretches of a run to dst.
func stretches(dst []control.Range, r frame.Run) []control.Range {
	for i := 0; i < r.Len(); {
		n := r.Consecutive(i)
		dst = append(dst, control.Range{From: r.Pos(i), To: r.Pos(i + n - 1)})
		i += n
	}
	return dst
}

// addAll adds ascending disjoint ranges; tmp is scratch. It returns how many
// positions were not there.
func (s *Set) addAll(list []control.Range, tmp *[]control.Range) (added uint64) {
	if len(list) == 0 {
		return 0
	}
	last, ok := s.Last()
	if len(list) == 1 || !ok || last.To < list[0].From {
		for _, r := range list {
			added += s.Add(r)
		}
		return added
	}
	l := s.list()
	i, j := touching(l, control.Range{From: list[0].From, To: list[len(list)-1].To})
	merged := union((*tmp)[:0], l[i:j], list)
	added = total(merged) - total(l[i:j])
	s.splice(i, j, merged)
	s.count += added
	*tmp = merged
	return added
}

// union appends the union of two ascending disjoint lists to dst.
func union(dst, a, b []control.Range) []control.Range {
	for len(a) > 0 || len(b) > 0 {
		var r control.Range
		if len(b) == 0 || (len(a) > 0 && a[0].From <= b[0].From) {
			r, a = a[0], a[1:]
		} else {
			r, b = b[0], b[1:]
		}
		if n := len(dst); n > 0 && r.From <= dst[n-1].To+1 {
			dst[n-1].To = max(dst[n-1].To, r.To)
			continue
		}
		dst = append(dst, r)
	}
	return dst
}

// removeAll removes ascending disjoint ranges; tmp is scratch. It returns how
// many positions were there.
func (s *Set) removeAll(list []control.Range, tmp *[]control.Range) (removed uint64) {
	if len(list) == 0 || s.Len() == 0 {
		return 0
	}
	if len(list) == 1 {
		return s.Remove(list[0])
	}
	l := s.list()
	i, j := touching(l, control.Range{From: list[0].From, To: list[len(list)-1].To})
	rest := subtract((*tmp)[:0], l[i:j], list)
	removed = total(l[i:j]) - total(rest)
	s.splice(i, j, rest)
	s.count -= removed
	*tmp = rest
	return removed
}

// subtract appends a without b to dst; both ascend and are disjoint.
func subtract(dst, a, b []control.Range) []control.Range {
	for _, r := range a {
		for len(b) > 0 && b[0].To < r.From {
			b = b[1:]
		}
		whole := false // r is taken to its end
		for len(b) > 0 && b[0].From <= r.To {
			if b[0].From > r.From {
				dst = append(dst, control.Range{From: r.From, To: b[0].From - 1})
			}
			if whole = b[0].To >= r.To; whole {
				break
			}
			r.From = b[0].To + 1
			b = b[1:]
		}
		if !whole {
			dst = append(dst, r)
		}
	}
	return dst
}

// cut walks within over ascending disjoint ranges: hit takes the parts that
// lie in them and miss the parts between, all in ascending order.
func cut(within control.Range, by []control.Range, hit, miss func(control.Range)) {
	for _, b := range by[search(by, within.From):] {
		if b.From > within.To {
			break
		}
		if b.From > within.From {
			miss(control.Range{From: within.From, To: b.From - 1})
			within.From = b.From
		}
		if b.To >= within.To {
			hit(within)
			return
		}
		hit(control.Range{From: within.From, To: b.To})
		within.From = b.To + 1
	}
	miss(within)
}
