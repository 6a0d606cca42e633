package window

import (
	"testing"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/control"
)

// TestRangesAgainstSet compares ranges with a plain set of positions.
func TestRangesAgainstSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s ranges
		model := map[subjects.Position]bool{}
		pos := rapid.Uint64Range(0, 40)
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			a, b := pos.Draw(t, "a"), pos.Draw(t, "b")
			r := control.Range{From: subjects.Position(min(a, b)), To: subjects.Position(max(a, b))}
			add := rapid.Bool().Draw(t, "add")
			if add {
				s.add(r)
			} else {
				s.remove(r)
			}
			for p := r.From; p <= r.To; p++ {
				model[p] = add
			}
			for i := 1; i < len(s); i++ {
				if s[i-1].To+1 >= s[i].From {
					t.Fatalf("ranges %v touch or do not ascend", s)
				}
			}
			from, to := pos.Draw(t, "from"), pos.Draw(t, "to")
			var want uint64
			for p := from; p < to; p++ {
				if model[subjects.Position(p)] {
					want++
				}
			}
			if got := s.count(subjects.Position(from), subjects.Position(to)); from < to && got != want {
				t.Fatalf("count(%d, %d) of %v = %d, want %d", from, to, s, got, want)
			}
		}
	})
}

func TestRangesAtTheLastPosition(t *testing.T) {
	var s ranges
	s.add(control.Range{From: subjects.MaxPosition, To: subjects.MaxPosition})
	s.add(control.Range{From: 0, To: 0})
	if n := s.count(0, subjects.MaxPosition+1); n != 2 {
		t.Errorf("count = %d, want 2", n)
	}
	s.remove(control.Range{From: 0, To: subjects.MaxPosition})
	if len(s) != 0 {
		t.Errorf("after removing everything: %v", s)
	}
}
