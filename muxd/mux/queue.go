package mux

import "time"

// held is a paced run that waits for room.
type held struct {
	mux    *Mux
	place  *place[*Mux, string, source] // of its producer, pinned meanwhile
	offer  Offer
	cost   int
	since  time.Time
	before *held // in the queue
	after  *held
}

// end is the number after the run's last.
func (h *held) end() uint64 { return h.offer.Seq.N + uint64(h.offer.Run.Len()) }

// queue holds the runs of all producers in the order in which they came: the
// order in which they are taken, so that none is starved.
type queue struct {
	first, last *held
	len, cost   int
}

func (q *queue) push(h *held) {
	h.before = q.last
	if q.last == nil {
		q.first = h
	} else {
		q.last.after = h
	}
	q.last = h
	q.len++
	q.cost += h.cost
}

func (q *queue) remove(h *held) {
	if h.before == nil {
		q.first = h.after
	} else {
		h.before.after = h.after
	}
	if h.after == nil {
		q.last = h.before
	} else {
		h.after.before = h.before
	}
	h.before, h.after = nil, nil
	q.len--
	q.cost -= h.cost
}
