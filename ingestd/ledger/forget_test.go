package ledger

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/control"
)

// TestStreamsAreBounded: a beat beyond the bound wraps ErrStreams while every
// life lives (promise 9).
func TestStreamsAreBounded(t *testing.T) {
	l := New(Config{Streams: 1})
	if _, err := l.Beat(stream(t, "A"), control.Beat{}, start); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Beat(stream(t, "B"), control.Beat{}, start); !errors.Is(err, ErrStreams) {
		t.Fatalf("error %v", err)
	}
	if l.Find(stream(t, "B")) != nil || l.Streams() != 1 || l.Forgotten(stream(t, "B")) {
		t.Fatal("the life is known, or forgotten")
	}
}

// TestNewestOfTheStoreAreRestored: of a store with more lives than may be known
// the ones with the newest frames are, wherever their births lie, and no frame
// of the others is taken, whatever their muxes say later (promises 2 and 9).
func TestNewestOfTheStoreAreRestored(t *testing.T) {
	const known, all = 20, 70
	l := New(Config{Streams: known})
	name := func(i int) subjects.Stream { return stream(t, fmt.Sprintf("%03d", i*37%all)) } // births in another order
	old := name(0)                                                                          // a mux that has always been there
	for i := range all {
		for _, st := range []subjects.Stream{name(i), old} {
			a := l.Restore(st, start)
			if a == nil {
				t.Fatalf("life %d is not restored", i)
			}
			a.Commit(at(t, a.Next()))
		}
	}
	for i := range all {
		st, want := name(i), i == 0 || i > all-known
		if got := l.Find(st) != nil; got != want || l.Forgotten(st) == want {
			t.Errorf("life %d is known: %v, forgotten: %v", i, got, l.Forgotten(st))
		}
		if want {
			continue
		}
		if _, err := l.Beat(st, control.Beat{Assigned: 1, Drained: 1}, start); !errors.Is(err, ErrForgotten) {
			t.Errorf("a beat of life %d: %v", i, err)
		}
		if l.Restore(st, start) != nil || l.Find(st) != nil {
			t.Errorf("life %d came back", i)
		}
	}
	if l.Streams() != known || l.Holes() != 0 {
		t.Errorf("%d lives, %d holes", l.Streams(), l.Holes())
	}
}

// TestNoRoomInTheStoreIsForgotten: a life that was read from the store and found
// no room would be opened empty by a later beat, and its frames committed twice
// (promise 2).
func TestNoRoomInTheStoreIsForgotten(t *testing.T) {
	l := New(Config{Streams: 1})
	if _, err := l.Beat(stream(t, "A"), control.Beat{}, start); err != nil {
		t.Fatal(err)
	}
	if l.Restore(stream(t, "B"), start) != nil {
		t.Fatal("restored without room")
	}
	if _, err := l.Beat(stream(t, "A"), control.Beat{Closed: true}, start); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Beat(stream(t, "B"), control.Beat{}, start); !errors.Is(err, ErrForgotten) {
		t.Fatalf("error %v", err)
	}
}

// TestForgottenAccountCountsForNothing: whoever still holds one harms no other.
func TestForgottenAccountCountsForNothing(t *testing.T) {
	l := New(Config{Streams: 1})
	a := l.Restore(stream(t, "A"), start)
	a.Commit(at(t, 1, 3))
	if _, err := l.Beat(stream(t, "B"), control.Beat{}, start); err != nil {
		t.Fatal(err)
	}
	if st, ok := l.Forgot(); !ok || st != a.Stream() || l.Holes() != 0 {
		t.Fatalf("forgot %v %v, %d holes are left", st, ok, l.Holes())
	}
	a.Arrive(at(t, 5, 7), nil)
	a.Commit(at(t, 9))
	a.Tick(start.Add(time.Hour))
	if l.Holes() != 0 {
		t.Fatalf("%d holes", l.Holes())
	}
}

// TestRoomIsFoundAtOnce: to find a place costs the same however many lives are
// known, and however many of them cannot be forgotten (promise 9).
func TestRoomIsFoundAtOnce(t *testing.T) {
	l := New(Config{Streams: 3 * candidates})
	for i := range 3 * candidates {
		a := l.Restore(stream(t, fmt.Sprintf("%03d", i)), start)
		if i < candidates {
			a.Arrive(at(t, 0), nil)
		}
	}
	if _, err := l.Beat(stream(t, "N"), control.Beat{}, start); !errors.Is(err, ErrStreams) {
		t.Fatalf("error %v, when more than %d lives would have to be looked at", err, candidates)
	}
	l.Find(stream(t, "007")).Commit(at(t, 0))
	if _, err := l.Beat(stream(t, "N"), control.Beat{}, start); err != nil {
		t.Fatal(err)
	}
	if st, ok := l.Forgot(); !ok || st != stream(t, "007") {
		t.Fatalf("forgot %v %v", st, ok)
	}
}

// A figure is a life as the promise about forgetting reads.
type figure struct {
	sign                  int
	heard, closed, silent bool
	waits                 bool // a frame of it, for its commit
}

