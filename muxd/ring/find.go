package ring

import (
	"sort"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// Find visits the runs that hold any position of the ranges, each once,
// unchanged and by first position, up to limit bytes of body but at least
// one, and says what became of each position asked for. Ranges ascend and do
// not overlap. A run's other frames go with it and are not mentioned. An empty
// body counts as one byte.
//
// An answer has at most control.MaxRanges of a kind. What a limit cuts off
// stands in no list: it may be asked for again. Of a stream that the ring does
// not know everything is pending, for nothing of it was added.
func (r *Ring) Find(st subjects.Stream, ask []control.Range, limit int, visit func(frame.Run)) control.RepairAnswer {
	s := r.streams[st]
	if s == nil {
		s = &shelf{}
	}
	sent, end := s.visit(ask, limit, visit)
	return control.RepairAnswer{
		Sent:    sent.list,
		Gone:    missing(ask, sent.list, end),
		Pending: above(ask, s.added),
	}
}

// visit walks the runs and returns what was sent, and the position below
// which every asked position that is held was sent.
func (s *shelf) visit(ask []control.Range, limit int, visit func(frame.Run)) (sent spans, end subjects.Position) {
	var pieces []control.Range
	bytes, i := 0, s.head
	for k, a := range ask {
		i = s.search(i, a.From)
		for ; i < len(s.runs) && s.runs[i].first <= a.To; i++ {
			e := s.runs[i]
			if e.gone || e.last < a.From {
				continue
			}
			// Later ranges too: a run is visited once for all it holds.
			if pieces = overlap(pieces[:0], e.run, ask[k:]); len(pieces) == 0 {
				continue
			}
			size := max(len(e.run.Body()), 1)
			if len(sent.list) > 0 && bytes+size > limit || !sent.add(pieces, control.MaxRanges) {
				return sent, e.first
			}
			bytes += size
			visit(e.run)
			if len(pieces) > control.MaxRanges {
				return sent, e.first // not all of it could be named
			}
		}
	}
	return sent, s.added
}

// overlap appends the positions of the run that are asked for, as ranges.
func overlap(dst []control.Range, r frame.Run, ask []control.Range) []control.Range {
	for i := 0; i < r.Len(); {
		p := r.Pos(i)
		ask = ask[sort.Search(len(ask), func(k int) bool { return ask[k].To >= p }):]
		if len(ask) == 0 {
			return dst
		}
		if p < ask[0].From {
			from := ask[0].From
			i += sort.Search(r.Len()-i, func(k int) bool { return r.Pos(i+k) >= from })
			continue
		}
		n := r.Consecutive(i)
		to := min(p+subjects.Position(n-1), ask[0].To)
		dst = append(dst, control.Range{From: p, To: to})
		i += int(to-p) + 1
	}
	return dst
}

// missing is what is asked for below end and was not sent, cut off at
// control.MaxRanges.
func missing(ask, sent []control.Range, end subjects.Position) []control.Range {
	var gone []control.Range
	add := func(from, to subjects.Position) bool { // to is exclusive
		if from < to {
			gone = append(gone, control.Range{From: from, To: to - 1})
		}
		return len(gone) < control.MaxRanges
	}
	for _, a := range ask {
		if a.From >= end {
			break
		}
		from, to := a.From, min(a.To+1, end)
		for len(sent) > 0 && sent[0].To < from {
			sent = sent[1:]
		}
		// A piece that was sent may reach into the next range: it stays.
		for k := 0; k < len(sent) && sent[k].From < to; k++ {
			if !add(from, sent[k].From) {
				return gone
			}
			from = sent[k].To + 1
		}
		if !add(from, to) {
			return gone
		}
	}
	return gone
}

// above is what is asked for from a position on.
func above(ask []control.Range, p subjects.Position) []control.Range {
	var list []control.Range
	for _, a := range ask[sort.Search(len(ask), func(k int) bool { return ask[k].To >= p }):] {
		if len(list) == control.MaxRanges {
			break
		}
		list = append(list, control.Range{From: max(a.From, p), To: a.To})
	}
	return list
}
