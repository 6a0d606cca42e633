package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// A read of heads gives what a whole read gives, but for the payloads.
func TestHeadsAgreeWithWhole(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	pos := uint64(0)
	for i := range 20 {
		var msgs []Message
		for j := range 1 + i%5 {
			payloads := make([]string, 1+(i*j)%40)
			for k := range payloads {
				payloads[k] = strings.Repeat("p", (i*j*k)%300)
			}
			msgs = append(msgs, Message{stream, run(subjects.Channel(fmt.Sprint("c ", j)), pos, payloads...)})
			pos += uint64(len(payloads)) + uint64(j)
		}
		if err := w.Commit(t.Context(), int64(i), msgs); err != nil {
			t.Fatal(err)
		}
	}
	heads, _ := contents(t, nc, Config{}, true)
	whole, _ := contents(t, nc, Config{}, false)
	if len(heads) != len(whole) || len(whole) != int(w.LastSeq()) {
		t.Fatalf("%d heads, %d whole, last sequence %d", len(heads), len(whole), w.LastSeq())
	}
	for i, a := range whole {
		b := heads[i]
		if a.Seq != b.Seq || a.Stream != b.Stream || a.Commit != b.Commit || a.Run.Channel != b.Run.Channel ||
			a.Run.First() != b.Run.First() || a.Run.Header() != b.Run.Header() || a.Run.Bytes() != b.Run.Bytes() {
			t.Fatalf("head %v, whole %v", b, a)
		}
	}
}

// publish stores a message past the Writer, as a stranger could.
func publish(t *testing.T, nc *nats.Conn, subject string, body string, headers ...string) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	m := &nats.Msg{Subject: subject, Data: []byte(body), Header: nats.Header{}}
	for i := 0; i < len(headers); i += 2 {
		m.Header.Add(headers[i], headers[i+1])
	}
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// What is not ours is skipped and counted, whatever it claims (P8.4).
func TestForeignMessagesAreSkipped(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	if err := w.Commit(t.Context(), 1, singles(0, 2)); err != nil {
		t.Fatal(err)
	}
	good := "ds.store.n1." + life.String() + ".c"
	commit := func(n int) string { return frame.Commit{First: uint64(n), Count: 1, Instant: 1}.String() }
	type message struct {
		subject, body string
		headers       []string
	}
	cases := []message{
		{good, "no headers", nil},
		{good, "no commit", []string{"Ds-Pos", "9"}},
		{good, "no position", []string{"Ds-Commit", commit(5)}},
		{good, "another's sequence", []string{"Ds-Pos", "9", "Ds-Commit", commit(5)}},
		{good, "two commits", []string{"Ds-Pos", "9", "Ds-Commit", commit(7), "Ds-Commit", commit(7)}},
		{good, "lengths", []string{"Ds-Pos", "9", "Ds-Run", "1,1", "Ds-Commit", commit(8)}},
		{good, "size claimed", []string{"Ds-Pos", "9", "Ds-Commit", commit(9), "Nats-Msg-Size", "12"}},
		{"ds.store.n1.nolife.c", "x", []string{"Ds-Pos", "9", "Ds-Commit", commit(10)}},
		{"ds.store.n1." + life.String() + ".%63", "x", []string{"Ds-Pos", "9", "Ds-Commit", commit(11)}},
		{good, "", []string{"Status", "409", "Description", "Consumer Deleted"}},
		{good, "", []string{"Status", "100"}},
		{good, "a sequence to come", []string{"Ds-Pos", "9", "Ds-Commit", commit(99)}},
	}
	// The sequences that the cases claim are the ones they get.
	for i, c := range cases {
		if i == 3 { // so that number 6 claims another's
			publish(t, nc, good, c.body, "Ds-Pos", "9", "Ds-Commit", commit(5))
			continue
		}
		publish(t, nc, c.subject, c.body, c.headers...)
	}
	wantError(t, w.Commit(t.Context(), 2, singles(2, 2)), ErrFence)
	if got := resync(t, w); len(got) != 0 {
		t.Fatalf("resync takes %v for ours", got)
	}
	if err := w.Commit(t.Context(), 2, singles(2, 2)); err != nil {
		t.Fatal(err)
	}
	for _, head := range []bool{true, false} {
		all, foreign := contents(t, nc, Config{}, head)
		wantPositions(t, all, 4)
		wantCommits(t, all)
		if foreign != uint64(len(cases)) {
			t.Errorf("heads %v: %d foreign messages, want %d", head, foreign, len(cases))
		}
	}
	if w.Foreign() != uint64(len(cases)) {
		t.Errorf("resync has found %d foreign messages, want %d", w.Foreign(), len(cases))
	}
}

