package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/frame"
)

func openReader(t *testing.T, url string, cfg Config) *Reader {
	t.Helper()
	r, err := NewReader(t.Context(), connect(t, url), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nothing is for reads that must not hand on anything.
func nothing(t *testing.T) func(Commit) error {
	return func(c Commit) error {
		t.Errorf("%v is handed on", c.Commit)
		return nil
	}
}

// A store that is not there, is deleted or made anew is never read as if it
// were the one that was opened (promise 7).
func TestReaderKnowsItsStore(t *testing.T) {
	h := newHost(t, nil)
	nc := connect(t, h.url())
	_, err := NewReader(t.Context(), nc, Config{})
	wantError(t, err, ErrNoStream, "DATASTREAM")
	_, err = NewReader(t.Context(), nc, Config{Timeout: -1})
	wantError(t, err, ErrConfig, "Timeout")

	w := openWriter(t, nc, Config{Init: true})
	r := openReader(t, h.url(), Config{})
	if err := w.Commit(t.Context(), 1, singles(0, 3)); err != nil {
		t.Fatal(err)
	}
	first, err := r.End(t.Context())
	if err != nil || first.Seq != 3 {
		t.Fatalf("%v, %v", first, err)
	}
	seen, done := make(chan uint64), make(chan error)
	go func() {
		done <- r.Follow(t.Context(), 1, func(c Commit) error { seen <- c.Last(); return nil })
	}()
	if got := <-seen; got != 3 {
		t.Fatalf("the commit that ends at %d is followed", got)
	}
	if err := w.js.DeleteStream(t.Context(), "DATASTREAM"); err != nil {
		t.Fatal(err)
	}
	wantError(t, <-done, ErrNoStream, "after sequence 3")
	wantError(t, r.FollowErr(), ErrNoStream)
	_, err = r.End(t.Context())
	wantError(t, err, ErrNoStream)

	w = openWriter(t, nc, Config{Init: true})
	if err := w.Commit(t.Context(), 1, singles(0, 5)); err != nil { // no shorter than the one before
		t.Fatal(err)
	}
	_, err = r.End(t.Context())
	wantError(t, err, ErrRecreated)
	wantError(t, r.Read(t.Context(), 1, 3, "", nothing(t)), ErrRecreated)
	wantError(t, r.Follow(t.Context(), 1, nothing(t)), ErrRecreated)
	wantError(t, r.ReadBack(t.Context(), 3, func([]Stored) (bool, error) { return true, nil }), ErrRecreated)
	other := openReader(t, h.url(), Config{})
	_, err = other.Find(t.Context(), 1, first)
	wantError(t, err, ErrRecreated)
}

// While the server is away FollowErr says so, and no longer once it is back
// (promise 10).
func TestFollowErrSaysWhatIsWrong(t *testing.T) {
	h := newHost(t, nil)
	w := openWriter(t, connect(t, h.url()), Config{Init: true})
	r := openReader(t, h.url(), quickly())
	ctx, cancel := context.WithCancel(t.Context())
	seen, done := make(chan uint64, 10), make(chan error, 1)
	go func() {
		done <- r.Follow(ctx, 1, func(c Commit) error { seen <- c.Last(); return nil })
	}()
	if err := w.Commit(ctx, 1, singles(0, 2)); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != 2 {
		t.Fatalf("the commit that ends at %d is followed", got)
	}
	h.stop()
	eventually(t, "the follower says what is wrong", func() bool { return r.FollowErr() != nil })
	h.start()
	eventually(t, "the follower reads again", func() bool { return r.FollowErr() == nil })
	resync(t, w)
	if err := w.Commit(ctx, 1, singles(2, 2)); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != 4 {
		t.Fatalf("the commit that ends at %d is followed", got)
	}
	cancel()
	wantError(t, <-done, context.Canceled)
}

// A filtered read of more messages than all pulls bring, few and all of them
// matching, ends at once and has every one.
func TestFilteredReadIsComplete(t *testing.T) {
	h := newHost(t, nil)
	w := openWriter(t, connect(t, h.url()), Config{Init: true})
	r := openReader(t, h.url(), Config{})
	const total = 10_000
	for i := 0; i < total; i += 1000 {
		if err := w.Commit(t.Context(), int64(i), singles(i, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[subjects.Pattern]int{"c.*": total, "c.4": total / 7, "none": 0} {
		filter, _ := subjects.Default().Filter(subjects.Selector{Pattern: pattern})
		n, commits := 0, 0
		err := r.Read(t.Context(), 1, math.MaxUint64, filter, func(c Commit) error {
			commits++
			for _, s := range c.Messages {
				if !pattern.Match(string(s.Run.Channel)) {
					t.Errorf("channel %q is no %s", s.Run.Channel, pattern)
				}
				n++
			}
			return nil
		})
		if err != nil || n != want && n != want+1 || commits > 10 {
			t.Errorf("%s: %d messages of %d, in %d commits (%v)", pattern, n, want, commits, err)
		}
	}
}

// Large messages make windows small: none is over its bytes, and all comes.
func TestReadBackIsBoundedByBytes(t *testing.T) {
	h := newHost(t, nil)
	w := openWriter(t, connect(t, h.url()), Config{Init: true})
	r := openReader(t, h.url(), Config{})
	const total, each = 40, 4
	for i := 0; i < total; i += each {
		var msgs []Message
		for j := range each {
			msgs = append(msgs, Message{stream, run("c", uint64(i+j), strings.Repeat("x", 1<<20))})
		}
		if err := w.Commit(t.Context(), int64(i), msgs); err != nil {
			t.Fatal(err)
		}
	}
	next, windows := total, 0
	err := r.ReadBack(t.Context(), math.MaxUint64, func(msgs []Stored) (bool, error) {
		windows++
		bytes := 0
		for i, s := range msgs {
			bytes += s.Run.Bytes()
			if p := int(s.Run.First()); p != next-len(msgs)+i {
				t.Fatalf("position %d in the window before %d", p, next)
			}
		}
		if next -= len(msgs); bytes > backBytes || len(msgs)%each != 0 {
			t.Errorf("a window of %d messages has %d bytes", len(msgs), bytes)
		}
		return true, nil
	})
	if err != nil || next != 0 || windows < total*(1<<20)/backBytes {
		t.Fatalf("%d left, %d windows (%v)", next, windows, err)
	}
}

// A read that is cancelled ends, though all it could read is at hand.
func TestReadEndsWhenCancelled(t *testing.T) {
	h := newHost(t, nil)
	w := openWriter(t, connect(t, h.url()), Config{Init: true})
	r := openReader(t, h.url(), Config{})
	for i := 0; i < 3000; i += 1000 {
		if err := w.Commit(t.Context(), 1, singles(i, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := r.Read(ctx, 1, math.MaxUint64, "", func(Commit) error { n++; cancel(); return nil })
	wantError(t, err, context.Canceled)
	if n != 1 {
		t.Fatalf("%d commits were handed on", n)
	}
	p := pull{msgs: make(chan *nats.Msg, 1)}
	p.msgs <- &nats.Msg{}
	_, err = p.receive(ctx)
	wantError(t, err, context.Canceled)
}

// A header that claims a commit without end does not make a reader hold it:
// it comes in parts, in order and once.
func TestNoHeaderDecidesWhatIsHeld(t *testing.T) {
	claim := frame.Commit{First: 1, Count: 1 << 60, Instant: 1}
	body := run("c", 0, strings.Repeat("x", 1<<20))
	next := uint64(1)
	g := gather{fn: func(c Commit) error {
		if len(c.Messages) == 0 || len(c.Messages) > heldMessages || len(c.Messages)<<20 > heldBytes {
			t.Errorf("a part has %d messages", len(c.Messages))
		}
		for _, s := range c.Messages {
			if s.Seq != next {
				t.Fatalf("sequence %d comes, %d is due", s.Seq, next)
			}
			next++
		}
		return nil
	}}
	const n = 3 * heldBytes >> 20
	b := back{from: 1, all: true}
	for seq := range uint64(n) {
		s := Stored{Seq: seq + 1, Run: body, Commit: claim}
		if err := errors.Join(g.message(s), b.message(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.flush(); err != nil || next != n+1 {
		t.Fatalf("%d of %d came (%v)", next-1, n, err)
	}
	if len(b.kept) != heldBytes>>20 || b.kept[len(b.kept)-1].Seq != n {
		t.Fatalf("a window keeps %d messages", len(b.kept))
	}
}

// The windows of a ReadBack cover what they are to, without a hole or a
// repeat, however commits, windows and sizes lie.
func TestWindowsCoverTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Stored
		for i := range rapid.IntRange(1, 12).Draw(t, "commits") {
			count := rapid.IntRange(1, 30).Draw(t, "count")
			c := frame.Commit{First: uint64(len(all) + 1), Count: uint64(count), Instant: int64(i)}
			size := rapid.SampledFrom([]int{0, 1 << 10, 1 << 20}).Draw(t, "size")
			for range count {
				all = append(all, Stored{Seq: uint64(len(all) + 1), Commit: c, Run: frame.Single("c", 0, make([]byte, size))})
			}
		}
		first := uint64(rapid.IntRange(1, len(all)).Draw(t, "first"))
		to, size, next := uint64(len(all)), uint64(rapid.IntRange(1, 40).Draw(t, "size")), uint64(len(all))
		for rounds := 0; to >= first; rounds++ {
			if rounds > 10*len(all) {
				t.Fatalf("no progress at %d", to)
			}
			b := back{from: first}
			if to-first >= size {
				b.from = to - size + 1
			}
			b.all = b.from == first
			for _, s := range all[b.from-1 : to] {
				if err := b.message(s); err != nil {
					t.Fatal(err)
				}
			}
			for i := len(b.kept) - 1; i >= 0; i-- {
				if b.kept[i].Seq != next {
					t.Fatalf("%d comes where %d is due", b.kept[i].Seq, next)
				}
				next--
			}
			if len(b.kept) > 0 && b.kept[0].Seq > max(first, b.kept[0].Commit.First) {
				t.Fatalf("a window begins at %d inside of %v", b.kept[0].Seq, b.kept[0].Commit)
			}
			to, size = b.next(to), b.grow(size)
		}
		if next != first-1 {
			t.Fatalf("down to %d of %d", next+1, first)
		}
	})
}

// A read whose connection breaks says so; what it has handed on is right, and
// the next one goes on behind it.
func TestBrokenReadSaysSo(t *testing.T) {
	h := newHost(t, nil)
	through := newProxy(t, h.url()[len("nats://"):])
	w := openWriter(t, connect(t, h.url()), Config{Init: true})
	for i := range 4 {
		if err := w.Commit(t.Context(), 1, []Message{{stream, run("c", uint64(i), strings.Repeat("x", 3<<20))}}); err != nil {
			t.Fatal(err)
		}
	}
	r := openReader(t, through.url(), Config{})
	var all []Stored
	read := func(from uint64, cut bool) error {
		return r.Read(t.Context(), from, 4, "", func(c Commit) error {
			all = append(all, c.Messages...)
			if cut {
				before := r.nc.Stats().Reconnects
				through.cut()
				eventually(t, "the connection breaks", func() bool { return r.nc.Stats().Reconnects > before })
			}
			return nil
		})
	}
	err := read(1, true)
	if err == nil || len(all) == 4 || !strings.Contains(err.Error(), fmt.Sprintf("after sequence %d", len(all))) {
		t.Fatalf("%d of 4, %v", len(all), err)
	}
	if err := read(uint64(len(all)+1), false); err != nil {
		t.Fatal(err)
	}
	wantPositions(t, all, 4)
}

// A store whose stream allows no direct gets is read all the same.
func TestReaderNeedsNoDirectGets(t *testing.T) {
	h := newHost(t, nil)
	nc := connect(t, h.url())
	w := openWriter(t, nc, Config{Init: true})
	cfg := Config{}.withDefaults().stream(DefaultMaxBytes)
	cfg.AllowDirect = false
	if _, err := w.js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context(), 7, singles(0, 3)); err != nil {
		t.Fatal(err)
	}
	r := openReader(t, h.url(), Config{})
	e, err := r.End(t.Context())
	if err != nil || e.Seq != 3 || e.Instant != 7 {
		t.Fatalf("%+v, %v", e, err)
	}
}

// However an End falls between the messages of the batches that are being
// committed, it is the end of a commit, and what is read up to one and on to
// the next adds up (promises 8, 9).
func TestEveryEndIsACommits(t *testing.T) {
	h := newHost(t, nil)
	w := openWriter(t, connect(t, h.url()), Config{Init: true})
	r := openReader(t, h.url(), Config{})
	const commits, each = 60, 100
	done := make(chan error, 1)
	go func() {
		for i := range commits {
			if err := w.Commit(t.Context(), int64(i), singles(i*each, each)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	var all []Stored
	for over := false; !over || len(all) < commits*each; {
		select {
		case err := <-done:
			if over = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
		e, err := r.End(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = r.Read(t.Context(), uint64(len(all)+1), e.Seq, "", func(c Commit) error {
			if len(c.Messages) != each || c.Gone {
				return fmt.Errorf("%d messages of commit %v", len(c.Messages), c.Commit)
			}
			all = append(all, c.Messages...)
			return nil
		})
		if err != nil || uint64(len(all)) != e.Seq {
			t.Fatalf("read to %d, the end is %d (%v)", len(all), e.Seq, err)
		}
		if over && len(all) < commits*each {
			t.Fatalf("all is committed, and the end is %d", e.Seq)
		}
	}
	wantPositions(t, all, commits*each)
}
