package view

import (
	"bytes"
	"cmp"
	"container/heap"
	"sort"

	"datastream/queryd/value"
)

// A SortKey is one thing to sort by (L7).
type SortKey struct {
	Ref  Ref
	Desc bool
}

// A held is a record that outlives its push.
type held struct {
	frame   Frame
	stream  *stream
	channel *channel
	columns []value.Value
	gap     *gap
	keys    []value.Value
	size    int
}

// heldOverhead is what a held record takes besides its bytes, about.
const heldOverhead = 256

// hold copies a record, and counts it.
func hold(r *record, keys []value.Value, m *room) (*held, error) {
	h := &held{stream: r.stream, channel: r.channel, gap: r.gap, size: heldOverhead}
	if r.frame != nil {
		h.size += len(r.frame.Payload)
	}
	for _, v := range keys {
		h.size += v.Size()
	}
	for _, v := range r.columns {
		h.size += v.Size()
	}
	if err := m.grow(h.size); err != nil {
		return nil, err
	}
	if r.frame != nil {
		h.frame = *r.frame
		h.frame.Stream, h.frame.Channel = r.stream.of, r.channel.name // the record's own may lie in a message
		h.frame.Payload = bytes.Clone(r.frame.Payload)
	}
	h.keys, h.columns = cloned(keys), cloned(r.columns)
	return h, nil
}

func cloned(values []value.Value) []value.Value {
	if values == nil {
		return nil
	}
	out := make([]value.Value, len(values))
	for i, v := range values {
		out[i] = v.Clone()
	}
	return out
}

// again makes r the held record.
func (h *held) again(r *record) {
	switch {
	case h.gap != nil:
		r.setGap(h.gap)
	case h.columns != nil:
		r.setColumns(h.columns)
	default:
		r.set(&h.frame, h.stream, h.channel)
	}
}

// A sorter holds records and gives them in order. Of best records it keeps
// those that come first; gaps are not counted among them.
type sorter struct {
	keys  []SortKey
	best  uint64
	m     *room
	next  operator
	out   *record // what is given again
	heap  worst
	gaps  []*held
	given []value.Value // the keys of the record at hand
}

func (s *sorter) push(r *record) error {
	s.given = s.given[:0]
	if r.gap != nil {
		s.given = append(s.given, r.gap.stream.node, r.gap.stream.life, value.OfUint(uint64(r.gap.from)))
		h, err := hold(r, s.given, s.m)
		if err == nil {
			s.gaps = append(s.gaps, h)
		}
		return err
	}
	for _, k := range s.keys {
		s.given = append(s.given, r.at(k.Ref))
	}
	if s.best == 0 {
		return nil
	}
	if s.heap.keys = s.keys; uint64(len(s.heap.rows)) >= s.best {
		top := s.heap.rows[0]
		var p place
		if r.frame != nil {
			p = r.place()
		}
		if compareKeys(s.keys, s.given, p, top.keys, top.place()) >= 0 {
			return nil
		}
		heap.Pop(&s.heap)
		_ = s.m.grow(-top.size) // giving back never fails
	}
	h, err := hold(r, s.given, s.m)
	if err != nil {
		return err
	}
	if s.best == ^uint64(0) {
		s.heap.rows = append(s.heap.rows, h)
		return nil
	}
	heap.Push(&s.heap, h)
	return nil
}

func (h *held) place() place { return place{h.frame.Sequence, h.frame.Place} }

// compareKeys orders two records: by their keys, then the newest first.
func compareKeys(keys []SortKey, a []value.Value, ap place, b []value.Value, bp place) int {
	for i, k := range keys {
		if c := value.Compare(a[i], b[i]); c != 0 {
			if k.Desc {
				return -c
			}
			return c
		}
	}
	if c := cmp.Compare(bp.sequence, ap.sequence); c != 0 {
		return c
	}
	return cmp.Compare(bp.frame, ap.frame)
}

// finish merges the gaps among the sorted records: they only come where the
// order is that of (node, life, position), so that no key is equal.
func (s *sorter) finish() error {
	for _, list := range [][]*held{s.heap.rows, s.gaps} {
		sort.Slice(list, func(i, j int) bool {
			return compareKeys(s.keys, list[i].keys, list[i].place(), list[j].keys, list[j].place()) < 0
		})
	}
	rows, gaps := s.heap.rows, s.gaps
	for len(rows)+len(gaps) > 0 && !s.next.full() {
		from := &rows
		if len(rows) == 0 || len(gaps) > 0 && compareKeys(s.keys, gaps[0].keys, place{}, rows[0].keys, place{}) < 0 {
			from = &gaps
		}
		(*from)[0].again(s.out)
		if err := s.next.push(s.out); err != nil {
			return err
		}
		*from = (*from)[1:]
	}
	return s.next.finish()
}

// full is false: the next record may come first. Nothing comes where TAKE 0
// asks for nothing.
func (s *sorter) full() bool { return s.best == 0 }

// Live is false: an order is of a whole set.
func (s *sorter) Live() bool { return false }

// worst is a heap of held records with the last of them on top.
type worst struct {
	keys []SortKey
	rows []*held
}

func (w *worst) Len() int { return len(w.rows) }
func (w *worst) Less(i, j int) bool {
	a, b := w.rows[i], w.rows[j]
	return compareKeys(w.keys, a.keys, a.place(), b.keys, b.place()) > 0
}
func (w *worst) Swap(i, j int) { w.rows[i], w.rows[j] = w.rows[j], w.rows[i] }
func (w *worst) Push(x any)    { w.rows = append(w.rows, x.(*held)) }
func (w *worst) Pop() any {
	n := len(w.rows) - 1
	h := w.rows[n]
	w.rows[n] = nil
	w.rows = w.rows[:n]
	return h
}
