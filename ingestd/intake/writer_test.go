package intake

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"datastream/ingestd/store"
	"datastream/subjects"
	"datastream/subjects/frame"
)

// A reply is what the scripted writer does with one commit.
type reply struct {
	err    error
	landed int                                // messages that are stored all the same
	before func(*scripted)                    // what else happens first, as another writer's commit
	resync error                              // of the Resync that follows, once
	also   func(msgs []store.Message) (n int) // how many of CommitEach are known to be committed; nil is none
}

// A scripted writer keeps what is committed in memory, does what the test has
// planned, and holds the intake to the promises that a store relies on.
type scripted struct {
	t     *testing.T
	gate  chan struct{} // a commit waits for one; nil is none
	entry chan struct{} // a commit has begun; nil is none
	limit int

	mu      sync.Mutex
	plan    []reply
	always  error // of every commit, until it is nil
	dirty   bool  // Resync must come next
	seq     uint64
	known   int // of stored, that Resync has handed over or that was acknowledged
	stored  []store.Stored
	commits [][]store.Message // acknowledged or landed, in order
	each    int               // of the commits, singles
	resyncs int
	resync  error
	payload map[subjects.Stream]map[subjects.Position]string
}

func newScripted(t *testing.T) *scripted {
	return &scripted{t: t, limit: 1000, payload: map[subjects.Stream]map[subjects.Position]string{}}
}

// Limit implements Writer.
func (w *scripted) Limit() int { return w.limit }

// Commit implements Writer.
func (w *scripted) Commit(ctx context.Context, _ int64, msgs []store.Message) error {
	_, err := w.commit(ctx, msgs, false)
	return err
}

// CommitEach implements Writer.
func (w *scripted) CommitEach(ctx context.Context, _ int64, msgs []store.Message) (int, error) {
	if len(msgs) > store.EachMessages {
		w.t.Errorf("%d messages as singles", len(msgs))
	}
	return w.commit(ctx, msgs, true)
}

func (w *scripted) commit(ctx context.Context, msgs []store.Message, each bool) (int, error) {
	if w.entry != nil {
		w.entry <- struct{}{}
	}
	if w.gate != nil {
		select {
		case <-w.gate:
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: %w", store.ErrUnclear, ctx.Err())
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirty {
		w.t.Error("something was written before the tail was read")
		return 0, store.ErrResync
	}
	for _, m := range msgs { // as the real one: nothing was sent
		if bytes.Contains(m.Run.Body(), []byte("poison")) {
			return 0, fmt.Errorf("%w: it is poison", store.ErrMessage)
		}
	}
	for _, m := range msgs { // a refusal that nobody knows the reason of
		if bytes.Contains(m.Run.Body(), []byte("disliked")) {
			w.dirty = true
			return 0, fmt.Errorf("scripted: %w", &jetstream.APIError{Code: 400, ErrorCode: 19999, Description: "no"})
		}
	}
	r := reply{landed: len(msgs), err: w.always}
	if r.err != nil {
		r.landed = 0
	} else if len(w.plan) > 0 {
		r, w.plan = w.plan[0], w.plan[1:]
		if r.err == nil {
			r.landed = len(msgs)
		}
	}
	if r.before != nil {
		r.before(w)
	}
	landed := min(r.landed, len(msgs))
	if !each && landed > 0 {
		landed = len(msgs) // all or nothing
	}
	w.store(msgs[:landed], each)
	if r.err == nil {
		w.known = len(w.stored)
		return len(msgs), nil
	}
	w.dirty, w.resync = true, r.resync
	n := 0
	if each && r.also != nil {
		n = r.also(msgs)
		w.known += n
	}
	return n, fmt.Errorf("scripted: %w", r.err)
}

// store stores messages as one commit, or each as its own.
func (w *scripted) store(msgs []store.Message, each bool) {
	for i, m := range msgs {
		w.seq++
		w.stored = append(w.stored, store.Stored{Seq: w.seq, Stream: m.Stream, Run: m.Run})
		if each {
			w.commits = append(w.commits, msgs[i:i+1])
			w.each++
		}
		at := w.payload[m.Stream]
		if at == nil {
			at = map[subjects.Position]string{}
			w.payload[m.Stream] = at
		}
		for k := range m.Run.Len() {
			if old, ok := at[m.Run.Pos(k)]; ok {
				w.t.Errorf("position %d is committed twice: %q, then %q", m.Run.Pos(k), old, m.Run.Payload(k))
				continue
			}
			at[m.Run.Pos(k)] = string(m.Run.Payload(k))
		}
	}
	if !each && len(msgs) > 0 {
		w.commits = append(w.commits, msgs)
	}
}

// Resync implements Writer.
func (w *scripted) Resync(_ context.Context, fn func(store.Stored) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resyncs++
	if err := w.resync; err != nil {
		w.resync = nil
		return fmt.Errorf("scripted: %w", err)
	}
	tail := w.stored[w.known:]
	w.known = len(w.stored)
	w.mu.Unlock() // fn waits for the route loop, which may be looking at us
	defer w.mu.Lock()
	for _, m := range tail {
		if err := fn(m); err != nil {
			return err
		}
	}
	w.mu.Lock()
	w.dirty = false
	w.mu.Unlock()
	return nil
}

// set changes the script while the intake runs.
func (w *scripted) set(change func(w *scripted)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

// count is how many positions of a stream are committed.
func (w *scripted) count(id subjects.Stream) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.payload[id])
}

func (w *scripted) payloads(id subjects.Stream) map[subjects.Position]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[subjects.Position]string{}
	for p, v := range w.payload[id] {
		out[p] = v
	}
	return out
}

// all is every commit so far.
func (w *scripted) all() [][]store.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([][]store.Message(nil), w.commits...)
}

// ascending holds the commits to promise 2 and says how many messages are
// late: each lies above the stream's earlier commits, or below and apart.
func (w *scripted) ascending() (late int) {
	top := map[subjects.Stream]subjects.Position{} // one past the highest
	for _, commit := range w.all() {
		was := map[subjects.Stream]subjects.Position{}
		for _, m := range commit {
			was[m.Stream] = top[m.Stream]
		}
		for _, m := range commit {
			switch before := was[m.Stream]; {
			case m.Run.First() >= before:
			case m.Run.Last() < before:
				late++
			default:
				w.t.Errorf("a message with positions %d … %d, when everything below %d was passed", m.Run.First(), m.Run.Last(), before)
			}
			top[m.Stream] = max(top[m.Stream], m.Run.Last()+1)
		}
	}
	return late
}

// another stores a frame as another writer does.
func (w *scripted) another(id subjects.Stream, p subjects.Position, payload string) {
	w.store([]store.Message{{Stream: id, Run: frame.Single("a", p, []byte(payload))}}, true)
}
