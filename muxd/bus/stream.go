package bus

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/muxd/mux"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// A stream is what the bus keeps beside a Mux. Its fields are guarded by the
// bus's mutex unless they say otherwise.
type stream struct {
	mux   *mux.Mux
	id    subjects.Stream
	queue atomic.Bool // stands in Bus.dirty

	published subjects.Position // below it everything drained was handed to the connection
	below     subjects.Position // settled below, as ingest says
	lost      uint64            // given up below it, as ingest says

	beat    control.Beat // the last one sent
	beatAt  time.Time
	closing bool
	closeBy time.Time

	unnumbered time.Time       // the last submission without Ds-Seq (intake loop only)
	waits      []wait          // Ds-Ack: committed, in ascending positions (intake loop only)
	gone       []control.Range // lately given up (intake loop only)
}

// open returns the stream of a node, and makes it if need be, with its beat.
// The caller holds the mutex.
func (b *Bus) open(node subjects.Node, now time.Time) (*stream, error) {
	if b.stopping {
		return nil, errClosed
	}
	m, born, err := b.nodes.Mux(node, now)
	if err != nil {
		return nil, err
	}
	if s := b.streams[m.Stream()]; s != nil && !born {
		return s, nil
	}
	return b.adopt(m, now), nil
}

// adopt makes the bus's part of a new mux and sends the birth beat. The
// caller holds the mutex.
func (b *Bus) adopt(m *mux.Mux, now time.Time) *stream {
	s := &stream{mux: m, id: m.Stream()}
	b.streams[s.id] = s
	b.log.Info().Str("node", subjects.EncodeNode(s.id.Node)).Stringer("life", s.id.Life).Msg("a life begins")
	b.sendBeat(s, now)
	// Later beats are spread over the second, so that ten thousand streams
	// born together do not beat together.
	s.beatAt = now.Add(-rand.N(beatChanging))
	return s
}

// mark puts a stream in the drain loop's queue.
func (b *Bus) mark(s *stream) {
	if s.queue.Swap(true) {
		return
	}
	b.mu.Lock()
	b.dirty = append(b.dirty, s)
	b.mu.Unlock()
	b.kick()
}

func (b *Bus) kick() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Submit takes a run of a producer in the same program and reports whether a
// stream took positions for it. It keeps r and never waits. It makes the Bus
// the sink of an in-process handle.
func (b *Bus) Submit(node subjects.Node, r frame.Run) bool {
	for range 2 { // a stream may be closed between open and Submit: then a new one is
		b.mu.Lock()
		s, err := b.open(node, time.Now())
		b.mu.Unlock()
		if err != nil {
			b.metrics.refused.WithLabelValues(refusalOf(err)).Inc()
			return false
		}
		if _, ok := s.mux.Submit(r, false); ok {
			b.mark(s)
			return true
		}
	}
	return false
}

// beatNow is the stream's beat at this moment. The caller holds the mutex.
func (b *Bus) beatNow(s *stream) control.Beat {
	c := s.mux.Counts()
	return control.Beat{
		Assigned: c.Assigned,
		Drained:  s.published,
		Dropped:  c.Lost(),
		Oldest:   min(b.ring.Oldest(s.id), s.published),
		Below:    s.below,
		Leaving:  b.leaving,
		Gateway:  b.cfg.Node == "",
		Instance: b.instance,
	}
}

// sendBeat puts the stream's beat in the outbox. The caller holds the mutex.
func (b *Bus) sendBeat(s *stream, now time.Time) {
	s.beat, s.beatAt = b.beatNow(s), now
	b.post(s, s.beat)
}

// post puts a beat in the outbox, which the drain loop empties before it
// publishes frames: a birth beat goes before its stream's first frame. The
// caller holds the mutex, under which nothing may wait for the connection.
func (b *Bus) post(s *stream, beat control.Beat) {
	b.outbox = append(b.outbox, &nats.Msg{Subject: b.cfg.Space.Beat(s.id), Data: beat.Encode()})
	b.kick()
}

// beats sends the beats that are due: each second while something changes,
// else every ten. The caller holds the mutex.
func (b *Bus) beats(now time.Time) {
	for _, s := range b.streams {
		if now.Sub(s.beatAt) < beatChanging {
			continue
		}
		if now.Sub(s.beatAt) >= beatIdle || b.beatNow(s) != s.beat {
			b.sendBeat(s, now)
		}
	}
}

// retire begins to close a stream: no more positions; what is buffered is
// drained, and settled waited for: until by, or with a zero by as long as it
// takes, for what was taken must not be lost with the stream. The caller holds
// the mutex.
func (b *Bus) retire(s *stream, by time.Time) {
	if s.closing {
		s.closeBy = by
		return
	}
	s.mux.Close()
	s.closing, s.closeBy = true, by
	if !s.queue.Swap(true) {
		b.dirty = append(b.dirty, s)
	}
	b.kick()
}

// finish ends the closing streams that are settled or out of time, with
// their closing beats, and returns them. The caller holds the mutex.
func (b *Bus) finish(now time.Time) (ended []*stream) {
	for id, s := range b.streams {
		if !s.closing || s.queue.Load() {
			continue
		}
		settled := s.below >= s.mux.Counts().Assigned
		if !settled && (s.closeBy.IsZero() || now.Before(s.closeBy)) {
			continue
		}
		last := b.beatNow(s)
		last.Closed = true
		b.post(s, last)
		b.ring.Close(id)
		b.nodes.Remove(id)
		delete(b.streams, id)
		b.ended.add(s.mux.Counts())
		ended = append(ended, s)
		b.log.Info().Str("node", subjects.EncodeNode(id.Node)).Stringer("life", id.Life).
			Uint64("assigned", uint64(last.Assigned)).Uint64("settled", uint64(last.Below)).Msg("a life ends")
	}
	return ended
}
