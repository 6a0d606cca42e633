package window

import (
	"slices"
	"time"

	"datastream/subjects"
)

// A resetKind says why the producer is to be numbered anew.
type resetKind int

const (
	resetNone resetKind = iota
	// resetRejected: the mux rejected a run and still expects its number. The
	// life goes on, so runs that nobody answered are sent again.
	resetRejected
	// resetOver: the life is over, or the mux forgot the producer. Nothing is
	// sent again unless it was certainly not taken.
	resetOver
)

// beginReset starts a reset, or makes one that runs stricter.
func (w *Window) beginReset(k resetKind) { w.reset = max(w.reset, k) }

// mayResend reports whether a due item may be sent while a reset runs.
func (w *Window) mayResend(t *item) bool {
	switch w.reset {
	case resetNone:
		return true
	case resetRejected:
		return t.numbered && !t.denied && !t.refused()
	default:
		return false
	}
}

// advanceReset ends a reset once everything that was sent is resolved: taken,
// refused, or unknown because its life is over and can answer no more.
func (w *Window) advanceReset(now time.Time) {
	if w.reset == resetNone {
		return
	}
	waits := false
	w.items = slices.DeleteFunc(w.items, func(t *item) bool {
		if !t.numbered || t.refused() {
			return false
		}
		if (w.reset == resetOver || t.denied) && t.expired(now, w.cfg.AnswerTimeout) {
			w.done.unknown += uint64(t.run.Len())
			w.release(t)
			return true
		}
		waits = true
		return false
	})
	if !waits {
		w.renumber()
	}
}

// expired reports whether no transmission of t can be answered any more.
func (t *item) expired(now time.Time, limit time.Duration) bool {
	for _, a := range t.open {
		if now.Sub(a.at) < limit {
			return false
		}
	}
	return true
}

// renumber makes a new producer of the window: every item left is unsent.
func (w *Window) renumber() {
	w.reset = resetNone
	w.producer, w.next = w.cfg.Mint(), 0
	w.stuck, w.confirmed = false, false
	for _, t := range w.items {
		w.again(t)
		t.numbered, t.denied = false, false
	}
}

// Idle reports whether every enqueued frame is resolved.
func (w *Window) Idle() bool {
	return len(w.items) == 0 && !slices.ContainsFunc(w.accounts, func(a *account) bool { return len(a.spans) > 0 })
}

// Abandon resolves everything now, because the caller waits no longer: what was
// certainly not taken is lost, the rest unknown.
func (w *Window) Abandon() {
	for _, t := range w.items {
		if t.refused() {
			w.done.lost += uint64(t.run.Len())
		} else {
			w.done.unknown += uint64(t.run.Len())
		}
		w.release(t)
	}
	w.items = nil
	for _, a := range w.accounts {
		w.done.add(a.abandon())
	}
}

// Freed is how many frames, and of what cost, have stopped needing room since
// the last call.
func (w *Window) Freed() (frames, cost int) {
	frames, cost = w.freed.frames, w.freed.cost
	w.freed.frames, w.freed.cost = 0, 0
	return frames, cost
}

// Counts is the fate of every frame enqueued so far: its fields sum to them.
func (w *Window) Counts() Counts {
	d := w.done
	return Counts{
		Settled: d.settled,
		Lost:    d.lost,
		Unknown: d.unknown,
		Taken:   w.enqueued - w.waiting - d.settled - d.lost - d.unknown,
		Waiting: w.waiting,
	}
}

// Lives is the lives that took frames, in the order of their first.
func (w *Window) Lives() []subjects.Life { return slices.Clone(w.lives) }

// Err is the first error: it wraps ErrRejected or ErrAnswer.
func (w *Window) Err() error { return w.err }
