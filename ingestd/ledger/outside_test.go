package ledger

import (
	"slices"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
)

// TestEvictedIsNoHole: below the settled bound that its mux has heard, what is
// missing of a life in a store that has let go of messages has aged out: it is
// neither lost nor asked for, and its repeats are duplicates; from there on it
// is a hole like any other (P8.3).
func TestEvictedIsNoHole(t *testing.T) {
	l := New(Config{})
	l.Evicting()
	a := l.Restore(stream(t, "A"), start)
	a.Commit(at(t, 101, 103, 105)) // its neighbours in the slice have aged out
	if _, err := l.Beat(a.Stream(), control.Beat{Assigned: 120, Drained: 120, Oldest: 104, Below: 104}, start); err != nil {
		t.Fatal(err)
	}
	if got := a.Missing(); !slices.Equal(got, []control.Range{span(104, 104)}) {
		t.Fatalf("missing %v", got)
	}
	if got := a.TakeGone(); len(got) > 0 {
		t.Fatalf("gone %v", got)
	}
	if fresh, dup := a.Arrive(at(t, 5, 102, 104), nil); !slices.Equal(flat(fresh), []subjects.Position{104}) || dup != 2 {
		t.Fatalf("fresh %v, %d duplicates", flat(fresh), dup)
	}
	if s, _ := a.Settled(); s.Below != 104 || s.Lost != 0 {
		t.Fatalf("settled %+v", s)
	}
}

// TestEvictedWhole: nothing of a living life is left in the store.
func TestEvictedWhole(t *testing.T) {
	l := New(Config{})
	l.Evicting()
	a, err := l.Beat(stream(t, "A"), control.Beat{Assigned: 10, Drained: 10, Oldest: 10, Below: 10}, start)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := a.Settled(); s.Below != 10 || s.Lost != 0 || len(a.TakeGone()) > 0 {
		t.Fatalf("settled %+v", s)
	}
}

// TestUncommittedIsNotEvicted: frames of a young life were lost on the way, and
// another life's have aged out: they are asked for.
func TestUncommittedIsNotEvicted(t *testing.T) {
	l := New(Config{})
	l.Evicting()
	a := l.Restore(stream(t, "A"), start)
	a.Commit(over(t, 5, 9))
	if _, err := l.Beat(a.Stream(), control.Beat{Assigned: 10, Drained: 10}, start); err != nil {
		t.Fatal(err)
	}
	if s, changed := a.Settled(); changed || s.Below != 0 {
		t.Fatalf("settled %+v", s)
	}
	if got := a.Ask(start.Add(time.Second)); !slices.Equal(got, []control.Range{span(0, 4)}) {
		t.Fatalf("asks for %v", got)
	}
}

// TestEvictedWithoutABeat: a life that is over is taken to have aged out below
// its first stored frame; what is missing above is lost.
func TestEvictedWithoutABeat(t *testing.T) {
	l := New(Config{})
	l.Evicting()
	a := l.Restore(stream(t, "A"), start)
	a.Commit(at(t, 7, 9))
	a.Tick(start.Add(time.Hour))
	if s, _ := a.Settled(); s.Below != 10 || s.Lost != 1 || !s.Silent {
		t.Fatalf("settled %+v", s)
	}
}

// TestUncommittedIsLeftToCommit: after an unclear result exactly the frames that
// the store does not hold are (P7.4, P9.6).
func TestUncommittedIsLeftToCommit(t *testing.T) {
	l := New(Config{})
	a := l.Restore(stream(t, "A"), start)
	r := over(t, 0, 9)
	a.Arrive(r, nil)
	a.Commit(at(t, 2, 3, 7))
	left := a.Uncommitted(r, nil)
	if got := flat(left); !slices.Equal(got, []subjects.Position{0, 1, 4, 5, 6, 8, 9}) || len(left) != 3 {
		t.Fatalf("uncommitted %v in %d runs", got, len(left))
	}
	for _, u := range left {
		a.Commit(u)
	}
	if left := a.Uncommitted(r, nil); len(left) != 0 {
		t.Fatalf("uncommitted %v after all", flat(left))
	}
}

// TestRefusedIsGivenUp: a frame that can never be stored passes as lost, and
// holds nothing back.
func TestRefusedIsGivenUp(t *testing.T) {
	l := New(Config{})
	a := l.Restore(stream(t, "A"), start)
	a.Arrive(over(t, 0, 4), nil)
	a.Commit(at(t, 0, 1, 4))
	a.Refuse(at(t, 2, 3))
	if got := a.TakeGone(); !slices.Equal(got, []control.Range{span(2, 3)}) {
		t.Fatalf("gone %v", got)
	}
	if s, _ := a.Settled(); s.Below != 5 || s.Lost != 2 {
		t.Fatalf("settled %+v", s)
	}
}
