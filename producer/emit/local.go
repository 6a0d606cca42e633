package emit

import (
	"bytes"
	"sync/atomic"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// A Local is a handle over a mux in the same program. It has no buffer and no
// goroutine of its own: the mux's buffer is the only one, and what the mux drops
// has its position spent, so that the loss is seen. It needs no Close.
type Local struct {
	cfg  config
	sink Sink
	node subjects.Node

	submitted atomic.Uint64
	sent      atomic.Uint64
	dropped   [reasons]atomic.Uint64
}

// InProcess makes a handle that submits to a node of a mux in the same program.
// Of the options only WithMaxFrame and WithOnDrop have a meaning for it; bad
// ones are a mistake in the program, and panic.
func InProcess(sink Sink, node subjects.Node, opts ...Option) *Local {
	cfg, err := newConfig(DefaultBufferBytes, opts)
	if err != nil {
		panic(err)
	}
	return &Local{cfg: cfg, sink: sink, node: node}
}

// Submit copies the payload and hands it to the mux. It never waits (P9.4). What
// cannot be a frame is counted and never reaches the mux.
func (l *Local) Submit(channel subjects.Channel, payload []byte) {
	l.submitted.Add(1)
	reason := l.cfg.check(channel, payload)
	if reason == ReasonNone {
		if l.sink.Submit(l.node, frame.Single(channel, 0, bytes.Clone(payload))) {
			l.sent.Add(1)
			return
		}
		reason = ReasonRefused
	}
	l.dropped[reason].Add(1)
	l.cfg.onDrop(reason)
}

// Stats is what the handle has done. While others submit, its fields may be a
// few frames apart.
func (l *Local) Stats() Stats {
	s := Stats{Sent: l.sent.Load()}
	s.Messages = s.Sent
	for i := range l.dropped {
		s.Dropped[i] = l.dropped[i].Load()
	}
	s.Submitted = l.submitted.Load()
	return s
}
