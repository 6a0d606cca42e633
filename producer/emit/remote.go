package emit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/subjects"
)

// closeGrace is how long Close still waits for its goroutine when its context
// has ended.
const closeGrace = time.Second

// A Remote is an unpaced handle over NATS: observers use it, for Submit never
// waits. Make it with Open, end it with Close.
type Remote struct {
	cfg     config
	nc      *nats.Conn
	backlog *backlog
	drain   *drain

	closing   chan struct{} // closed by Close: send what there is, then end
	closeOnce sync.Once
	stop      context.CancelFunc // ends every wait of the goroutine
	done      chan struct{}      // closed when the goroutine has ended
}

// Open makes a handle for a node. The caller keeps the connection, which must
// stay open until Close has returned, and should have its own reconnect buffer
// off (nats.ReconnectBufSize(-1)): this handle keeps what cannot be sent. Close
// ends the handle's goroutine.
func Open(nc *nats.Conn, node subjects.Node, opts ...Option) (*Remote, error) {
	cfg, err := openConfig(nc, node, DefaultBufferBytes, opts)
	if err != nil {
		return nil, fmt.Errorf("open handle: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	h := &Remote{
		cfg:     cfg,
		nc:      nc,
		backlog: newBacklog(cfg),
		closing: make(chan struct{}),
		stop:    stop,
		done:    make(chan struct{}),
	}
	h.drain = newDrain(ctx, h, node)
	go h.drain.run()
	return h, nil
}

// openConfig checks what both handles over NATS are opened with.
func openConfig(nc *nats.Conn, node subjects.Node, bufferBytes int, opts []Option) (config, error) {
	if nc == nil {
		return config{}, fmt.Errorf("%w: no connection", ErrOption)
	}
	if _, err := subjects.ParseNode(string(node)); err != nil {
		return config{}, err
	}
	return newConfig(bufferBytes, opts)
}

// Submit copies the payload into the buffer. It never waits, whatever the
// connection does (P9.4); what it drops is counted, and its number stays spent,
// so that the mux sees the loss (P4.2).
func (h *Remote) Submit(channel subjects.Channel, payload []byte) {
	reason := h.backlog.submit(channel, payload, h.cfg.check(channel, payload))
	if reason != ReasonNone {
		h.cfg.onDrop(reason)
	}
}

// Stats is what the handle has done so far.
func (h *Remote) Stats() Stats {
	s := h.drain.sent()
	// Read after what was sent, so that Buffered cannot be negative.
	s.Submitted, s.Dropped = h.backlog.counts()
	s.Buffered = s.Submitted - s.Sent - s.Dropped.Total()
	return s
}

// Close takes no more frames, sends what the buffer holds and a last mark, and
// waits until the server has it all. If ctx ends first, or the connection was
// closed, the rest is dropped and counted, and the error wraps ErrUnsettled.
// Close may be called more than once.
func (h *Remote) Close(ctx context.Context) (Stats, error) {
	h.backlog.close()
	h.closeOnce.Do(func() { close(h.closing) })
	select {
	case <-h.done:
	case <-ctx.Done():
		h.stop()
		// A publish that the socket blocks cannot be called off; it must not
		// hold the caller for long.
		select {
		case <-h.done:
		case <-time.After(closeGrace):
		}
	}
	return h.Stats(), h.verdict(ctx)
}

// verdict is the error of Close.
func (h *Remote) verdict(ctx context.Context) error {
	s := h.Stats()
	left := s.Buffered + s.Dropped[ReasonUnsent]
	switch {
	case left > 0:
		return fmt.Errorf("close handle: %w: %d frames could not be sent%s", ErrUnsettled, left, because(ctx))
	case !h.drain.flushed.Load():
		return fmt.Errorf("close handle: %w: the server did not confirm the last frames%s", ErrUnsettled, because(ctx))
	}
	return nil
}

// because says why a Close gave up.
func because(ctx context.Context) string {
	if err := context.Cause(ctx); err != nil {
		return ": " + err.Error()
	}
	return ": the connection is closed"
}
