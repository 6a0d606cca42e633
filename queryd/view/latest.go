package view

import (
	"bytes"

	"datastream/subjects"
)

// source is a frame's stream and channel.
type source struct {
	stream  subjects.Stream
	channel subjects.Channel
}

// latest keeps the frame with the highest position of each channel of each
// stream (L1). It stands before WHERE (L11).
type latest struct {
	m    *room
	next operator
	out  *record
	rows map[source]*held
}

func (l *latest) push(r *record) error {
	h := l.rows[source{r.frame.Stream, r.frame.Channel}]
	switch {
	case h == nil:
		h, err := hold(r, nil, l.m)
		if err == nil {
			l.rows[source{h.frame.Stream, h.frame.Channel}] = h
		}
		return err
	case r.frame.Position <= h.frame.Position:
		return nil
	}
	more := len(r.frame.Payload) - len(h.frame.Payload)
	if err := l.m.grow(more); err != nil {
		return err
	}
	h.size += more
	stream, channel := h.frame.Stream, h.frame.Channel
	h.frame = *r.frame
	h.frame.Stream, h.frame.Channel, h.frame.Payload = stream, channel, bytes.Clone(r.frame.Payload)
	return nil
}

func (l *latest) finish() error {
	for _, h := range l.rows {
		h.again(l.out)
		if err := l.next.push(l.out); err != nil {
			return err
		}
	}
	return l.next.finish()
}

func (l *latest) full() bool { return l.next.full() }

// Live is false: a later frame takes a row back.
func (l *latest) Live() bool { return false }
