package spread

import (
	"fmt"
	"slices"
)

// A Spread is a distribution by its quartiles.
type Spread struct {
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
}

// Of sorts a copy of the values and reads its quartiles, interpolating
// between neighbours. Without values it is zero.
func Of(values []float64) Spread {
	sorted := slices.Sorted(slices.Values(values))
	return Spread{Q1: Quantile(sorted, 0.25), Median: Quantile(sorted, 0.5), Q3: Quantile(sorted, 0.75)}
}

// Quantile reads from ascending values, interpolating between neighbours.
// Without values it is 0.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Pairs is the spread of a[i]/b[i]: each value of one round over the other of
// the same round, so that what slows a whole round cancels out. It ignores
// rounds that lack one, or whose b is 0.
func Pairs(a, b []float64) Spread {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if b[i] != 0 {
			ratios = append(ratios, a[i]/b[i])
		}
	}
	return Of(ratios)
}

// A Verdict is how a Spread lies to a bound.
type Verdict string

// The verdicts. A bound on a quartile, or between the two, is not resolved.
const (
	Above      Verdict = "above"
	Below      Verdict = "below"
	Unresolved Verdict = "not resolved"
)

// Against compares the spread with a bound.
func (s Spread) Against(bound float64) Verdict {
	switch {
	case s.Q1 > bound:
		return Above
	case s.Q3 < bound:
		return Below
	}
	return Unresolved
}

// String is the median with the quartiles, for ratios and milliseconds.
func (s Spread) String() string {
	return fmt.Sprintf("%.2f [%.2f %.2f]", s.Median, s.Q1, s.Q3)
}
