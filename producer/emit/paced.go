package emit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/subjects"
)

// A Paced is a handle over NATS that loses nothing while the mux lives (P4.3):
// importers use it, which may wait. Make it with OpenPaced, end it with Close.
type Paced struct {
	cfg     config
	nc      *nats.Conn
	backlog *backlog
	pacer   *pacer

	closing   chan struct{} // closed by Close: settle what there is, then end
	closeOnce sync.Once
	stop      context.CancelFunc // makes the goroutine give up
	done      chan struct{}      // closed when the goroutine has ended
}

// OpenPaced makes a paced handle for a node. The caller keeps the connection,
// which must stay open until Close has returned. Close ends the handle's
// goroutine and its two subscriptions.
func OpenPaced(nc *nats.Conn, node subjects.Node, opts ...Option) (*Paced, error) {
	cfg, err := openConfig(nc, node, DefaultPacedBufferBytes, opts)
	if err != nil {
		return nil, fmt.Errorf("open paced handle: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Paced{
		cfg:     cfg,
		nc:      nc,
		backlog: newBacklog(cfg),
		closing: make(chan struct{}),
		stop:    stop,
		done:    make(chan struct{}),
	}
	p.backlog.shared = true
	if p.pacer, err = newPacer(ctx, p, node); err != nil {
		stop()
		return nil, fmt.Errorf("open paced handle: %w", err)
	}
	go p.pacer.run()
	return p, nil
}

// Submit copies the payload into the buffer, and waits for room if it is full.
// It may be called from any goroutine; frames of one goroutine keep their order.
// A nil error means that the Report counts the frame; an error wraps
// subjects.ErrName, ErrSize, ErrClosed or that of ctx, and the frame was not
// taken.
func (p *Paced) Submit(ctx context.Context, channel subjects.Channel, payload []byte) error {
	switch p.cfg.check(channel, payload) {
	case ReasonChannel:
		_, err := subjects.ParseChannel(string(channel))
		return fmt.Errorf("submit: %w", err)
	case ReasonSize:
		return fmt.Errorf("submit to %.80q: %w: %d bytes, at most %d are allowed", string(channel), ErrSize, len(payload), p.cfg.maxFrame)
	}
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("submit to %.80q: %w", string(channel), err)
		}
		room, err := p.backlog.offer(channel, payload)
		if err != nil {
			return fmt.Errorf("submit to %.80q: %w", string(channel), err)
		}
		if room == nil {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
		}
	}
}

// Report is what has become of the frames so far; it trails by moments.
func (p *Paced) Report() Report {
	r := p.pacer.report()
	r.Submitted, _ = p.backlog.counts()
	return r
}

// Close takes no more frames and waits until every one of them is settled, lost
// or unknown; if ctx ends first, those still open are counted as unknown, or as
// lost where it is certain that no mux took them. The error wraps ErrUnsettled
// unless all were settled, and the first thing that went wrong, if something
// did. Close may be called more than once.
func (p *Paced) Close(ctx context.Context) (Report, error) {
	p.backlog.close()
	p.closeOnce.Do(func() { close(p.closing) })
	select {
	case <-p.done:
	case <-ctx.Done():
		p.stop()
		select {
		case <-p.done:
		case <-time.After(closeGrace): // blocked by the socket; see Remote.Close
		}
	}
	r := p.Report()
	if r.Settled == r.Submitted {
		return r, nil
	}
	err := fmt.Errorf("close paced handle: %w: of %d frames %d are settled, %d lost, %d unknown",
		ErrUnsettled, r.Submitted, r.Settled, r.Lost, r.Unknown)
	return r, errors.Join(err, p.pacer.failure(), context.Cause(ctx))
}
