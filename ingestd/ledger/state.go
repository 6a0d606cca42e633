package ledger

import (
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
)

// Counts is what an account has counted, for display and metrics.
type Counts struct {
	Committed  uint64 // positions known to be fsynced
	Duplicates uint64 // frames whose position had arrived
	Refused    uint64 // frames below the closed mark: duplicates, or of holes closed for good
	GivenUp    uint64 // positions ever given up, closed ones included
	Healed     uint64 // of those, committed later
	Closed     uint64 // positions closed for good
	Waiting    uint64 // positions that arrived and are not committed
	Missing    uint64 // positions below the horizon that have not arrived
	Holes      int    // the stretches they make

	Next    subjects.Position // one past the highest that arrived
	Horizon subjects.Position // one past the highest that arrived or was drained
	Below   subjects.Position // as last announced
	Lost    uint64            // given up below Below

	Beat  control.Beat // the highest of what beats said; zero without one
	Heard time.Time    // when the last beat came; zero without one
}

// Counts is the account at this moment.
func (a *Account) Counts() Counts {
	c := a.counts
	c.Waiting = a.waiting.Count()
	c.Missing = uint64(a.horizon) - a.arrived.Count()
	c.Holes = a.holes
	c.Next, c.Horizon, c.Below, c.Lost = a.Next(), a.horizon, a.said, a.lost
	c.Beat, c.Heard = a.last, a.heard
	return c
}

// Holes is how many holes the stream has. Without any, Ask has nothing to ask.
func (a *Account) Holes() int { return a.holes }

// Missing is the gaps in what is committed, leading and between, ascending, at
// most control.MaxRanges of them, the lowest (P8.3). Holes closed for good are
// not among them; Counts has their positions.
func (a *Account) Missing() []control.Range {
	var out []control.Range
	from := subjects.Position(0)
	for c := range a.committed {
		if c.From > from {
			if len(out) == control.MaxRanges {
				break
			}
			out = append(out, control.Range{From: from, To: c.From - 1})
		}
		from = c.To + 1
	}
	return out
}

// committed yields what is committed or closed for good, ascending; two
// intervals never touch.
func (a *Account) committed(yield func(control.Range) bool) {
	for r := range a.arrived.Ranges() {
		for c := range a.waiting.Missing(r) {
			if !yield(c) {
				return
			}
		}
	}
}

// A State is what a checkpoint keeps of an account (P7.5): all but what arrived
// and is not committed, which is lost with the process that took it, and what
// was asked for.
type State struct {
	Committed []control.Range   `json:"committed,omitempty"` // or closed for good
	Gone      []control.Range   `json:"gone,omitempty"`      // given up and neither
	Closed    subjects.Position `json:"closed,omitempty"`    // below it nothing is healed
	Horizon   subjects.Position `json:"horizon"`
	Below     subjects.Position `json:"below"`
	Lost      uint64            `json:"lost,omitempty"`
	Beat      control.Beat      `json:"beat"`
	// Counters as in Counts.
	CommittedCount uint64 `json:"count"`
	GivenUp        uint64 `json:"given_up,omitempty"`
	Healed         uint64 `json:"healed,omitempty"`
	ClosedCount    uint64 `json:"closed_count,omitempty"`
}

// State is the account as a checkpoint keeps it.
func (a *Account) State() State {
	s := State{
		Closed: a.closed, Horizon: a.horizon, Below: a.below, Lost: a.lost, Beat: a.last,
		CommittedCount: a.counts.Committed, GivenUp: a.counts.GivenUp,
		Healed: a.counts.Healed, ClosedCount: a.counts.Closed,
	}
	if w, ok := a.waiting.After(0); ok { // what waits is not kept, and so open again
		s.Closed = min(s.Closed, w.From)
	}
	for c := range a.committed {
		s.Committed = append(s.Committed, c)
	}
	s.Gone = append(s.Gone, a.gone.list()...)
	return s
}

// Load makes an account that Restore just made what a checkpoint says. What it
// says of committed positions is taken with what the account has already.
func (a *Account) Load(s State) {
	for _, r := range s.Committed {
		a.arrived.Add(r)
	}
	for _, r := range s.Gone {
		a.gone.Add(r)
	}
	a.closed, a.below, a.lost = s.Closed, s.Below, s.Lost
	a.last = s.Beat
	a.ledger.moved(a) // it may have ended
	a.counts.Committed = s.CommittedCount
	a.counts.GivenUp, a.counts.Healed, a.counts.Closed = s.GivenUp, s.Healed, s.ClosedCount
	to := s.Horizon
	if last, ok := a.arrived.Last(); ok {
		to = max(to, last.To+1)
	}
	a.raise(to)
	a.sure = a.horizon // whatever was under way then is not any more
	a.overflow()
}