// A scan ends at the end as it was when it began, and begins where it is told.
func TestScanBounds(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	scan := func(from uint64) (string, uint64) {
		var got []Stored
		last, _, err := Scan(t.Context(), nc, Config{}, from, true, func(s Stored) error { got = append(got, s); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(positions(got)), last
	}
	if got, last := scan(0); got != "[]" || last != 0 {
		t.Fatalf("an empty store: %v, %d", got, last)
	}
	if err := w.Commit(t.Context(), 1, singles(0, 5)); err != nil {
		t.Fatal(err)
	}
	for from, want := range []string{"[0 1 2 3 4]", "[0 1 2 3 4]", "[1 2 3 4]", "[2 3 4]", "[3 4]", "[4]", "[]", "[]"} {
		if got, last := scan(uint64(from)); got != want || last != 5 {
			t.Errorf("from %d: %v, %d; want %v, 5", from, got, last, want)
		}
	}
	n := 0
	last, _, err := Scan(t.Context(), nc, Config{}, 0, false, func(Stored) error { // written to meanwhile
		n++
		return w.Commit(t.Context(), 1, singles(100+n, 1))
	})
	if n != 5 || last != 5 || err != nil {
		t.Errorf("%d messages, last %d, %v", n, last, err)
	}
}

// An error of the caller ends a scan, which can be taken up behind it.
func TestScanStopsAndGoesOn(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	if err := w.Commit(t.Context(), 1, singles(0, 50)); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	var all []Stored
	from := uint64(0)
	for {
		n := 0
		last, _, err := Scan(t.Context(), nc, Config{}, from, false, func(s Stored) error {
			if n++; n > 9 {
				return enough
			}
			all = append(all, s)
			return nil
		})
		from = last + 1
		if err == nil {
			break
		}
		if err != enough {
			t.Fatal(err)
		}
	}
	wantPositions(t, all, 50)
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := Scan(ctx, nc, Config{}, 0, false, func(Stored) error { cancel(); return ctx.Err() })
	wantError(t, err, context.Canceled)
}

// holed is a store of one commit of 20 messages, at the beginning, inside and
// at the end of which some were deleted, as an administrator could.
func holed(t *testing.T, nc *nats.Conn) (access, jetstream.Stream) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{}.withDefaults().stream(-1)
	cfg.DenyDelete, cfg.DenyPurge = false, false
	s, err := js.CreateStream(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	a := access{nc: nc, js: js, cfg: Config{}.withDefaults(), known: newKnown()}
	w, err := newWriter(a, s.CachedInfo(), 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	if err := w.Commit(t.Context(), 1, singles(0, 20)); err != nil {
		t.Fatal(err)
	}
	for _, seq := range []uint64{1, 2, 5, 9, 10, 11, 19, 20} {
		if err := s.DeleteMsg(t.Context(), seq); err != nil {
			t.Fatal(err)
		}
	}
	return a, s
}

// Deleted messages, at the beginning, inside and at the end, are shown by the
// stream to lack, and only those.
func TestScanBelievesOnlyTheStream(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	a, s := holed(t, nc)
	var all []Stored
	last, _, err := Scan(t.Context(), nc, Config{}, 0, false, func(s Stored) error { all = append(all, s); return nil })
	if got := fmt.Sprint(positions(all)); got != "[2 3 5 6 7 11 12 13 14 15 16 17]" || last != 20 || err != nil {
		t.Fatalf("got %v, %d, %v", got, last, err)
	}
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone := absence{access: a, info: info}
	for _, c := range []struct{ from, to, want uint64 }{{1, 3, 0}, {1, 4, 3}, {5, 6, 0}, {5, 7, 6}, {9, 12, 0}, {8, 12, 8}, {19, 21, 0}, {19, 22, 21}} {
		if got, err := gone.first(t.Context(), c.from, c.to); got != c.want || err != nil {
			t.Errorf("in [%d, %d) the first that should be there is %d, want %d (%v)", c.from, c.to, got, c.want, err)
		}
	}
}

// More messages than all pulls in flight bring.
func TestScanOfManyMessages(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	const total = 10_000
	for i := 0; i < total; i += 1000 {
		if err := w.Commit(t.Context(), int64(i), singles(i, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	for _, head := range []bool{true, false} {
		all, foreign := contents(t, nc, Config{}, head)
		wantPositions(t, all, total)
		wantCommits(t, all)
		if foreign != 0 {
			t.Fatalf("%d foreign", foreign)
		}
	}
}

// A connection that breaks ends a scan with an error, at once and not
// silently; what was handed over is right.
func TestBrokenScanSaysSo(t *testing.T) {
	h := newHost(t, nil)
	through := newProxy(t, h.url()[len("nats://"):])
	w := openWriter(t, connect(t, h.url()), Config{Init: true})
	for i := range 4 {
		if err := w.Commit(t.Context(), 1, []Message{{stream, run("c", uint64(i), strings.Repeat("x", 3<<20))}}); err != nil {
			t.Fatal(err)
		}
	}
	nc := connect(t, through.url())
	var all []Stored
	last, _, err := Scan(t.Context(), nc, Config{}, 0, false, func(s Stored) error {
		all = append(all, s)
		through.cut()
		eventually(t, "the connection breaks", func() bool { return nc.Stats().Reconnects > 0 })
		return nil
	})
	if err == nil || last != uint64(len(all)) || last == 4 {
		t.Fatalf("last %d of %d, %v", last, len(all), err)
	}
	wantPositions(t, all, len(all))
}

func TestParseReply(t *testing.T) {
	for _, c := range []struct {
		reply string
		want  delivery
		ok    bool
	}{
		{"$JS.ACK.S.c.1.42.7.1700000000000000000.3", delivery{42, 7, 3}, true},
		{"$JS.ACK.hub.Hash.S.c.1.42.7.1700000000000000000.3", delivery{42, 7, 3}, true},
		{"$JS.ACK.hub.Hash.S.c.1.42.7.1700000000000000000.3.tok", delivery{42, 7, 3}, true},
		{"$JS.ACK.S.c.1.x.7.1.3", delivery{}, false},
		{"$JS.ACK.S.c.1.42.7.1.x", delivery{}, false},
		{"$JS.ACK.S.c.1.42.7", delivery{}, false},
		{"$JS.ACK.S.c", delivery{}, false},
		{"_INBOX.a.b.c.1.2.3.4", delivery{}, false},
		{"_INBOX.a.b.c.d.1.2.3.4", delivery{}, false},
		{"", delivery{}, false},
	} {
		got, err := parseReply(c.reply)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %v, %v", c.reply, got, err)
		}
	}
}

// What was deleted is gone in its place, ends a commit, and is not made up for
// from beyond the range (P8.2, promise 9).
func TestReadReportsHolesInTheirPlace(t *testing.T) {
	h := newHost(t, nil)
	holed(t, connect(t, h.url()))
	r := openReader(t, h.url(), Config{})
	for _, c := range []struct {
		from, to uint64
		want     string
	}{
		{1, 10, "[gone 1 2] [3 4] [gone 5 5] [6 7 8] [gone 9 10] "},
		{10, 11, "[gone 10 11] "},
		{12, 20, "[12 13 14 15 16 17 18] [gone 19 20] "},
		{5, 5, "[gone 5 5] "},
	} {
		got := ""
		err := r.Read(t.Context(), c.from, c.to, "", func(k Commit) error {
			if k.Gone {
				got += fmt.Sprintf("[gone %d %d] ", k.First, k.Last())
				return nil
			}
			var seqs []uint64
			for _, s := range k.Messages {
				seqs = append(seqs, s.Seq)
			}
			got += fmt.Sprint(seqs, " ")
			return nil
		})
		if got != c.want || err != nil {
			t.Errorf("%d-%d: %s, want %s (%v)", c.from, c.to, got, c.want, err)
		}
	}
}
