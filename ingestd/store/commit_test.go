package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// raw gets a stored message as a plain tool would.
func raw(t *testing.T, nc *nats.Conn, seq uint64) *jetstream.RawStreamMsg {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "DATASTREAM")
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.GetMsg(t.Context(), seq)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The stored form is readable with no tool of ours (P3, P8).
func TestStoredFormIsPlain(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	odd := subjects.Stream{Node: "a.b", Life: life}
	var cut frame.Cutter
	for i, p := range []string{"hello", "hi", "bye"} {
		cut.Add(frame.Single("proc.x.stdout", []subjects.Position{7, 8, 13}[i], []byte(p)), false)
	}
	msgs := []Message{{stream, cut.Runs(nil)[0].Run}, {odd, run("a..b c", 9, "")}}
	if err := w.Commit(t.Context(), 1234, msgs); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context(), 1235, singles(20, 1)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		subject, pos, run, commit, body string
	}{
		{"ds.store.n1." + life.String() + ".proc.x.stdout", "7", "5,2,3+4", "1/2/1234", "hello\nhi\nbye"},
		{"ds.store.a%2Eb." + life.String() + ".a.%.b%20c", "9", "", "1/2/1234", ""},
		{"ds.store.n1." + life.String() + ".c.6", "20", "", "3/1/1235", "payload 20"},
	} {
		seq := map[string]uint64{"7": 1, "9": 2, "20": 3}[want.pos]
		m := raw(t, nc, seq)
		got := []string{m.Subject, m.Header.Get("Ds-Pos"), m.Header.Get("Ds-Run"), m.Header.Get("Ds-Commit"), string(m.Data)}
		if fmt.Sprint(got) != fmt.Sprint([]string{want.subject, want.pos, want.run, want.commit, want.body}) {
			t.Errorf("sequence %d: got %q, want %q", seq, got, want)
		}
		if m.Header.Get("Nats-Msg-Id") != "" {
			t.Error("a message relies on Nats-Msg-Id (P7.4)")
		}
	}
	if all, _ := contents(t, nc, Config{}, false); string(all[0].Run.Payload(2)) != "bye" || all[0].Run.Pos(2) != 13 || all[1].Stream != odd {
		t.Errorf("read back: %v", all)
	}
	if w.LastSeq() != 3 {
		t.Errorf("LastSeq is %d, want 3", w.LastSeq())
	}
}

// A full batch is one commit, by messages and by bytes (P7.3).
func TestLargestCommits(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	many := singles(0, 1500)
	if n := w.Take(many); n != 1000 {
		t.Fatalf("Take says %d of 1500 small messages, want 1000", n)
	}
	if err := w.Commit(t.Context(), 1, many[:1000]); err != nil {
		t.Fatal(err)
	}
	big := make([]Message, 6)
	for i := range big {
		big[i] = Message{stream, run("big", uint64(1000+i), strings.Repeat("x", 1<<20))}
	}
	if n := w.Take(big); n != 4 {
		t.Fatalf("Take says %d of 6 messages of 1 MiB, want 4", n)
	}
	if err := w.Commit(t.Context(), 2, big[:4]); err != nil {
		t.Fatal(err)
	}
	huge := []Message{{stream, run("huge", 1004, strings.Repeat("y", frame.MaxBody))}}
	if n := w.Take(append(huge, big...)); n != 1 {
		t.Fatalf("Take says %d, want the one message that is larger than a batch", n)
	}
	if err := w.Commit(t.Context(), 3, huge); err != nil {
		t.Fatal(err)
	}
	for _, head := range []bool{false, true} { // messages larger than a pull, too
		all, foreign := contents(t, nc, Config{}, head)
		wantPositions(t, all, 1005)
		wantCommits(t, all)
		if all[999].Commit != (frame.Commit{First: 1, Count: 1000, Instant: 1}) || foreign != 0 {
			t.Fatalf("commit %v, %d foreign", all[999].Commit, foreign)
		}
	}
}

// Pipelined singles are commits of their own, in order (P7.3).
func TestCommitEach(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	for i := range 5 {
		if n, err := w.CommitEach(t.Context(), int64(i), singles(8*i, 8)); n != 8 || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	all, _ := contents(t, nc, Config{}, false)
	wantPositions(t, all, 40)
	wantCommits(t, all)
	for _, s := range all {
		if s.Commit.Count != 1 {
			t.Fatalf("commit %v has more than one message", s.Commit)
		}
	}
	if n, err := w.CommitEach(t.Context(), 9, singles(40, 9)); n != 0 || err == nil {
		t.Fatalf("nine messages: %d, %v", n, err)
	}
	if n, err := w.CommitEach(t.Context(), 9, nil); n != 0 || err != nil {
		t.Fatalf("no messages: %d, %v", n, err)
	}
}

// What cannot be stored is refused before anything is sent, and without harm.
func TestRefusesWhatCannotBeStored(t *testing.T) {
	nc := connect(t, newHost(t, func(o *server) { o.MaxPayload = 1 << 20 }).url())
	w := openWriter(t, nc, Config{Init: true})
	good := singles(0, 1)[0]
	for name, m := range map[string]Message{
		"no frames":   {stream, frame.Run{Channel: "c"}},
		"no node":     {subjects.Stream{Life: life}, good.Run},
		"no life":     {subjects.Stream{Node: "n"}, good.Run},
		"no channel":  {stream, run("", 1, "x")},
		"max_payload": {stream, run("c", 1, strings.Repeat("x", 1<<20))},
		"max_body":    {stream, run("c", 1, strings.Repeat("x", frame.MaxBody+1))},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, w.Commit(t.Context(), 1, []Message{good, m}), ErrMessage)
			_, err := w.CommitEach(t.Context(), 1, []Message{good, m})
			wantError(t, err, ErrMessage)
		})
	}
	wantError(t, w.Commit(t.Context(), 1, singles(0, 1001)), ErrMessage, "1001", "1000")
	if err := w.Commit(t.Context(), 1, []Message{good}); err != nil {
		t.Fatalf("after refusals: %v", err)
	}
	if all, _ := contents(t, nc, Config{}, false); len(all) != 1 {
		t.Fatalf("%d messages are stored, want 1", len(all))
	}
}

