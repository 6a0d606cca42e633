package bus

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/muxd/mux"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// Refusals that are the bus's own.
var (
	errReply = errors.New("the reply subject is not under _INBOX.")
	errSize  = errors.New("payload too big")
)

// intakeLoop handles everything that comes in, and time, until ctx ends and
// everything is closed.
func (b *Bus) intakeLoop(ctx context.Context) {
	ticks := time.NewTicker(tickEvery)
	defer ticks.Stop()
	done, last := ctx.Done(), time.Now()
	for {
		select {
		case m := <-b.in:
			b.handle(m, time.Now())
			continue
		case <-done:
			done = nil
			b.stopIntake()
		case now := <-ticks.C:
			b.watch(last, now)
			last = now
			b.tick(now)
			if b.cfg.Alive != nil {
				b.cfg.Alive()
			}
		}
		if done == nil && len(b.in) == 0 && b.allClosed() {
			return
		}
	}
}

// handle routes a message by the subscription that brought it.
func (b *Bus) handle(m *nats.Msg, now time.Time) {
	switch m.Sub {
	case b.subs.submit:
		b.submission(m, now)
	case b.subs.settled:
		b.settled(m, now)
	case b.subs.repair:
		b.repairRequest(m, now)
	case b.subs.beat:
		b.otherBeat(m, now)
	}
}

// submission takes one in: P4.
func (b *Bus) submission(m *nats.Msg, now time.Time) {
	if m.Reply != "" && !strings.HasPrefix(m.Reply, inboxes) { // first: a refusal is an answer, too
		b.metrics.refused.WithLabelValues("reply").Inc()
		m.Reply = ""
	}
	node, channel, err := b.cfg.Space.ParseSubmit(m.Subject)
	if err != nil {
		b.refuse(m, err)
		return
	}
	run, seq, err := b.decode(channel, m)
	if err != nil {
		b.refuseFrames(m, node, seq, err)
		return
	}
	b.mu.Lock()
	s, err := b.open(node, now)
	b.mu.Unlock()
	switch {
	case errors.Is(err, mux.ErrYielded): // its own mux takes it, and answers
		b.metrics.refused.WithLabelValues(refusalOf(err)).Inc()
	case err != nil:
		b.refuse(m, b.explain(err))
	case seq != nil && m.Reply != "":
		ack, ok := m.Header[frame.HeaderAck]
		o := mux.Offer{Seq: *seq, Run: run, Reply: m.Reply, Committed: ok && len(ack) == 1 && ack[0] == frame.AckCommitted}
		b.verdicts = b.paced.Offer(s.mux, o, b.room, now, b.verdicts[:0])
		b.deliver(b.verdicts)
	default:
		b.take(s, m, run, seq, now)
	}
}

// refuseFrames refuses a submission that does not read. Where nobody else can
// see the loss it spends a position, if the node has a stream: what does not
// read opens none.
func (b *Bus) refuseFrames(m *nats.Msg, node subjects.Node, seq *frame.Seq, err error) {
	b.refuse(m, err)
	if m.Reply != "" || seq != nil {
		return
	}
	b.mu.Lock()
	open := b.nodes.Open(node)
	var s *stream
	if open != nil {
		s = b.streams[open.Stream()]
	}
	b.mu.Unlock()
	if s != nil && s.mux.Skip(1, mux.ReasonRefused) {
		b.mark(s)
	}
}

// decode reads a submission's headers and body. A Ds-Seq that reads well is
// returned with an error about the rest, too.
func (b *Bus) decode(c subjects.Channel, m *nats.Msg) (frame.Run, *frame.Seq, error) {
	var seq *frame.Seq
	text, ok, err := frame.Get(m.Header, frame.HeaderSeq)
	if err == nil && ok {
		var q frame.Seq
		if q, err = frame.ParseSeq(text); err == nil {
			seq = &q
		}
	}
	if err != nil {
		return frame.Run{}, nil, err
	}
	run, err := frame.DecodeSubmission(c, m.Header, m.Data)
	if err != nil {
		return frame.Run{}, seq, err
	}
	if run.Len() == 0 && seq == nil {
		return run, nil, errMark
	}
	for i := range run.Len() {
		if n := len(run.Payload(i)); n > b.maxFrame() {
			return run, seq, sizeError(n, b.maxFrame())
		}
	}
	return run, seq, nil
}

