package intake

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/ingestd/ledger"
	"datastream/ingestd/reorder"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// A stream is the route loop's view of one life.
type stream struct {
	id      subjects.Stream
	account *ledger.Account
	window  *reorder.Window
	waiting int // the window's share of Intake.waiting

	touched   bool // got frames since the window was last asked
	active    bool // stands in Intake.active
	due       time.Time
	announced time.Time // of the last settled announcement
	asking    bool      // a repair request is out
	shared    bool      // another writer committed some of it
	forgotten bool      // its account counts for nothing any more
}

// routeLoop handles everything that comes in until ctx ends and what has
// arrived is committed, or the store is another one.
func (in *Intake) routeLoop(ctx context.Context) error {
	timer := time.NewTimer(housekeeping)
	defer timer.Stop()
	var batch []*nats.Msg
	var touched []*stream
	done := ctx.Done()
	var stopBy time.Time
	for {
		select {
		case <-in.inbox.ready:
			batch = in.inbox.take(batch)
			in.mu.Lock()
			touched = in.handleAll(batch, touched[:0])
		case o := <-in.outcomes:
			in.mu.Lock()
			in.finished(o)
		case <-in.resumed:
			in.mu.Lock()
			in.ledger.Resume(time.Now())
		case <-done:
			done, stopBy = nil, time.Now().Add(in.cfg.StopWait)
			in.stopIntake()
			in.mu.Lock()
			touched = in.handleAll(in.inbox.take(nil), touched[:0])
			in.forceAll()
		case <-timer.C:
			in.mu.Lock()
		}
		in.cfg.Alive()
		next := in.keepHouse(time.Now(), touched)
		touched = touched[:0]
		in.commitNext()
		idle := in.inflight == nil && in.queue.empty()
		void := in.void
		in.mu.Unlock()
		if void != nil {
			in.unsubscribe(in.subs.frames, in.subs.beats)
			return void
		}
		if done == nil && (idle || time.Now().After(stopBy)) {
			in.announceAll()
			return nil
		}
		timer.Reset(next)
	}
}

// handleAll handles messages in their order and collects the streams whose
// windows got something. An inbox may hold far more than windows and a commit
// do, and take long: in between, what may go on goes on.
func (in *Intake) handleAll(msgs []*nats.Msg, touched []*stream) []*stream {
	now := time.Now()
	size := 0
	for i, m := range msgs {
		if size += len(m.Data); size > breath {
			touched = in.breathe(touched)
			now, size = time.Now(), 0
		}
		var s *stream
		switch m.Sub {
		case in.subs.frames:
			s = in.frames(m, now)
		case in.subs.beats:
			s = in.beat(m, now)
		case in.subs.answers:
			s = in.answer(m, now)
		}
		if s != nil && !s.touched {
			s.touched = true
			touched = append(touched, s)
		}
		msgs[i] = nil
	}
	return touched
}

// breathe lets the windows advance into the queue, asks for holes and keeps
// commits going, while more of the inbox is to be looked at.
func (in *Intake) breathe(touched []*stream) []*stream {
	now := time.Now()
	in.advanceAll(touched, now)
	for _, s := range touched {
		in.ask(s, now)
	}
	select {
	case o := <-in.outcomes:
		in.finished(o)
	default:
	}
	if in.void == nil {
		in.commitNext()
	}
	return touched[:0]
}

// frames takes a run in: P7.1, P7.2.
func (in *Intake) frames(m *nats.Msg, now time.Time) *stream {
	id, channel, err := in.cfg.Space.ParseFrame(m.Subject)
	if err != nil {
		return in.refuse(m, err)
	}
	run, err := frame.Decode(channel, m.Header, m.Data)
	if err != nil {
		return in.refuse(m, err)
	}
	account := in.ledger.Find(id)
	if account == nil {
		in.refuseFrames(id, run.Len(), now)
		return nil
	}
	s := in.open(account)
	if in.queue.bytes+in.waiting+in.pushed+run.Cost() > in.cfg.QueueBytes+in.cfg.WindowBytes {
		in.metrics.dropped.WithLabelValues("queue").Add(float64(run.Len()))
		return nil // has not arrived: a hole that repair may heal
	}
	in.pushed += run.Cost()
	fresh, duplicates := account.Arrive(run, nil)
	in.metrics.arrived.Add(float64(run.Len()))
	in.metrics.duplicates.Add(float64(duplicates))
	for _, r := range fresh {
		s.window.Push(r, now)
	}
	return s
}

// open returns the loop's view of an account.
func (in *Intake) open(a *ledger.Account) *stream {
	if s := in.streams[a.Stream()]; s != nil {
		return s
	}
	s := &stream{id: a.Stream(), account: a, window: reorder.New(a.Next(), in.cfg.Window)}
	in.streams[s.id] = s
	return s
}

