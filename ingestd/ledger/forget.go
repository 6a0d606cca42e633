package ledger

import "datastream/subjects"

const (
	// tombstones is how many forgotten lives are remembered for each that may
	// be known.
	tombstones = 4
	// candidates bounds the lives with frames on their way to the store that are
	// passed over to make room for one.
	candidates = 64
)

// An order is a list of accounts, the one without a sign of life for longest
// first. A sign is a beat, or a frame of its that was read from the store.
// Nothing here relies on lives sorting by birth (P1.1): a mux that has run for
// months stays known, while the lives of others that came and went are
// forgotten.
type order struct{ first, last *Account }

// A place is an account's in an order.
type place struct {
	in         *order
	prev, next *Account
	sign       uint64 // when the last sign came, counted in signs
	forgotten  bool   // the account counts for nothing any more
}

// moved gives an account the last place, in the order of ended lives or in that
// of the others.
func (l *Ledger) moved(a *Account) {
	l.unlink(a)
	l.signs++
	a.sign = l.signs
	a.in = &l.running
	if a.last.Closed {
		a.in = &l.ended
	}
	if a.prev = a.in.last; a.prev != nil {
		a.prev.next = a
	} else {
		a.in.first = a
	}
	a.in.last = a
}

// unlink takes an account out of its order.
func (l *Ledger) unlink(a *Account) {
	if a.in == nil {
		return
	}
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		a.in.first = a.next
	}
	if a.next != nil {
		a.next.prev = a.prev
	} else {
		a.in.last = a.prev
	}
	a.place = place{}
}

// room makes room for a life if there is none: the one is forgotten that is
// over, or that no beat was ever heard of, and without a sign of life for
// longest. One whose frames wait for their commit is kept.
func (l *Ledger) room() bool {
	if len(l.accounts) < l.cfg.Streams {
		return true
	}
	a, b := l.ended.first, l.running.first
	for range candidates {
		if b != nil && !b.Over() && !b.heard.IsZero() {
			b = nil // it lives, and those behind it have shown signs since
		}
		v := a
		if v == nil || b != nil && b.sign < a.sign {
			v = b
		}
		switch {
		case v == nil:
			return false
		case v.waiting.Len() == 0:
			l.forget(v)
			return true
		case v == a:
			a = a.next
		default:
			b = b.next
		}
	}
	return false
}

// forget lets a life go for good: its account counts for nothing any more, and
// its name is kept so that it does not come back.
func (l *Ledger) forget(a *Account) {
	l.holes -= a.holes
	l.unlink(a)
	a.forgotten = true
	delete(l.accounts, a.stream)
	l.bury(a.stream)
	l.forgot = a.stream
}

// bury remembers a forgotten life, at the cost of the one that was forgotten
// first.
func (l *Ledger) bury(st subjects.Stream) {
	if len(l.graves) < tombstones*l.cfg.Streams {
		l.graves = append(l.graves, st)
	} else {
		delete(l.buried, l.graves[l.grave])
		l.graves[l.grave] = st
		l.grave = (l.grave + 1) % len(l.graves)
	}
	l.buried[st] = struct{}{}
}

// Forgotten reports whether a life was forgotten to make room for another, as
// far back as four times Config.Streams reach: its frames are to be refused and
// its mux need not be asked for a beat.
func (l *Ledger) Forgotten(st subjects.Stream) bool {
	_, ok := l.buried[st]
	return ok
}

// Forgot is the life that the last Beat or Restore forgot, if it did. What the
// caller keeps for it is to go.
func (l *Ledger) Forgot() (st subjects.Stream, ok bool) {
	return l.forgot, l.forgot != subjects.Stream{}
}
