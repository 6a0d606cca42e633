package spread

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   Spread
	}{
		{"none", nil, Spread{}},
		{"one", []float64{3}, Spread{3, 3, 3}},
		{"two, interpolated", []float64{4, 2}, Spread{2.5, 3, 3.5}},
		{"nine", []float64{9, 1, 8, 2, 7, 3, 6, 4, 5}, Spread{3, 5, 7}},
		{"an outlier moves no quartile", []float64{1, 2, 3, 4, 1e9}, Spread{2, 3, 4}},
	} {
		if got := Of(c.values); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The quartiles are ordered, lie within the values, do not depend on their
// order, and leave the caller's slice alone.
func TestSpreadProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 30).Draw(t, "values")
		given := slices.Clone(values)
		s := Of(values)
		if !slices.Equal(values, given) {
			t.Fatal("the values were changed")
		}
		if !(slices.Min(values) <= s.Q1 && s.Q1 <= s.Median && s.Median <= s.Q3 && s.Q3 <= slices.Max(values)) {
			t.Fatalf("%v of %v", s, values)
		}
		slices.Reverse(values)
		if Of(values) != s {
			t.Fatal("depends on the order")
		}
		below := 0
		for _, v := range values {
			if v <= s.Median {
				below++
			}
		}
		if 2*below < len(values) {
			t.Fatalf("only %d of %d values are at or below the median %v", below, len(values), s.Median)
		}
	})
}

// Promise 1: what slows a whole round cancels out, which the ratio of the two
// medians would not do.
func TestPairsCancelWhatSlowsARound(t *testing.T) {
	a := []float64{80, 8, 0.8, 40, 4}
	b := []float64{100, 10, 1, 50, 5}
	got := Pairs(a, b)
	for _, v := range []float64{got.Q1, got.Median, got.Q3} {
		if math.Abs(v-0.8) > 1e-9 {
			t.Fatalf("got %v, want 0.8 throughout", got)
		}
	}
}

func TestPairsIgnoreIncompleteRounds(t *testing.T) {
	if got := Pairs([]float64{2, 9, 4}, []float64{1, 0}); got != (Spread{2, 2, 2}) {
		t.Fatalf("got %v", got)
	}
}

// Promise 1: a bound between the quartiles, or on one, is not resolved.
func TestBoundBetweenQuartilesIsNotResolved(t *testing.T) {
	s := Spread{Q1: 0.8, Median: 0.9, Q3: 1.1}
	for bound, want := range map[float64]Verdict{
		0.7: Above, 0.8: Unresolved, 0.9: Unresolved, 1: Unresolved, 1.1: Unresolved, 1.2: Below,
	} {
		if got := s.Against(bound); got != want {
			t.Errorf("against %v: %q, want %q", bound, got, want)
		}
	}
}
