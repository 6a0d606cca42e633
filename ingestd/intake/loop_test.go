package intake

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/ingestd/ledger"
	"datastream/ingestd/store"
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

// TestForgottenLifeStaysForgotten: with room for two lives, a third takes the
// place of the one that ended; what the mux of that one still says is refused,
// counted and named once, and it is not asked for more (promise 6, P7.2).
func TestForgottenLifeStaysForgotten(t *testing.T) {
	r := still(t, Config{Ledger: ledger.Config{Streams: 2}})
	var ids []subjects.Stream
	for range 3 {
		ids = append(ids, subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())})
	}
	handle := func(msgs ...*nats.Msg) {
		r.in.mu.Lock()
		defer r.in.mu.Unlock()
		r.in.keepHouse(time.Now(), r.in.handleAll(msgs, nil))
	}
	handle(r.beats(ids[0], control.Beat{}), r.arrives(ids[0], 0, "waits"))
	handle(r.beats(ids[0], control.Beat{Assigned: 1, Drained: 1, Closed: true}), r.beats(ids[1], control.Beat{}))
	handle(r.beats(ids[2], control.Beat{}))
	if r.in.ledger.Find(ids[2]) != nil || r.metric("refused_total", "streams") != 1 {
		t.Fatal("a life was taken in without room: the frame of the one that ended waits for its commit")
	}
	r.in.mu.Lock()
	r.in.commitNext()
	j := <-r.in.jobs
	r.writer.store(j.msgs, j.each)
	r.in.finished(outcome{n: len(j.msgs)})
	first := r.in.streams[ids[0]]
	r.in.mu.Unlock()
	handle(r.arrives(ids[0], 0, "again"), r.beats(ids[2], control.Beat{})) // forgotten in the midst of a look
	if r.in.ledger.Find(ids[2]) == nil || r.in.streams[ids[0]] != nil || !first.forgotten || first.active {
		t.Fatal("the life that ended is not forgotten")
	}
	handle(r.beats(ids[0], control.Beat{}), r.beats(ids[0], control.Beat{}),
		r.arrives(ids[0], 0, "again"), r.arrives(ids[0], 1, "more"))
	if r.in.ledger.Find(ids[0]) != nil || len(r.in.strange) != 0 || len(r.in.named) != 1 {
		t.Errorf("known: %v; %d lives are asked for a beat, %d were named", r.in.ledger.Find(ids[0]) != nil, len(r.in.strange), len(r.in.named))
	}
	for _, c := range []struct {
		name, label string
		want        float64
	}{
		{"forgotten_lives_total", "", 1}, {"refused_total", "forgotten_beat", 2}, {"refused_total", "forgotten_life", 2},
		{"refused_total", "unknown_life", 0}, {"streams", "", 2}, {"holes", "", 0},
	} {
		if got := r.metric(c.name, c.label); got != c.want {
			t.Errorf("%s %s is %v, want %v", c.name, c.label, got, c.want)
		}
	}
	for i := range maxNamed { // whoever beats with ever new lives
		r.in.refuseLife(subjects.Stream{Node: "n1", Life: subjects.Life{byte(i), byte(i >> 8)}}, ledger.ErrStreams)
	}
	if n := len(r.in.named); n > maxNamed {
		t.Errorf("%d lives are remembered as named", n)
	}
}

// TestNewestStoredLivesAreRestored: a store with more lives than may be known is
// read into the newest of them; frames of the others are not committed again,
// also when their muxes still beat (promises 1 and 6).
func TestNewestStoredLivesAreRestored(t *testing.T) {
	r := still(t, Config{Ledger: ledger.Config{Streams: 5}})
	var ids []subjects.Stream
	for range 12 {
		id := subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}
		r.writer.another(id, 0, "x")
		r.in.Restore(store.Stored{Stream: id, Run: frame.Single("a", 0, []byte("x"))})
		ids = append(ids, id)
	}
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	for i, id := range ids {
		touched := r.in.handleAll([]*nats.Msg{r.beats(id, control.Beat{Assigned: 1, Drained: 1}), r.arrives(id, 0, "x")}, nil)
		r.in.keepHouse(time.Now(), touched)
		if got, want := r.in.ledger.Find(id) != nil, i >= 7; got != want {
			t.Errorf("life %d is known: %v", i, got)
		}
	}
	if !r.in.queue.empty() || r.in.inflight != nil {
		t.Error("frames that the store holds are on their way to it again")
	}
}