// A run whose lengths and skips would pass the server's 16-bit header length.
func TestRefusesHeadersTooLong(t *testing.T) {
	lengths := make([]string, frame.MaxFrames)
	for i := range lengths {
		lengths[i] = "0+1000000000000"
	}
	lengths[0] = "0"
	h := map[string][]string{frame.HeaderPos: {"0"}, frame.HeaderRun: {strings.Join(lengths, ",")}}
	r, err := frame.Decode("c", h, []byte(strings.Repeat("\n", frame.MaxFrames-1)))
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, checkRun(r, 8<<20), ErrMessage, "cut it")
	for i := 0; i < r.Len(); i += frame.RunFrames {
		if err := checkRun(r.Slice(i, i+frame.RunFrames), 8<<20); err != nil {
			t.Fatal(err)
		}
	}
}

// The instant is ingest's clock but never falls, across writers too (P8.1).
func TestInstantNeverFalls(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	for i, now := range []int64{500, 400, 600, -5} {
		if err := w.Commit(t.Context(), now, singles(i, 1)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 { // and past a tail of foreign messages
		if err := nc.Publish("ds.store.foreign", []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "foreign messages are stored", func() bool {
		w := openWriter(t, nc, Config{})
		return w.LastSeq() == 104
	})
	next := openWriter(t, nc, Config{})
	if _, err := next.CommitEach(t.Context(), 1, singles(4, 2)); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.Commit(t.Context(), 2000, singles(6, 2)), ErrFence)
	if got := resync(t, w); fmt.Sprint(got) != "[4 5]" || w.Foreign() != 100 {
		t.Fatalf("resync reports %v and %d foreign", got, w.Foreign())
	}
	if err := w.Commit(t.Context(), 3, singles(6, 2)); err != nil {
		t.Fatal(err)
	}
	all, foreign := contents(t, nc, Config{}, false)
	wantInstants(t, all)
	wantCommits(t, all)
	wantPositions(t, all, 8)
	if got := all[7].Commit.Instant; got != 2000 || foreign != 100 {
		t.Fatalf("the last instant is %d, %d foreign", got, foreign)
	}
}

// After an error the next commit waits for Resync, and sends nothing.
func TestResyncMustComeFirst(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	a, b := openWriter(t, nc, Config{Init: true}), openWriter(t, nc, Config{})
	if err := a.Commit(t.Context(), 1, singles(0, 9)); err != nil {
		t.Fatal(err)
	}
	n, err := b.CommitEach(t.Context(), 1, singles(9, 3))
	wantError(t, err, ErrFence)
	if n != 0 {
		t.Fatalf("%d are said to be committed", n)
	}
	wantError(t, b.Commit(t.Context(), 1, singles(9, 3)), ErrResync)
	failing := fmt.Errorf("no")
	wantError(t, b.Resync(t.Context(), func(Stored) error { return failing }), failing)
	wantError(t, b.Commit(t.Context(), 1, singles(9, 3)), ErrResync)
	if got := resync(t, b); fmt.Sprint(got) != "[0 1 2 3 4 5 6 7 8]" {
		t.Fatalf("resync reports %v", got)
	}
	if err := b.Commit(t.Context(), 1, singles(9, 3)); err != nil {
		t.Fatal(err)
	}
}

// A pipelined single whose fence another writer's commit happens to satisfy
// lands ahead of those before it. It is reported, and nothing is lost or
// repeated.
func TestSingleThatOvertakesIsCommittedOnce(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	a, b := openWriter(t, nc, Config{Init: true}), openWriter(t, nc, Config{})
	if err := a.Commit(t.Context(), 1, singles(0, 2)); err != nil {
		t.Fatal(err)
	}
	msgs := singles(2, 3)
	n, err := b.CommitEach(t.Context(), 1, msgs)
	wantError(t, err, ErrFence)
	if got := resync(t, b); n != 0 || fmt.Sprint(got) != "[0 1 4]" {
		t.Fatalf("%d are certain, resync reports %v", n, got)
	}
	if n, err := b.CommitEach(t.Context(), 1, msgs[:2]); n != 2 || err != nil {
		t.Fatalf("got %d, %v", n, err)
	}
	all, _ := contents(t, nc, Config{}, true)
	wantCommits(t, all)
	if got := positions(all); fmt.Sprint(got) != "[0 1 4 2 3]" {
		t.Fatalf("stored are %v", got)
	}
}

// A cancelled commit is unclear, not lost.
func TestCancelledCommitIsUnclear(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, w.Commit(ctx, 1, singles(0, 3)), ErrUnclear)
	done := 0
	eventually(t, "the delayed batch is settled", func() bool {
		done += len(resync(t, w))
		return done == 3 || w.Commit(t.Context(), 1, singles(0, 3)) == nil
	})
	all, _ := contents(t, nc, Config{}, false)
	wantPositions(t, all, 3)
}
