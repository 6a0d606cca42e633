package intake

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"datastream/ingestd/store"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

const (
	// backoffMin is the first wait after a failed commit; it doubles up to
	// Config.Backoff.
	backoffMin = 20 * time.Millisecond
	// storedChunk is how many stored messages a resync hands over at a time.
	storedChunk = 512
	// refusalsMax is how often a commit may be refused for an unknown reason.
	refusalsMax = 5
)

// A job is one commit, or with resync a look at the store's tail.
type job struct {
	msgs    []store.Message
	streams []*stream // of each message
	each    bool      // pipelined singles, each a commit of its own
	resync  bool
	wait    time.Duration // before it begins
}

// An outcome is what became of a job: the first n messages are committed. A
// resync hands over what it finds in several outcomes; the last is not more.
type outcome struct {
	n      int
	err    error
	stored []store.Stored
	more   bool
	took   time.Duration
}

// commitLoop does one job after the other until ctx ends.
func (in *Intake) commitLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-in.jobs:
			o := in.do(ctx, j)
			select {
			case in.outcomes <- o:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (in *Intake) do(ctx context.Context, j job) outcome {
	if j.wait > 0 {
		select {
		case <-time.After(j.wait):
		case <-ctx.Done():
			return outcome{err: ctx.Err()}
		}
	}
	start := time.Now()
	var o outcome
	switch {
	case j.resync:
		o = in.resync(ctx)
	case j.each:
		o.n, o.err = in.writer.CommitEach(ctx, in.cfg.Clock().UnixNano(), j.msgs)
	default:
		if o.err = in.writer.Commit(ctx, in.cfg.Clock().UnixNano(), j.msgs); o.err == nil {
			o.n = len(j.msgs)
		}
	}
	o.took = time.Since(start)
	return o
}

func (in *Intake) resync(ctx context.Context) outcome {
	var chunk []store.Stored
	err := in.writer.Resync(ctx, func(m store.Stored) error {
		chunk = append(chunk, m)
		if len(chunk) < storedChunk {
			return nil
		}
		select {
		case in.outcomes <- outcome{stored: chunk, more: true}:
			chunk = nil
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return outcome{stored: chunk, err: err}
}

// commitNext sends the next job if none is out.
func (in *Intake) commitNext() {
	if in.inflight != nil {
		return
	}
	if in.queue.empty() {
		in.unshare()
		return
	}
	j := in.queue.next(&in.batch, min(in.cfg.BatchMessages, in.writer.Limit()), in.cfg.BatchBytes)
	if len(j.msgs) == 0 {
		return // another writer has committed all of it
	}
	// Until a commit has come through again, all or nothing: a delayed single
	// could pass its fence between two of ours and carry an older instant.
	j.each = in.failing == nil && len(j.msgs) <= in.cfg.Singles && !overlap(j.msgs)
	in.send(j)
}

// unshare ends the second look at streams that another writer wrote to, or an
// unclear commit of ours: nothing that had arrived by then waits any more, and
// what arrives later is known to be stored or not.
func (in *Intake) unshare() {
	kept := in.sharing[:0]
	for _, s := range in.sharing {
		if s.shared = s.window.Waiting() > 0; s.shared {
			kept = append(kept, s)
		}
	}
	clear(in.sharing[len(kept):])
	in.sharing = kept
}

func (in *Intake) send(j job) {
	in.inflight = &j
	in.jobs <- j // its buffer is free: no job is out
}

// overlap reports whether two messages of a stream overlap in positions: then
// they must be one commit (P7.3).
func overlap(msgs []store.Message) bool {
	for i, a := range msgs {
		for _, b := range msgs[i+1:] {
			if a.Stream == b.Stream && a.Run.First() <= b.Run.Last() && b.Run.First() <= a.Run.Last() {
				return true
			}
		}
	}
	return false
}

// finished takes an outcome in.
func (in *Intake) finished(o outcome) {
	j := in.inflight
	for _, m := range o.stored {
		in.alreadyStored(m)
	}
	if o.more {
		return
	}
	in.inflight = nil
	for i, m := range j.msgs[:o.n] {
		in.committed(j.streams[i], m.Run)
	}
	switch {
	case o.err != nil:
		in.failed(j, o)
	case j.resync:
		in.again(j)
	default:
		in.metrics.observe(j, o.took)
		in.works()
	}
}

func (in *Intake) committed(s *stream, r frame.Run) {
	s.account.Commit(r)
	in.metrics.committed.Add(float64(r.Len()))
	in.activate(s)
}

// alreadyStored takes note of a message that resync found: one of ours that
// landed after all, or another writer's.
func (in *Intake) alreadyStored(m store.Stored) {
	a := in.ledger.Restore(m.Stream, time.Now())
	in.letGo()
	if a == nil { // more lives than the ledger holds: its frames are refused
		return
	}
	a.Commit(m.Run)
	s := in.open(a)
	if !s.shared { // its frames may wait here, too
		s.shared = true
		in.sharing = append(in.sharing, s)
	}
	for i := 0; i < m.Run.Len(); {
		n := m.Run.Consecutive(i)
		s.window.Pass(control.Range{From: m.Run.Pos(i), To: m.Run.Pos(i + n - 1)})
		i += n
	}
	in.activate(s)
}

// failed keeps what was not committed and looks at the store's tail before
// anything else is written (P7.4).
func (in *Intake) failed(j *job, o outcome) {
	next := job{resync: true, msgs: j.msgs[o.n:], streams: j.streams[o.n:]}
	if !errors.Is(o.err, store.ErrFence) {
		in.backoff = min(max(2*in.backoff, backoffMin), in.cfg.Backoff)
		next.wait = in.backoff
	}
	in.metrics.failures.WithLabelValues(reasonOf(o.err)).Inc()
	if errors.Is(o.err, store.ErrRecreated) {
		in.void = o.err
		return
	}
	if errors.Is(o.err, store.ErrMessage) {
		in.unstorable(next)
		return
	}
	if !j.resync && refused(o.err) {
		in.refusals++
	}
	if in.failing == nil || in.failing.Error() != o.err.Error() {
		in.log.Warn().Err(o.err).Int("messages", len(next.msgs)).Msg("a commit is unclear or failed; reading the store's tail, nothing is given up meanwhile")
	}
	in.failing = o.err
	in.ledger.Hold(true, time.Now())
	in.cfg.State(o.err)
	in.send(next)
}

// unstorable finds the message that the store can never hold, by putting each
// back to go alone; its frames are given up, for everything else would wait
// behind it.
func (in *Intake) unstorable(j job) {
	if len(j.msgs) == 1 {
		r, s := j.msgs[0].Run, j.streams[0]
		in.log.Error().Stringer("stream", s.id).Stringer("position", r.First()).Int("frames", r.Len()).
			Msg("the store can never hold this message; its frames are given up")
		in.metrics.dropped.WithLabelValues("unstorable").Add(float64(r.Len()))
		s.account.Refuse(r)
		in.activate(s)
		return
	}
	items := make([]item, len(j.msgs))
	for i, m := range j.msgs {
		items[i] = item{stream: j.streams[i], run: m.Run, late: true, alone: true}
	}
	in.queue.unread(items)
}

// again puts the frames that resync did not find back to the front. A message
// that was refused alone, again and again and for seconds, is given up.
func (in *Intake) again(j *job) {
	if in.refusals >= 2*refusalsMax && len(j.msgs) == 1 && len(j.streams[0].account.Uncommitted(j.msgs[0].Run, nil)) > 0 {
		in.refusals = 0
		in.unstorable(*j)
		return
	}
	var items []item
	for i, m := range j.msgs {
		s := j.streams[i]
		for _, r := range s.account.Uncommitted(m.Run, nil) {
			items = append(items, item{stream: s, run: r, late: true, alone: in.refusals >= refusalsMax})
		}
	}
	in.queue.unread(items)
	if in.queue.empty() {
		in.works()
	}
}

// works is what a commit that came through says.
func (in *Intake) works() {
	in.refusals, in.backoff = 0, 0
	if in.failing == nil {
		return
	}
	in.log.Info().Msg("commits work again")
	in.failing = nil
	in.ledger.Hold(false, time.Now())
	for _, s := range in.streams { // what was not given up meanwhile
		in.activate(s)
	}
	in.cfg.State(nil)
}

// refused reports whether the server said no for a reason that nobody here
// knows to pass with time. Then one message may be at fault, and everything
// else must not wait behind it for ever: after some refusals each goes alone,
// and one that is refused alone as often is given up.
func refused(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && reasonOf(err) == "other"
}

func reasonOf(err error) string {
	switch {
	case errors.Is(err, store.ErrUnclear):
		return "unclear"
	case errors.Is(err, store.ErrFence):
		return "fence"
	case errors.Is(err, store.ErrFull):
		return "full"
	case errors.Is(err, store.ErrNoStream), errors.Is(err, store.ErrRecreated):
		return "no_stream"
	}
	return "other"
}
