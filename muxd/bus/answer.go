package bus

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"

	"datastream/muxd/mux"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

var (
	errMark = errors.New("a mark (empty Ds-Run) needs a Ds-Seq")
	// errClosed: the stream is closing; a handle sends it again.
	errClosed = errors.New(control.ErrorClosed)
)

func sizeError(n, limit int) error {
	return fmt.Errorf("%w: %d bytes, at most %d are allowed; split it, or store it elsewhere and submit a reference", errSize, n, limit)
}

func (b *Bus) maxFrame() int { return orDefault(b.cfg.Mux.MaxFrame, frame.MaxPayload) }

// refuse counts a message that cannot be taken, by reason, and says so to
// whoever asked for an answer.
func (b *Bus) refuse(m *nats.Msg, err error) {
	b.metrics.refused.WithLabelValues(refusalOf(err)).Inc()
	b.log.Debug().Err(err).Str("subject", m.Subject).Msg("refused")
	if m.Sub == b.subs.submit && m.Reply != "" {
		b.reply(m.Reply, control.Answer{Error: err.Error()})
	}
}

// explain says which bound was reached, and what to do.
func (b *Bus) explain(err error) error {
	if errors.Is(err, mux.ErrStreams) {
		return fmt.Errorf("%w: %d nodes are served at most; give busy nodes a mux of their own, or raise --streams", err, orDefault(b.cfg.Streams, mux.DefaultStreams))
	}
	return err
}

// refusalOf is the metric's word for an error.
func refusalOf(err error) string {
	for _, x := range []struct {
		err  error
		word string
	}{
		{subjects.ErrForeign, "foreign"}, {subjects.ErrCanonical, "foreign"}, {subjects.ErrLife, "foreign"},
		{subjects.ErrName, "name"}, {frame.ErrRun, "run"}, {frame.ErrHeader, "header"}, {errMark, "header"},
		{control.ErrMessage, "control"}, {errReply, "reply"}, {errSize, "too_big"}, {errClosed, "closed"},
		{mux.ErrStreams, "streams"}, {mux.ErrYielded, "yielded"}, {mux.ErrForeign, "node"},
	} {
		if errors.Is(err, x.err) {
			return x.word
		}
	}
	return "other"
}

// A wait is a submission whose answer waits for the commit.
type wait struct {
	reply       string
	first, last subjects.Position
	count       int
	lost        bool
}

// answerTaken answers an unpaced submission: at once, or with Ds-Ack:
// committed when it is settled (P4.4).
func (b *Bus) answerTaken(s *stream, m *nats.Msg, t mux.Taken) {
	a := b.taken(s, t.First, t.Kept)
	if t.Kept < t.Frames {
		a.Error = fmt.Sprintf("%d of %d frames were dropped: the mux's buffer or channel bound is reached; they are a gap", t.Frames-t.Kept, t.Frames)
	}
	ack, _, err := frame.Get(m.Header, frame.HeaderAck)
	switch {
	case err != nil || (ack != "" && ack != frame.AckCommitted):
		a.Error = fmt.Sprintf("taken, but %s %q is not understood; say %q", frame.HeaderAck, ack, frame.AckCommitted)
	case ack == "" || a.Error != "":
	default:
		b.await(s, m.Reply, a)
		return
	}
	b.reply(m.Reply, a)
}

// maxGone bounds the ranges given up that a stream remembers: a run sent twice
// comes soon.
const maxGone = 1024

// hasGone reports whether some of the positions are known to be given up.
func (s *stream) hasGone(first, last subjects.Position) bool {
	return slices.ContainsFunc(s.gone, func(g control.Range) bool { return g.From <= last && g.To >= first })
}

// await keeps an answer until settled has passed its frames. One that it has
// passed already, of a paced run sent twice, goes at once.
func (b *Bus) await(s *stream, to string, a control.Answer) {
	last := a.Position + subjects.Position(a.Count-1)
	switch {
	case last < s.below && s.hasGone(a.Position, last):
		a.Error = control.ErrorLost
	case last < s.below:
	case b.waits >= maxWaits:
		a.Error = fmt.Sprintf("taken, but %d submissions already wait for their commit; send fewer at a time", maxWaits)
	default:
		b.waits++
		w := wait{reply: to, first: a.Position, last: last, count: a.Count}
		at := len(s.waits)
		for at > 0 && s.waits[at-1].last > last { // only a run sent twice lies below
			at--
		}
		s.waits = slices.Insert(s.waits, at, w)
		return
	}
	b.reply(to, a)
}

func (b *Bus) taken(s *stream, first subjects.Position, count int) control.Answer {
	return control.Answer{Node: subjects.EncodeNode(s.id.Node), Life: s.id.Life, Position: first, Count: count}
}

// answerSettled answers those whose frames settled has passed. What was lost
// is known from the ranges given up; when those do not explain the growth of
// lost, whether a frame is among them is not known, and said.
func (b *Bus) answerSettled(s *stream, news control.Settled, grown uint64) {
	s.gone = append(s.gone, news.Gone...)
	if n := len(s.gone) - maxGone; n > 0 {
		s.gone = append(s.gone[:0], s.gone[n:]...)
	}
	explained := uint64(0)
	for _, g := range news.Gone {
		explained += g.Len()
		for i := range s.waits {
			if w := &s.waits[i]; g.From <= w.last && g.To >= w.first {
				w.lost = true
			}
		}
	}
	n := 0
	for n < len(s.waits) && s.waits[n].last < news.Below {
		w := s.waits[n]
		a := b.taken(s, w.first, w.count)
		switch {
		case w.lost:
			a.Error = control.ErrorLost
		case explained < grown:
			a.Error = "settled, but an announcement of losses was missed: it may be lost"
		}
		b.reply(w.reply, a)
		n++
	}
	b.dropWaits(s, n)
}

// abandonWaits answers those who wait on a stream that has ended.
func (b *Bus) abandonWaits(s *stream) {
	for _, w := range s.waits {
		a := b.taken(s, w.first, w.count)
		a.Error = "unknown: the mux closed the stream before its commit was heard of"
		b.reply(w.reply, a)
	}
	b.dropWaits(s, len(s.waits))
}

func (b *Bus) dropWaits(s *stream, n int) {
	b.waits -= n
	s.waits = append(s.waits[:0], s.waits[n:]...)
}

func (b *Bus) reply(to string, a control.Answer) {
	if err := b.nc.PublishMsg(&nats.Msg{Subject: to, Data: a.Encode()}); err != nil {
		b.publishFailed("answer", err)
	}
}
