package ledger

import (
	"slices"
	"testing"

	"datastream/subjects"
	"datastream/subjects/control"
)

// TestEvictedIsNoHole: what the store has let go of is neither missing nor asked
// for, and its repeats are duplicates (P8.3).
func TestEvictedIsNoHole(t *testing.T) {
	l := New(Config{})
	a := l.Restore(stream(t, "A"), start)
	a.Evicted(0)
	a.Evicted(100)
	a.Commit(at(t, 100, 102))
	if got := a.Missing(); !slices.Equal(got, []control.Range{span(101, 101)}) || a.Holes() != 1 {
		t.Fatalf("missing %v in %d holes", got, a.Holes())
	}
	if fresh, dup := a.Arrive(at(t, 5, 101), nil); !slices.Equal(flat(fresh), []subjects.Position{101}) || dup != 1 {
		t.Fatalf("fresh %v, %d duplicates", flat(fresh), dup)
	}
	if s, _ := a.Settled(); s.Below != 101 || s.Lost != 0 {
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
