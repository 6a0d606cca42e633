package ledger

import (
	"datastream/subjects"
	"datastream/subjects/control"
)

// giveUp gives up what of r has neither arrived nor been given up. Positions
// at or above the horizon are not yet missing; the caller keeps below it.
func (a *Account) giveUp(r control.Range) {
	l := a.ledger
	l.lost = l.lost[:0]
	for m := range a.arrived.Missing(r) {
		for g := range a.gone.Missing(m) {
			l.lost = append(l.lost, g)
		}
	}
	for _, g := range l.lost {
		a.loss(g)
	}
}

// loss books positions as given up that were not.
func (a *Account) loss(r control.Range) {
	a.counts.GivenUp += a.gone.Add(r)
	a.news.Add(r)
}

// TakeGone returns, ascending, what was given up since it was last called, by
// whatever call and for whatever reason; the window of the stream need not wait
// for it (reorder.Window.Pass).
func (a *Account) TakeGone() []control.Range {
	if a.news.Len() == 0 {
		return nil
	}
	out := append([]control.Range(nil), a.news.list()...)
	a.news = Set{}
	return out
}

// bound keeps the hole bounds, counting a stream's holes that are AskAfter old
// and an allowance for younger ones (promise 8). While held, nothing is closed:
// then what arrives is bounded by the caller's buffers.
func (a *Account) bound() {
	l := a.ledger
	if l.held || (a.holes <= l.cfg.StreamHoles && l.holes <= l.cfg.Holes) {
		return
	}
	if a.holes > l.cfg.StreamHoles {
		a.closeLowest(max(a.old()-l.cfg.StreamHoles, a.holes-l.cfg.StreamHoles-slack))
	}
	l.relieve(l.cfg.Holes)
}

// overflow is bound for the calls between two instants: only what passes the
// allowances is closed.
func (a *Account) overflow() {
	l := a.ledger
	if l.held {
		return
	}
	if n := a.holes - l.cfg.StreamHoles - slack; n > 0 {
		a.closeLowest(n)
	}
	if l.holes > l.cfg.Holes+slack {
		l.relieve(l.cfg.Holes)
	}
}

// old is how many holes begin below ripe.
func (a *Account) old() int {
	l := a.arrived.list()
	i := search(l, a.ripe)
	n := i // the holes that end where intervals 0 … i-1 begin, and the one after
	if len(l) > 0 && l[0].From == 0 {
		n--
	}
	if a.holeAfter(l, i) < a.ripe {
		n++
	}
	return max(n, 0)
}

// holeAfter is where the hole before interval i begins, if there is one; it is
// the horizon when there is none.
func (a *Account) holeAfter(l []control.Range, i int) subjects.Position {
	from := subjects.Position(0)
	if i > 0 {
		from = l[i-1].To + 1
	}
	if i < len(l) && l[i].From == from {
		return a.horizon
	}
	return from
}

// closeLowest closes the n lowest holes for good: their positions count as
// given up and are taken for arrived, so that no frame of one comes in.
func (a *Account) closeLowest(n int) {
	for ; n > 0; n-- {
		h := control.Range{From: a.arrived.FirstGap(0), To: a.horizon - 1}
		if h.From >= a.horizon {
			break
		}
		if next, ok := a.arrived.After(h.From); ok {
			h.To = next.From - 1
		}
		a.giveUp(h)
		a.arrived.Add(h)
		a.closed = h.To + 1
		a.counts.Closed += h.Len()
	}
	a.settleClosed()
	a.recount()
}

// settleClosed forgets that positions were given up which are closed for good
// and counted in Lost: nothing can heal them.
func (a *Account) settleClosed() {
	if to := min(a.closed, a.below); to > 0 {
		a.gone.Remove(control.Range{To: to - 1})
	}
}
