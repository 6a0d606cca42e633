package ledger

import (
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// An Account is the ledger of one stream. Its sets relate so:
//
//	committed = arrived − waiting − what lies closed for good
//	missing   = positions below the horizon − arrived
//	healable  = missing − gone
//	unsettled = healable ∪ waiting
type Account struct {
	ledger *Ledger
	stream subjects.Stream

	arrived Set // arrived, or closed for good
	waiting Set // arrived and not committed
	gone    Set // given up and not committed
	horizon subjects.Position
	sure    subjects.Position // below it everything was sent, so what is missing is lost on the way
	holes   int               // intervals missing below the horizon
	closed  subjects.Position
	// closed: below it every position has arrived or is closed for good.

	news   Set               // given up since TakeGone
	floor  subjects.Position // everything missing below it has been given up
	last   control.Beat      // the highest that beats said
	heard  time.Time         // when the last beat came
	quiet  time.Duration     // since when its mux is silent
	dead   bool              // silent for too long
	place                    // among the lives that may be forgotten
	repair                   // what is asked for
	settle                   // what is announced
	counts Counts
}

// Stream is whose account it is.
func (a *Account) Stream() subjects.Stream { return a.stream }

// Next is one past the highest position that arrived, was committed or was
// closed: where a window of the stream begins.
func (a *Account) Next() subjects.Position {
	if r, ok := a.arrived.Last(); ok {
		return r.To + 1
	}
	return 0
}

// Arrive appends to fresh the parts of r that had not arrived, and marks them
// arrived. The others are duplicates, or of holes closed for good: the first
// frame of a position wins whatever the bytes of the second (P7.2).
func (a *Account) Arrive(r frame.Run, fresh []frame.Run) (out []frame.Run, duplicates int) {
	if r.Len() == 0 {
		return fresh, 0
	}
	a.sure = max(a.sure, r.First())
	if last, ok := a.arrived.Last(); !ok || last.To < r.First() {
		a.take(r)
		return append(fresh, r), 0
	}
	n := len(fresh)
	fresh, duplicates = a.sift(r, fresh)
	for _, f := range fresh[n:] {
		a.take(f)
	}
	return fresh, duplicates
}

// sift appends the parts of r that have not arrived and counts the rest.
func (a *Account) sift(r frame.Run, fresh []frame.Run) ([]frame.Run, int) {
	l := a.arrived.list()
	k := search(l, r.First())
	start, duplicates := -1, 0
	for i := range r.Len() {
		p := r.Pos(i)
		for k < len(l) && l[k].To < p {
			k++
		}
		if k == len(l) || p < l[k].From {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			fresh = append(fresh, r.Slice(start, i))
			start = -1
		}
		duplicates++
		if p < a.closed {
			a.counts.Refused++
		} else {
			a.counts.Duplicates++
		}
	}
	if start >= 0 {
		fresh = append(fresh, r.Slice(start, r.Len()))
	}
	return fresh, duplicates
}

// take marks a run arrived of which nothing had.
func (a *Account) take(r frame.Run) {
	l := a.ledger
	l.teeth = stretches(l.teeth[:0], r)
	a.arrived.addAll(l.teeth, &l.merged)
	a.waiting.addAll(l.teeth, &l.merged)
	a.raise(r.Last() + 1)
	a.overflow()
}

// Drop says that frames that arrived were dropped before they were committed:
// their positions are holes again, and rest for AskAgain, since whatever had
// no room for them would have none for their repeat (P7.7). Other positions of
// r are left as they are.
func (a *Account) Drop(r control.Range) {
	if r.From > r.To {
		return
	}
	l := a.ledger
	l.teeth = l.teeth[:0]
	for w, ok := a.waiting.After(r.From); ok && w.From <= r.To; w, ok = a.waiting.After(r.From) {
		w.From, w.To = max(w.From, r.From), min(w.To, r.To)
		l.teeth = append(l.teeth, w)
		if w.To == r.To {
			break
		}
		r.From = w.To + 1
	}
	for _, w := range l.teeth {
		a.waiting.Remove(w)
		a.reopen(w)
	}
	a.recount()
}

// reopen makes a hole of positions that had arrived. Below the closed mark
// there are no holes any more: there they are closed for good, too, even while
// the ledger is held.
func (a *Account) reopen(r control.Range) {
	a.arrived.Remove(r)
	if r.From < a.closed {
		c := control.Range{From: r.From, To: min(r.To, a.closed-1)}
		a.giveUp(c)
		a.arrived.Add(c)
		a.counts.Closed += c.Len()
		if r.To < a.closed {
			return
		}
		r.From = a.closed
	}
	a.floor = min(a.floor, r.From)
	a.rest(r)
}

// Commit says that the frames of r are fsynced, and returns how many were not
// known to be. It marks them arrived, too, so it serves as well for every
// message read from the store, at start or after an unclear commit.
func (a *Account) Commit(r frame.Run) (committed int) {
	if r.Len() == 0 {
		return 0
	}
	a.sure = max(a.sure, r.First())
	l := a.ledger
	l.teeth = stretches(l.teeth[:0], r)
	n := a.waiting.removeAll(l.teeth, &l.merged)
	if n < uint64(r.Len()) {
		n += a.arrived.addAll(l.teeth, &l.merged)
	}
	if g, ok := a.gone.Last(); ok && r.First() <= g.To {
		a.counts.Healed += a.gone.removeAll(l.teeth, &l.merged)
	}
	a.counts.Committed += n
	a.raise(r.Last() + 1)
	a.overflow()
	return int(n)
}

// raise moves the horizon up, and counts the holes.
func (a *Account) raise(to subjects.Position) {
	a.horizon = max(a.horizon, to)
	a.recount()
}

// recount brings the number of holes up to date, here and in the ledger.
func (a *Account) recount() {
	n := 0
	if l := a.arrived.list(); len(l) > 0 {
		n = len(l) - 1
		if l[0].From > 0 {
			n++
		}
		if l[len(l)-1].To+1 < a.horizon {
			n++
		}
	} else if a.horizon > 0 {
		n = 1
	}
	if !a.forgotten {
		a.ledger.holes += n - a.holes
	}
	a.holes = n
}
