package intake

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/ingestd/ledger"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// still builds an intake whose loop does not run: the test is the loop.
func still(t *testing.T, cfg Config) *rig {
	t.Helper()
	r := build(t, cfg)
	r.in.subs = subscriptions{frames: &nats.Subscription{}, beats: &nats.Subscription{}, answers: &nats.Subscription{}}
	return r
}

// arrives is a frame as it comes out of the inbox.
func (r *rig) arrives(id subjects.Stream, p subjects.Position, payload string) *nats.Msg {
	m := &nats.Msg{Sub: r.in.subs.frames, Subject: subjects.Default().Frame(id, "a"), Data: []byte(payload), Header: nats.Header{}}
	m.Header[frame.HeaderPos] = []string{p.String()}
	return m
}

// beats is a beat as it comes out of the inbox.
func (r *rig) beats(id subjects.Stream, b control.Beat) *nats.Msg {
	return &nats.Msg{Sub: r.in.subs.beats, Subject: subjects.Default().Beat(id), Data: b.Encode()}
}

// TestLargeInboxIsWorkedThrough: before the last of a large inbox is looked at,
// what may go on is on its way to the store, and the hole in it is asked for
// (P7.1, P7.3).
func TestLargeInboxIsWorkedThrough(t *testing.T) {
	cfg := Config{Ledger: ledger.Config{AskAfter: 1}} // any hole is old enough
	cfg.Window.Wait = time.Hour
	r := still(t, cfg)
	id := subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}
	msgs := []*nats.Msg{r.beats(id, control.Beat{})}
	payload := strings.Repeat("x", breath/4)
	const n = 24
	for p := range subjects.Position(n) {
		if p != 9 { // a hole
			msgs = append(msgs, r.arrives(id, p, payload))
		}
	}
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	touched := r.in.handleAll(msgs, nil)
	if r.in.inflight == nil {
		t.Error("no commit is on its way")
	}
	if len(r.in.repairs) != 1 {
		t.Errorf("%d repair requests are out, want 1", len(r.in.repairs))
	}
	if r.in.pushed >= 2*breath {
		t.Errorf("windows were not asked for %d bytes", r.in.pushed)
	}
	r.in.keepHouse(time.Now(), touched)
	held := 0
	for _, it := range r.in.queue.items[r.in.queue.head:] {
		held += it.run.Len()
	}
	for _, m := range r.in.inflight.msgs {
		held += m.Run.Len()
	}
	if held != 9 || r.in.waiting != (n-10)*(len(payload)+1+frame.Overhead) {
		t.Errorf("%d frames are on their way, want 9; %d bytes wait behind the hole", held, r.in.waiting)
	}
}

// TestSuspensionIsNoSilence: a process that was stopped for minutes has not read
// what the muxes said meanwhile, and ends no life for that; a minute of silence
// while it runs does (P7.1).
func TestSuspensionIsNoSilence(t *testing.T) {
	r := still(t, Config{})
	id := subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	r.in.handleAll([]*nats.Msg{r.beats(id, control.Beat{Assigned: 9, Drained: 9})}, nil)
	a := r.in.ledger.Find(id)
	now := time.Now()
	r.in.keepHouse(now, nil)
	for range 3 { // one after the other, however long
		now = now.Add(10 * time.Minute)
		if r.in.keepHouse(now, nil); a.Over() {
			t.Fatal("the life is over after a suspension")
		}
	}
	for range 59 {
		now = now.Add(time.Second)
		if r.in.keepHouse(now, nil); a.Over() {
			t.Fatal("the life is over before a minute of silence")
		}
	}
	now = now.Add(2 * time.Second)
	if r.in.keepHouse(now, nil); !a.Over() || a.Counts().GivenUp != 9 {
		t.Fatalf("over %v after a minute of silence, %+v", a.Over(), a.Counts())
	}
}
