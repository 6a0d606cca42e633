package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"datastream/producer/emit"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
)

// whole is the whole way: one paced handle, as of ds emit, until everything
// is settled.
func (r *rig) whole(l load, node subjects.Node) candidate {
	c := candidate{name: "whole", about: "paced handle → muxd → ingestd → fsynced commit", load: l, of: []string{"bare", "commit"}}
	c.prepare = func(ctx context.Context) (func() error, func() error, error) {
		nc, err := r.stack.Connect(server.Anonymous, nats.Name("ds-bench"))
		if err != nil {
			return nil, nil, err
		}
		h, err := emit.OpenPaced(nc, node)
		if err != nil {
			nc.Close()
			return nil, nil, err
		}
		run := func() error {
			for i := range l.frames {
				if err := h.Submit(ctx, l.channels[i%len(l.channels)], l.line); err != nil {
					return err
				}
			}
			report, err := h.Close(ctx)
			return errors.Join(err, all(int(report.Settled), l.frames))
		}
		return run, func() error { nc.Close(); return nil }, nil
	}
	return c
}

const (
	// publishers is how many plain clients there are.
	publishers = 4
	// plainWindow is how many of their frames may be unsettled, together: less
	// than the mux's connection holds, so that nothing needs to be dropped.
	plainWindow = 16384
)

// single is plain clients that publish a frame a message, as fast as what
// they publish is settled. They are not paced by the mux: only by this.
func (r *rig) single(l load, node subjects.Node) candidate {
	c := candidate{name: "whole", about: fmt.Sprintf("%d plain publishers → muxd → ingestd → fsynced commit", publishers), load: l, of: []string{"core"}}
	c.prepare = func(ctx context.Context) (func() error, func() error, error) {
		conns, hangUp, err := r.connect(publishers)
		if err != nil {
			return nil, nil, err
		}
		w := &watcher{credit: newCredit(plainWindow), start: r.settled[node], done: make(chan struct{})}
		w.below = w.start.Below
		w.until = w.start.Below + subjects.Position(l.frames)
		sub, err := r.reader.Subscribe(r.stack.Space().NodeSettled(node), w.heard)
		if err == nil {
			err = r.reader.Flush()
		}
		if err != nil {
			return nil, nil, errors.Join(err, hangUp())
		}
		run := func() error {
			var g sync.WaitGroup
			failed := make([]error, publishers)
			for i, nc := range conns {
				g.Go(func() { failed[i] = publishAll(ctx, nc, w.credit, l, r.stack.Space(), node, i) })
			}
			g.Wait()
			if err := errors.Join(failed...); err != nil {
				return err
			}
			if err := await(ctx, w.done); err != nil {
				return err
			}
			r.settled[node] = w.last
			return all(int(w.last.Lost), int(w.start.Lost))
		}
		return run, func() error { return errors.Join(sub.Unsubscribe(), hangUp()) }, nil
	}
	return c
}

// publishAll publishes one client's share of the frames.
func publishAll(ctx context.Context, nc *nats.Conn, cr *credit, l load, space subjects.Space, node subjects.Node, who int) error {
	t := taker{credit: cr}
	names := make([]string, len(l.channels))
	for i, c := range l.channels {
		names[i] = space.Submit(node, c)
	}
	for i := who; i < l.frames; i += publishers {
		if err := t.take(ctx); err != nil {
			return err
		}
		if err := nc.Publish(names[i/publishers%len(names)], l.line); err != nil {
			return err
		}
	}
	return nc.FlushWithContext(ctx)
}

// A watcher turns what is settled of a node into credit. Its last is read
// after done.
type watcher struct {
	credit      *credit
	start, last control.Settled
	below       subjects.Position // credit was given for what lies below
	until       subjects.Position
	done        chan struct{}
	ended       bool
}

func (w *watcher) heard(m *nats.Msg) {
	s, err := control.DecodeSettled(m.Data)
	if err != nil || w.ended || s.Below <= w.below {
		return
	}
	w.last = s
	w.credit.give(int(s.Below - w.below))
	w.below = s.Below
	if s.Below >= w.until {
		w.ended = true
		close(w.done)
	}
}
