package ledger

import (
	"math"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// Evicted says that the store has let go of what it once held below first:
// these positions were committed, have aged out and are not asked for (P8.3).
// It is for an account just restored.
func (a *Account) Evicted(first subjects.Position) {
	if first == 0 {
		return
	}
	a.arrived.Add(control.Range{From: 0, To: first - 1})
	a.raise(first)
	a.sure = first
	a.overflow()
}

// Uncommitted appends to out the parts of r that are not known to be
// committed: what is left to commit after another writer, or a commit of ours
// whose result was unclear, has stored some of them (P7.4).
func (a *Account) Uncommitted(r frame.Run, out []frame.Run) []frame.Run {
	start := -1
	for i := range r.Len() {
		open := a.waiting.Has(r.Pos(i)) || !a.arrived.Has(r.Pos(i))
		switch {
		case open && start < 0:
			start = i
		case !open && start >= 0:
			out = append(out, r.Slice(start, i))
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, r.Slice(start, r.Len()))
	}
	return out
}

// Due is when Ask may have something to ask for although nothing comes in
// until then; false when it has not. It is never later than that.
func (a *Account) Due() (time.Time, bool) {
	l := a.ledger
	if a.out || a.holes == 0 || a.Over() {
		return time.Time{}, false
	}
	at := time.Duration(math.MaxInt64)
	if len(a.asks) > 0 {
		at = a.wake
	}
	switch {
	case a.asked < a.ripe: // old enough and not looked at yet
		at = l.now
	case a.n > 0:
		at = min(at, a.marks[0].at+l.cfg.AskAfter)
	case a.ripe < a.sure: // not even noted: the next Ask does
		at = min(at, l.now+l.cfg.AskAfter)
	}
	return l.epoch.Add(at), at != math.MaxInt64
}

// Refuse says that frames which arrived can never be committed: they are
// given up, and their positions pass as lost.
func (a *Account) Refuse(r frame.Run) {
	for i := 0; i < r.Len(); {
		n := r.Consecutive(i)
		lost := control.Range{From: r.Pos(i), To: r.Pos(i + n - 1)}
		a.Drop(lost)
		a.giveUp(lost)
		i += n
	}
}
