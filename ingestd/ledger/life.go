package ledger

import (
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
)

// beat takes what the mux says. Beats may come twice and out of order: nothing
// that one said falls, and a closing beat stays the last word.
func (a *Account) beat(b control.Beat, t time.Duration) {
	if a.heard.IsZero() {
		a.evict(b.Below)
	}
	a.quiet, a.heard = t, a.ledger.epoch.Add(t)
	a.dead = false
	k := a.last
	a.last = b
	a.last.Assigned = max(k.Assigned, b.Assigned)
	a.last.Drained = max(k.Drained, b.Drained)
	a.last.Dropped = max(k.Dropped, b.Dropped)
	a.last.Oldest = max(k.Oldest, b.Oldest)
	a.last.Below = max(k.Below, b.Below)
	a.last.Closed = k.Closed || b.Closed
	to := a.last.Drained
	if a.last.Closed {
		to = a.last.Assigned
	}
	a.raise(to)
	a.sure = max(a.sure, to)
	a.mark(t)
	a.Heard(b.Below)
	a.judge()
	a.bound()
}

// Tick lets time pass: a life without a beat for Dead is over, and what is
// missing of it is given up. It is not to be called while there is no
// connection, since then no beat can come. (P7.1)
func (a *Account) Tick(now time.Time) {
	l := a.ledger
	t := l.tell(now)
	a.mark(t)
	if !l.held && !a.last.Closed && t-max(a.quiet, l.since) >= l.cfg.Dead {
		if first, ok := a.arrived.After(0); ok && a.heard.IsZero() {
			a.evict(first.From)
		}
		a.dead = true
	}
	a.judge()
	a.bound()
	a.arrived.trim()
	a.waiting.trim()
	a.gone.trim()
}

// Over reports whether the life is over: its mux said so, or has been silent
// for Dead. A beat of a life that was only silent revives it; what was given up
// stays given up.
func (a *Account) Over() bool { return a.last.Closed || a.dead }

// judge gives up what cannot be healed any more by what is known of the mux:
// all that is missing below the oldest repairable, or at all when the life is
// over. Each position is looked at once, not at every tick.
func (a *Account) judge() {
	to := a.last.Oldest
	if a.Over() {
		to = a.horizon
	}
	if a.ledger.held || to <= a.floor {
		return
	}
	a.giveUp(control.Range{From: a.floor, To: to - 1})
	a.floor = to
	if a.Over() {
		a.asks = nil
		a.asked = max(a.asked, to)
	}
}

// Heard says that the mux has heard every announcement up to a bound. When it
// is behind, Settled has something to say again. A beat does this by itself.
func (a *Account) Heard(below subjects.Position) { a.settle.hear(below) }
