package ledger

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/control"
)

// checkSet compares a set with the sorted positions it must have.
func checkSet(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *Set, want []subjects.Position) {
	t.Helper()
	l := s.list()
	for i := 1; i < len(l); i++ {
		if l[i].From <= l[i-1].To+1 {
			t.Fatalf("intervals %v do not ascend with a gap between", l)
		}
	}
	if got := spread(l); !slices.Equal(got, want) || s.Count() != uint64(len(want)) || s.Len() != len(l) {
		t.Fatalf("set %v of %d, want %v", got, s.Count(), want)
	}
}

// apply does one operation on a set and on a naive one, and compares what it
// says. Kinds 2 and 3 take every step-th position from a to b at once.
func apply(s *Set, naive map[subjects.Position]bool, kind int, a, b, step subjects.Position) (got, want uint64) {
	var list []control.Range
	if kind < 2 {
		list = append(list, span(a, b))
	} else {
		for p := a; p <= b; p += step + 2 {
			list = append(list, span(p, min(p+step/2, b)))
		}
	}
	for _, r := range list {
		for p := r.From; p <= r.To; p++ {
			if add := kind%2 == 0; naive[p] != add {
				want++
				naive[p] = add
			}
		}
	}
	var tmp []control.Range
	switch kind {
	case 0:
		got = s.Add(list[0])
	case 1:
		got = s.Remove(list[0])
	case 2:
		got = s.addAll(list, &tmp)
	case 3:
		got = s.removeAll(list, &tmp)
	}
	return got, want
}

func members(naive map[subjects.Position]bool) (out []subjects.Position) {
	for p, in := range naive {
		if in {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// TestSetAgainstModel does random operations on a Set and on a map.
func TestSetAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var s Set
		naive := map[subjects.Position]bool{}
		draw := func(name string, from, to int) subjects.Position {
			return subjects.Position(rapid.IntRange(from, to).Draw(rt, name))
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			a := draw("from", 0, 80)
			b := draw("to", int(a), 80)
			if rapid.Bool().Draw(rt, "small") {
				b = min(b, a+2)
			}
			got, want := apply(&s, naive, int(draw("kind", 0, 3)), a, b, draw("step", 0, 4))
			if got != want {
				rt.Fatalf("%d changed, want %d", got, want)
			}
			if rapid.IntRange(0, 9).Draw(rt, "trim") == 0 {
				s.trim()
			}
			checkSet(rt, &s, members(naive))
			var missing []subjects.Position
			for p := a; p <= b; p++ {
				if !naive[p] {
					missing = append(missing, p)
				}
				if s.Has(p) != naive[p] {
					rt.Fatalf("has %v: %v", p, s.Has(p))
				}
			}
			if got := spread(slices.Collect(s.Missing(span(a, b)))); !slices.Equal(got, missing) {
				rt.Fatalf("missing in %v … %v: %v, want %v", a, b, got, missing)
			}
			gap := a
			for naive[gap] {
				gap++
			}
			if s.FirstGap(a) != gap {
				rt.Fatalf("first gap from %v: %v, want %v", a, s.FirstGap(a), gap)
			}
		}
	})
}

// TestSetAtTheEnds: the largest positions neither overflow nor take time.
func TestSetAtTheEnds(t *testing.T) {
	const top = subjects.MaxPosition
	var s Set
	if s.Add(span(0, 0)) != 1 || s.Add(span(top, top)) != 1 || s.Len() != 2 {
		t.Fatalf("set %v", s.list())
	}
	if got := slices.Collect(s.Missing(span(0, top))); !slices.Equal(got, []control.Range{span(1, top-1)}) {
		t.Fatalf("missing %v", got)
	}
	if n := s.Add(span(1, top-1)); n != uint64(top)-1 || s.Count() != 1<<64-1 || s.Len() != 1 {
		t.Fatalf("added %d, set %v of %d", n, s.list(), s.Count())
	}
	if s.FirstGap(5) != top+1 {
		t.Fatalf("first gap %v", s.FirstGap(5))
	}
	if n := s.Remove(span(top, top)); n != 1 || s.Add(span(5, 4)) != 0 || s.Remove(span(5, 4)) != 0 {
		t.Fatalf("removed %d", n)
	}
	if r, ok := s.Last(); !ok || r != span(0, top-1) {
		t.Fatalf("last %v", r)
	}
}

// FuzzSet reads operations from bytes and compares with a map.
func FuzzSet(f *testing.F) {
	f.Add([]byte{0, 3, 9, 1, 1, 5, 6, 0, 2, 0, 60, 2, 3, 10, 40, 1})
	f.Add([]byte{2, 0, 200, 0, 3, 0, 200, 1, 0, 0, 255, 0, 1, 7, 7, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Set
		naive := map[subjects.Position]bool{}
		for ; len(b) >= 4 && len(b) < 4096; b = b[4:] {
			x, y := subjects.Position(b[1]), subjects.Position(b[2])
			got, want := apply(&s, naive, int(b[0]%4), min(x, y), max(x, y), subjects.Position(b[3]%8))
			if got != want {
				t.Fatalf("%d changed, want %d", got, want)
			}
		}
		checkSet(t, &s, members(naive))
	})
}

// TestAppendingAllocatesNothing: a set that grows at the end and shrinks at the
// front settles.
func TestAppendingAllocatesNothing(t *testing.T) {
	var s Set
	var p subjects.Position
	step := func() {
		for range 64 {
			s.Add(span(p, p))
			p += 2
		}
		s.Remove(control.Range{To: p - 40})
	}
	for range 10 {
		step()
	}
	room := cap(s.buf)
	if n := testing.AllocsPerRun(1000, step); n != 0 || cap(s.buf) != room {
		t.Fatalf("%v allocations, and room for %d intervals grew to %d", n, room, cap(s.buf))
	}
}

// TestTrimGivesMemoryBack (promise 8).
func TestTrimGivesMemoryBack(t *testing.T) {
	var s Set
	for p := subjects.Position(0); p < 8192; p += 2 {
		s.Add(span(p, p))
	}
	s.Add(span(0, 9000))
	s.trim()
	if cap(s.buf) > 64 || s.Count() != 9001 {
		t.Fatalf("%d intervals of room for %v", cap(s.buf), s.list())
	}
}
