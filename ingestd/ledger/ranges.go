package ledger

import (
	"iter"
	"slices"
	"sort"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// A Set is a set of positions as ascending, disjoint, closed intervals with
// at least one position between two of them. Appending is O(1) and allocates
// only to grow; anything else is a binary search and a splice that moves the
// shorter side. No operation's cost depends on how many positions an interval
// has. The zero Set is empty; it is not safe for concurrent use.
type Set struct {
	buf   []control.Range
	head  int // buf[:head] is room left by removals at the front
	count uint64
}

// Len is the number of intervals.
func (s *Set) Len() int { return len(s.buf) - s.head }

// Count is the number of positions.
func (s *Set) Count() uint64 { return s.count }

// Has reports whether p is in the set.
func (s *Set) Has(p subjects.Position) bool {
	_, ok := s.At(p)
	return ok
}

// At is the interval that holds p.
func (s *Set) At(p subjects.Position) (control.Range, bool) {
	l := s.list()
	if i := search(l, p); i < len(l) && l[i].From <= p {
		return l[i], true
	}
	return control.Range{}, false
}

// After is the first interval that ends at p or later, so that it holds p or
// lies above it.
func (s *Set) After(p subjects.Position) (control.Range, bool) {
	l := s.list()
	if i := search(l, p); i < len(l) {
		return l[i], true
	}
	return control.Range{}, false
}

// Last is the highest interval.
func (s *Set) Last() (control.Range, bool) {
	if s.Len() == 0 {
		return control.Range{}, false
	}
	return s.buf[len(s.buf)-1], true
}

// FirstGap is the lowest position from p on that is not in the set. It is
// MaxPosition+1 when there is none.
func (s *Set) FirstGap(p subjects.Position) subjects.Position {
	if r, ok := s.At(p); ok {
		return r.To + 1
	}
	return p
}

// Ranges yields the intervals in ascending order. The set must not change
// meanwhile.
func (s *Set) Ranges() iter.Seq[control.Range] { return slices.Values(s.list()) }

// Missing yields, in ascending order, the maximal intervals of within that
// are not in the set. The set must not change meanwhile.
func (s *Set) Missing(within control.Range) iter.Seq[control.Range] {
	return func(yield func(control.Range) bool) {
		l := s.list()
		from := within.From
		for i := search(l, from); i < len(l) && l[i].From <= within.To; i++ {
			if l[i].From > from && !yield(control.Range{From: from, To: l[i].From - 1}) {
				return
			}
			if l[i].To >= within.To {
				return
			}
			from = l[i].To + 1
		}
		if from <= within.To {
			yield(control.Range{From: from, To: within.To})
		}
	}
}

// Add puts the positions of r in and returns how many of them were not there.
func (s *Set) Add(r control.Range) (added uint64) {
	if r.From > r.To {
		return 0
	}
	l := s.list()
	if n := len(l); n == 0 || l[n-1].To < r.From {
		s.count += r.Len()
		if n > 0 && l[n-1].To+1 == r.From {
			l[n-1].To = r.To
			return r.Len()
		}
		s.room(1)
		s.buf = append(s.buf, r)
		return r.Len()
	}
	i, j := touching(l, r)
	m := r
	added = r.Len()
	if i < j {
		m.From, m.To = min(m.From, l[i].From), max(m.To, l[j-1].To)
		added = m.Len() - total(l[i:j])
	}
	s.splice(i, j, []control.Range{m})
	s.count += added
	return added
}

// Remove takes the positions of r out and returns how many of them were there.
func (s *Set) Remove(r control.Range) (removed uint64) {
	l := s.list()
	if r.From > r.To || len(l) == 0 {
		return 0
	}
	i := search(l, r.From)
	j := i + sort.Search(len(l)-i, func(k int) bool { return l[i+k].From > r.To })
	if i == j {
		return 0
	}
	removed = total(l[i:j])
	var rest [2]control.Range
	keep := rest[:0]
	if l[i].From < r.From {
		keep = append(keep, control.Range{From: l[i].From, To: r.From - 1})
	}
	if l[j-1].To > r.To {
		keep = append(keep, control.Range{From: r.To + 1, To: l[j-1].To})
	}
	removed -= total(keep)
	s.splice(i, j, keep)
	s.count -= removed
	return removed
}

// list is the intervals, shared.
func (s *Set) list() []control.Range { return s.buf[s.head:] }

// search is the index of the first interval that ends at p or later.
func search(l []control.Range, p subjects.Position) int {
	n := len(l)
	if n == 0 || l[n-1].To < p {
		return n
	}
	return sort.Search(n, func(i int) bool { return l[i].To >= p })
}

// touching is the half-open range of intervals that r overlaps or adjoins.
func touching(l []control.Range, r control.Range) (i, j int) {
	i = search(l, max(r.From, 1)-1)
	// To is at most MaxPosition, so that one more does not overflow.
	j = i + sort.Search(len(l)-i, func(k int) bool { return l[i+k].From > r.To+1 })
	return i, j
}

// total is how many positions disjoint intervals have.
func total(l []control.Range) (n uint64) {
	for _, r := range l {
		n += r.Len()
	}
	return n
}

// splice replaces intervals i … j-1, moving whichever side is shorter.
func (s *Set) splice(i, j int, by []control.Range) {
	l := s.list()
	n, d := len(l), len(by)-(j-i)
	front := i < n-j
	switch {
	case d < 0 && front:
		copy(l[-d:], l[:i])
		s.head -= d
	case d < 0:
		copy(l[j+d:], l[j:])
		s.buf = s.buf[:len(s.buf)+d]
	case d > 0 && front && s.head >= d:
		s.head -= d
		l = s.list()
		copy(l, l[d:d+i])
	case d > 0:
		s.room(d)
		s.buf = s.buf[:len(s.buf)+d]
		l = s.list()
		copy(l[j+d:], l[j:n])
	}
	copy(s.list()[i:], by)
	if s.Len() == 0 {
		s.buf, s.head = s.buf[:0], 0
	}
}

// room makes place for n more intervals at the end, first by taking back what
// removals left at the front, so that a set that grows at one end and shrinks
// at the other settles without allocating.
func (s *Set) room(n int) {
	if len(s.buf)+n <= cap(s.buf) {
		return
	}
	if s.head > len(s.buf)/2 {
		k := copy(s.buf, s.list())
		s.buf, s.head = s.buf[:k], 0
	}
	s.buf = slices.Grow(s.buf, n)
}

// trim gives back memory that a burst of holes left behind.
func (s *Set) trim() {
	if c := cap(s.buf); c > 64 && s.Len() < c/8 {
		s.buf = append(make([]control.Range, 0, 2*s.Len()), s.list()...)
		s.head = 0
	}
}

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