// take submits an unpaced run and answers if asked to.
func (b *Bus) take(s *stream, m *nats.Msg, run frame.Run, seq *frame.Seq, now time.Time) {
	if seq == nil {
		s.unnumbered = now
	} else if missing := b.producers.Heard(s.id, *seq, run.Len()); missing > 0 {
		s.mux.Skip(missing, mux.ReasonProducer)
		b.mark(s)
	}
	if run.Len() == 0 {
		return // a mark
	}
	t, ok := s.mux.Submit(run, false)
	if !ok {
		b.refuse(m, errClosed)
		return
	}
	b.metrics.submitted.Add(float64(t.Frames))
	b.mark(s)
	if m.Reply != "" {
		b.answerTaken(s, m, t)
	}
}

// deliver sends the answers of paced runs and queues what was taken.
func (b *Bus) deliver(verdicts []mux.Verdict) {
	for i, v := range verdicts {
		s := b.find(v.Mux.Stream())
		if v.Taken {
			b.pacedBuffered.Add(int64(v.Offer.Run.Cost()))
			b.metrics.submitted.Add(float64(v.Offer.Run.Len()))
			if s != nil {
				b.mark(s)
			}
		}
		if v.Offer.Committed && v.Answer.Error == "" && s != nil {
			b.await(s, v.Offer.Reply, v.Answer)
		} else {
			b.reply(v.Offer.Reply, v.Answer)
		}
		verdicts[i] = mux.Verdict{}
	}
}

func (b *Bus) find(id subjects.Stream) *stream {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.streams[id]
}

// settled takes note of how far ingest is: it frees the ring, answers those
// who wait for the commit, and makes room for paced runs.
func (b *Bus) settled(m *nats.Msg, now time.Time) {
	id, err := b.cfg.Space.ParseSettled(m.Subject)
	if err != nil {
		b.refuse(m, err)
		return
	}
	news, err := control.DecodeSettled(m.Data)
	if err != nil {
		b.refuse(m, err)
		return
	}
	b.mu.Lock()
	s := b.streams[id]
	if s == nil || news.Below < s.below || news.Below > s.mux.Counts().Assigned {
		b.mu.Unlock()
		return // another mux's life, an old announcement, or one beyond us
	}
	grown := news.Lost - min(news.Lost, s.lost)
	s.below, s.lost = news.Below, max(s.lost, news.Lost)
	b.ring.Settle(id, news.Below)
	b.mu.Unlock()
	b.answerSettled(s, news, grown)
	b.retryPaced(now)
}

func (b *Bus) retryPaced(now time.Time) {
	if b.paced.Waiting() > 0 {
		b.verdicts = b.paced.Retry(b.room, now, b.verdicts[:0])
		b.deliver(b.verdicts)
	}
}

// otherBeat looks for other muxes of our nodes.
func (b *Bus) otherBeat(m *nats.Msg, now time.Time) {
	id, err := b.cfg.Space.ParseBeat(m.Subject)
	if err != nil {
		b.refuse(m, err)
		return
	}
	beat, err := control.DecodeBeat(m.Data)
	if err != nil {
		b.refuse(m, err)
		return
	}
	if beat.Instance == b.instance {
		b.left = b.left || beat.Leaving
		return
	}
	if b.left {
		return // who serves the node now is no conflict
	}
	b.mu.Lock()
	conflicts := b.nodes.Conflicts()
	yielded := b.nodes.Beat(id, beat, now)
	conflict := b.nodes.Conflicts() > conflicts
	var s *stream
	if yielded != nil {
		s = b.streams[yielded.Stream()]
		b.retire(s, time.Time{})
	}
	b.mu.Unlock()
	if conflict {
		b.log.Warn().Str("node", subjects.EncodeNode(id.Node)).Stringer("life", id.Life).Bool("yielding", s != nil).
			Msg("another mux serves this node; what both took is committed twice, in two lives")
	}
	if s != nil {
		b.close(s)
	}
}

// close tells the paced side that a stream takes no more.
func (b *Bus) close(s *stream) {
	b.verdicts = b.paced.Forget(s.mux, b.verdicts[:0])
	b.deliver(b.verdicts)
	b.producers.Forget(s.id)
}