// A census is the ledger's lives, searched through wherever it looks at one.
type census struct {
	t      *rapid.T
	tb     testing.TB
	l      *Ledger
	bound  int
	now    time.Time
	known  map[subjects.Stream]*figure
	graves []subjects.Stream
	forgot subjects.Stream // by the last open
	signs  int
}

// TestForgettingAgainstModel: any order of beats, stored frames, arrivals and
// silences; the same lives are known, forgotten and refused as a search through
// all of them finds (promises 2 and 9).
func TestForgettingAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bound := rapid.IntRange(1, 4).Draw(rt, "streams")
		c := &census{t: rt, tb: t, l: New(Config{Streams: bound}), bound: bound, now: start, known: map[subjects.Stream]*figure{}}
		ops := []func(subjects.Stream){c.beat, c.beat, c.restore, c.restore, c.frame, c.pass}
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			ops[rapid.IntRange(0, len(ops)-1).Draw(rt, "op")](c.life(rapid.IntRange(0, figures-1).Draw(rt, "life")))
			c.compare()
		}
	})
}

const figures = 30

func (c *census) life(i int) subjects.Stream { return stream(c.tb, fmt.Sprintf("%02d", i)) }

// open finds or makes a life, as a beat or a stored frame does.
func (c *census) open(st subjects.Stream) (*figure, error) {
	c.forgot = subjects.Stream{}
	f := c.known[st]
	switch {
	case f != nil:
	case slices.Contains(c.graves, st):
		return nil, ErrForgotten
	case len(c.known) == c.bound && !c.evict():
		return nil, ErrStreams
	default:
		f = &figure{}
		c.known[st] = f
	}
	c.signs++
	f.sign = c.signs
	return f, nil
}

// evict forgets the life with the oldest sign of those that are over or unheard
// of; what is not closed and behind a living one has shown signs since.
func (c *census) evict() bool {
	alive := c.signs + 1
	for _, f := range c.known {
		if f.heard && !f.closed && !f.silent {
			alive = min(alive, f.sign)
		}
	}
	var victim *figure
	for st, f := range c.known {
		if !f.waits && (f.closed || f.sign < alive) && (victim == nil || f.sign < victim.sign) {
			c.forgot, victim = st, f
		}
	}
	if victim == nil {
		return false
	}
	delete(c.known, c.forgot)
	c.bury(c.forgot)
	return true
}

func (c *census) bury(st subjects.Stream) {
	c.graves = append(c.graves, st)
	c.graves = c.graves[max(0, len(c.graves)-tombstones*c.bound):]
}

func (c *census) beat(st subjects.Stream) {
	closed := rapid.IntRange(0, 3).Draw(c.t, "closed") == 0
	f, want := c.open(st)
	if want == nil {
		f.heard, f.silent, f.closed = true, false, f.closed || closed
	}
	_, err := c.l.Beat(st, control.Beat{Assigned: 2, Drained: 2, Closed: closed}, c.now)
	if !errors.Is(err, want) {
		c.t.Fatalf("beat of %v: %v, want %v", st, err, want)
	}
	c.compareForgot()
}

func (c *census) restore(st subjects.Stream) {
	_, want := c.open(st)
	if errors.Is(want, ErrStreams) {
		c.bury(st)
	}
	if got := c.l.Restore(st, c.now) != nil; got != (want == nil) {
		c.t.Fatalf("%v is restored: %v, want %v", st, got, want)
	}
	c.compareForgot()
}

func (c *census) compareForgot() {
	if got, ok := c.l.Forgot(); got != c.forgot || ok != (c.forgot != subjects.Stream{}) {
		c.t.Fatalf("forgot %v %v, want %v", got, ok, c.forgot)
	}
}

// frame lets a frame of a life arrive, or commits the one that has.
func (c *census) frame(st subjects.Stream) {
	f := c.known[st]
	if f == nil {
		return
	}
	a := c.l.Find(st)
	if f.waits {
		a.Commit(at(c.tb, a.Next()-1))
	} else {
		a.Arrive(at(c.tb, a.Next()), nil)
	}
	f.waits = !f.waits
}

func (c *census) pass(subjects.Stream) {
	c.now = c.now.Add(31 * time.Second)
	for st, f := range c.known {
		a := c.l.Find(st)
		a.Tick(c.now)
		f.silent = a.Over() // of which other tests are
	}
}

func (c *census) compare() {
	if c.l.Streams() != len(c.known) || len(c.l.buried) != len(c.graves) || len(c.l.graves) != len(c.graves) {
		c.t.Fatalf("%d lives are known, want %d; %d are forgotten, %d in the ring", c.l.Streams(), len(c.known), len(c.l.buried), len(c.l.graves))
	}
	for i := range figures {
		st := c.life(i)
		if got, want := c.l.Find(st) != nil, c.known[st] != nil; got != want {
			c.t.Fatalf("%v is known: %v, want %v", st, got, want)
		}
		if got, want := c.l.Forgotten(st), slices.Contains(c.graves, st); got != want {
			c.t.Fatalf("%v is forgotten: %v, want %v", st, got, want)
		}
	}
}