func (in *Intake) refuse(m *nats.Msg, err error) *stream {
	word := "other"
	for _, x := range []struct {
		err  error
		word string
	}{
		{subjects.ErrForeign, "foreign"}, {subjects.ErrCanonical, "foreign"}, {subjects.ErrLife, "foreign"}, {subjects.ErrName, "foreign"},
		{frame.ErrRun, "run"}, {frame.ErrHeader, "header"}, {control.ErrMessage, "control"},
	} {
		if errors.Is(err, x.err) {
			word = x.word
			break
		}
	}
	in.metrics.refused.WithLabelValues(word).Inc()
	in.log.Debug().Err(err).Str("subject", m.Subject).Msg("refused")
	return nil
}

// keepHouse moves what may go on into the queue, asks for what is missing and
// announces what is settled; it says how long the loop may sleep.
func (in *Intake) keepHouse(now time.Time, touched []*stream) time.Duration {
	in.awake(now)
	in.advanceAll(touched, now)
	in.lookAtLives(now)
	next := now.Add(housekeeping)
	kept := in.active[:0]
	for _, s := range in.active {
		if !s.due.After(now) && !s.forgotten {
			in.attend(s, now)
		}
		if s.due.IsZero() || s.forgotten {
			s.active = false
			continue
		}
		if s.due.Before(next) {
			next = s.due
		}
		kept = append(kept, s)
	}
	clear(in.active[len(kept):])
	in.active = kept
	in.expireRequests(now)
	return max(next.Sub(now), 0)
}

// advanceAll moves what may go on into the queue.
func (in *Intake) advanceAll(touched []*stream, now time.Time) {
	for _, s := range touched {
		s.touched = false
		in.advance(s, now)
		in.activate(s)
	}
	in.pushed = 0
	in.boundWindows()
}

func (in *Intake) activate(s *stream) {
	s.due = time.Unix(0, 1) // look at once
	if !s.active {
		s.active = true
		in.active = append(in.active, s)
	}
}

// attend does what is due for one stream and says when to look again: a zero
// due is never, unless something comes in.
func (in *Intake) attend(s *stream, now time.Time) {
	if in.nc.IsConnected() { // silence without a connection is no mux's fault
		s.account.Tick(now)
	}
	for _, r := range s.account.TakeGone() {
		s.window.Pass(r)
	}
	in.advance(s, now)
	in.ask(s, now)
	s.due = time.Time{}
	in.announce(s, now)
	soonest := func(t time.Time) {
		if s.due.IsZero() || t.Before(s.due) {
			s.due = t
		}
	}
	if t, ok := s.window.Deadline(); ok {
		soonest(t)
	}
	if t, ok := s.account.Due(); ok {
		soonest(t)
	}
}

// advance moves what the window lets go into the queue.
func (in *Intake) advance(s *stream, now time.Time) {
	var ready, late []frame.Run
	ready, late = s.window.Ready(now, in.queue.ready[:0], in.queue.late[:0])
	in.queue.push(s, ready, late)
	in.queue.ready, in.queue.late = ready[:0], late[:0]
	in.account(s)
}

// account brings the sum over all windows up to date.
func (in *Intake) account(s *stream) {
	w := s.window.Waiting()
	in.waiting += w - s.waiting
	s.waiting = w
}

// boundWindows lets the fullest window go on while all together hold too
// much; its holes stay open (P7.1).
func (in *Intake) boundWindows() {
	for in.waiting > in.cfg.WindowBytes {
		var fullest *stream
		for _, s := range in.streams {
			if fullest == nil || s.waiting > fullest.waiting {
				fullest = s
			}
		}
		if fullest == nil || fullest.waiting == 0 {
			return
		}
		in.metrics.forced.Inc()
		in.force(fullest)
	}
}

func (in *Intake) force(s *stream) {
	in.queue.push(s, s.window.Force(in.queue.ready[:0]), nil)
	in.account(s)
}

func (in *Intake) forceAll() {
	for _, s := range in.streams {
		in.advance(s, time.Now())
		in.force(s)
	}
}

// stopIntake ends the stream of messages; what the server has sent before it
// heard of that is taken in: drained, a subscription lives until then.
func (in *Intake) stopIntake() {
	if !in.nc.IsConnected() {
		in.unsubscribe(in.subs.frames, in.subs.beats)
	} else if err := errors.Join(in.subs.frames.Drain(), in.subs.beats.Drain(), in.nc.FlushTimeout(in.cfg.StopWait)); err != nil {
		in.log.Warn().Err(err).Msg("flushing at the end of intake")
	}
	in.inbox.pass(in.relay)
}
