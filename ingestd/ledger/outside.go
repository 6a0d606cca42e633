package ledger

import (
	"math"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// Evicting says that the store has let go of messages before it was read: what
// is missing of a life may have been committed and aged out, which is no loss
// (P8.3). What tells the two apart is the first beat of the life: below the
// settled bound that its mux has heard, what is missing is evicted; from there
// on it is a hole like any other. A life that never beats again is taken to be
// evicted below its first stored frame.
func (l *Ledger) Evicting() { l.evicting = true }

// evict takes what is missing below a position for committed and aged out: all
// of it if nothing of the life is stored, else what lies below its first
// stored frame or within a slice of it, for the store lets go of interleaved
// runs one by one. What is missing further up was never there.
func (a *Account) evict(below subjects.Position) {
	if first, ok := a.arrived.After(0); ok {
		below = min(below, first.From+frame.SliceFrames)
	}
	if !a.ledger.evicting || below == 0 {
		return
	}
	a.arrived.Add(control.Range{From: 0, To: below - 1})
	a.raise(below)
	a.sure = max(a.sure, below)
}

// News reports whether TakeGone has something.
func (a *Account) News() bool { return a.news.Len() > 0 }

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
