package view

import (
	"sort"

	"datastream/queryd/value"
	"datastream/subjects"
)

// An Account is what is known of one stream up to the end of the read: what
// STREAMS, GAPS and gap rows are made of. It covers the whole stream, whatever
// the query's pattern and times.
type Account struct {
	Stream subjects.Stream
	// Stored is the positions in the store, Evicted those that were committed
	// and have aged out. Both ascend, and none overlaps another. Stored ones
	// that touch are one; the store's interval bears its first frame's place.
	Stored  []Interval
	Evicted []Interval
	Last    int64 // instant of the newest commit with a frame of it, 0 if none
	Beat    *Beat // the last one, nil if none was ever heard
}

// An Interval is the positions From … To, both included.
type Interval struct {
	From, To subjects.Position
	// Instant, Sequence and FramePlace are those of the frame at From, of a
	// stored interval.
	Instant    int64
	Sequence   uint64
	FramePlace int
}

// A Beat is what the stream's mux last said (P2), and when.
type Beat struct {
	Heard             int64
	Assigned, Drained subjects.Position
	Dropped           uint64
	// Over is true when the life is over: the mux said so, or has been silent
	// for so long that ingest gave it up (P7.1).
	Over bool
}

// aliveFor is how old the last beat of a stream that is alive may be (L4).
const aliveFor = 25e9

// The causes of a gap (L4).
const (
	causeLost    = "lost"
	causeDropped = "dropped"
	causeEvicted = "evicted"
	causePending = "pending"
)

// A gap is a hole of one stream.
type gap struct {
	stream   *stream
	from, to subjects.Position
	cause    string
	instant  int64
	known    bool // a frame beyond the gap is stored, and place is its
	place    place
}

func (g *gap) missing() uint64 { return uint64(g.to-g.from) + 1 }

// gapFields are the names of a gap row (L4.4).
var gapFields = []string{"node", "life", "gap_from", "gap_to", "missing", "cause", "timestamp"}

// columns are the values of a gap row.
func (g *gap) columns(dst []value.Value) []value.Value {
	at := value.Value{}
	if g.instant > 0 {
		at = value.OfTime(g.instant)
	}
	return append(dst, g.stream.node, g.stream.life, value.OfUint(uint64(g.from)), value.OfUint(uint64(g.to)),
		value.OfUint(g.missing()), value.OfString(g.cause), at)
}

// gaps lists the holes of a stream, ascending: what has aged out, what lacks
// between, and at the end what a beat says was drained (P8.3).
func (a *Account) gaps(s *stream) []gap {
	spans := make([]Interval, 0, len(a.Stored)+len(a.Evicted))
	spans = append(append(spans, a.Stored...), a.Evicted...)
	evicted := make(map[subjects.Position]bool, len(a.Evicted))
	for _, e := range a.Evicted {
		evicted[e.From] = true
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].From < spans[j].From })
	var out []gap
	from := subjects.Position(0)
	placed := 0 // the gaps before it know the frame beyond them
	for _, p := range spans {
		if p.From > from {
			out = append(out, gap{stream: s, from: from, to: p.From - 1, cause: causeLost, instant: a.Last})
		}
		from = p.To + 1
		if evicted[p.From] {
			out = append(out, gap{stream: s, from: p.From, to: p.To, cause: causeEvicted, instant: a.Last})
			continue
		}
		for ; placed < len(out); placed++ {
			g := &out[placed]
			g.known, g.instant, g.place = true, p.Instant, place{p.Sequence, p.FramePlace}
		}
	}
	out = a.appendTail(out, s, from)
	a.nameDropped(out, from)
	return out
}

// appendTail adds what lacks behind all that was committed.
func (a *Account) appendTail(out []gap, s *stream, from subjects.Position) []gap {
	switch b := a.Beat; {
	case b == nil:
	case b.Over && b.Assigned > from:
		out = append(out, gap{stream: s, from: from, to: b.Assigned - 1, cause: causeLost, instant: b.Heard})
	case !b.Over && b.Drained > from:
		out = append(out, gap{stream: s, from: from, to: b.Drained - 1, cause: causePending, instant: b.Heard})
	}
	return out
}

// nameDropped calls lost gaps dropped if the mux dropped as many frames as lack
// in all: then none of them can be a loss. A beat counts and names no
// positions, so where some were dropped and some lost all are called lost.
func (a *Account) nameDropped(gaps []gap, committed subjects.Position) {
	if a.Beat == nil || a.Beat.Dropped == 0 {
		return
	}
	absent := uint64(max(a.Beat.Assigned, committed) - committed) // behind all that was committed
	for i := range gaps {
		if g := &gaps[i]; g.cause == causeLost && g.to < committed {
			absent += g.missing()
		}
	}
	if a.Beat.Dropped < absent {
		return
	}
	for i := range gaps {
		if gaps[i].cause == causeLost {
			gaps[i].cause = causeDropped
		}
	}
}

// streamFields are the names of a row of STREAMS (L4).
var streamFields = []string{"node", "life", "first", "last", "assigned", "stored", "missing", "evicted", "pending",
	"dropped", "gaps", "timestamp", "alive"}

// columns is the stream's row of STREAMS. first and last are the lowest and
// the highest stored position; gaps are the holes that missing is in.
func (a *Account) columns(s *stream, now int64) []value.Value {
	var stored, missing, evicted, pending, dropped, gaps uint64
	for _, i := range a.Stored {
		stored += uint64(i.To-i.From) + 1
	}
	for _, g := range a.gaps(s) {
		switch g.cause {
		case causeEvicted:
			evicted += g.missing()
		case causePending:
			pending += g.missing()
		default:
			missing += g.missing()
			gaps++
		}
	}
	assigned, alive := subjects.Position(0), false
	for _, spans := range [][]Interval{a.Stored, a.Evicted} {
		if n := len(spans); n > 0 {
			assigned = max(assigned, spans[n-1].To+1)
		}
	}
	if b := a.Beat; b != nil {
		assigned, dropped, alive = max(assigned, b.Assigned), b.Dropped, !b.Over && now-b.Heard < aliveFor
	}
	var first, last, at value.Value
	if n := len(a.Stored); n > 0 {
		first, last = value.OfUint(uint64(a.Stored[0].From)), value.OfUint(uint64(a.Stored[n-1].To))
	}
	if a.Last > 0 {
		at = value.OfTime(a.Last)
	}
	return []value.Value{s.node, s.life, first, last, value.OfUint(uint64(assigned)), value.OfUint(stored),
		value.OfUint(missing), value.OfUint(evicted), value.OfUint(pending), value.OfUint(dropped),
		value.OfUint(gaps), at, value.OfBool(alive)}
}
