package bus

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// drainLoop hands on what the muxes buffer, a slice of each stream in turn.
func (b *Bus) drainLoop(ctx context.Context) {
	p := newPublisher(b)
	var round []*stream
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		b.mu.Lock()
		round, b.dirty = b.dirty, round[:0]
		b.mu.Unlock()
		b.flush()
		for i, s := range round {
			round[i] = nil
			b.drain(p, s)
		}
	}
}

// drain publishes one slice of a stream and queues the stream again if there
// may be more.
func (b *Bus) drain(p *publisher, s *stream) {
	slice, ok := s.mux.Drain()
	if !ok {
		// Leave the queue, then look again: a submission between the two
		// found the stream still queued.
		s.queue.Store(false)
		if c := s.mux.Counts(); c.Drained < c.Assigned {
			b.mark(s)
		}
		return
	}
	paced := 0
	for _, c := range slice.Cuts {
		if c.Paced {
			paced += c.Run.Cost()
		}
	}
	b.mu.Lock()
	b.ring.Add(s.id, slice.From, slice.To, slice.Cuts)
	b.pacedBuffered.Add(-int64(paced))
	b.mu.Unlock()
	for _, c := range slice.Cuts {
		p.frames(s, c.Run)
	}
	b.mu.Lock()
	s.published = slice.To
	b.dirty = append(b.dirty, s)
	b.mu.Unlock()
	b.kick()
}

// maxSubjects bounds the subjects a publisher remembers; past it they are
// spelled anew.
const maxSubjects = 32768

// A publisher writes positioned runs; it reuses what it can and belongs to
// one goroutine.
type publisher struct {
	bus      *Bus
	subjects map[name]string
	msg      nats.Msg
	pos      []string
	run      []string
	header   nats.Header
}

// A name is a channel of a stream.
type name struct {
	stream  subjects.Stream
	channel subjects.Channel
}

func newPublisher(b *Bus) *publisher {
	p := &publisher{bus: b, subjects: make(map[name]string), pos: make([]string, 1), run: make([]string, 1), header: nats.Header{}}
	p.header[frame.HeaderPos] = p.pos
	p.msg.Header = p.header
	return p
}

// frames publishes a run. What fails stays in the ring: while disconnected
// that is what the ring is for (P5.2).
func (p *publisher) frames(s *stream, r frame.Run) {
	p.pos[0] = r.First().String()
	if h := r.Header(); h != "" {
		p.run[0] = h
		p.header[frame.HeaderRun] = p.run
	} else {
		delete(p.header, frame.HeaderRun)
	}
	p.msg.Subject = p.subject(name{s.id, r.Channel})
	p.msg.Data = r.Body()
	if err := p.bus.carrier.PublishMsg(&p.msg); err != nil {
		p.bus.publishFailed("frame", err)
		return
	}
	p.bus.metrics.published.Add(float64(r.Len()))
}

func (p *publisher) subject(n name) string {
	if s, ok := p.subjects[n]; ok {
		return s
	}
	if len(p.subjects) == maxSubjects {
		clear(p.subjects)
	}
	s := p.bus.cfg.Space.Frame(n.stream, n.channel)
	// The channel is part of the message it came in, which must not stay.
	n.channel = subjects.Channel(strings.Clone(string(n.channel)))
	p.subjects[n] = s
	return s
}

// flush publishes the outbox.
func (b *Bus) flush() {
	b.mu.Lock()
	out := b.outbox
	b.outbox = nil
	b.mu.Unlock()
	for _, m := range out {
		if err := b.carrier.PublishMsg(m); err != nil {
			b.publishFailed("beat", err)
		}
	}
}

// publishFailed counts; while disconnected failing is the expected course.
func (b *Bus) publishFailed(what string, err error) {
	b.metrics.unsent.WithLabelValues(what).Inc()
	if b.nc.IsConnected() && !errors.Is(err, nats.ErrReconnectBufExceeded) {
		b.log.Warn().Err(err).Str("what", what).Msg("publishing")
	}
}
