package bench

import (
	"testing"

	"datastream/ds/bench/spread"
)

func TestRatesReadAlike(t *testing.T) {
	for _, c := range []struct {
		s    spread.Spread
		want string
	}{
		{spread.Spread{Q1: 1_195_000, Median: 1_234_000, Q3: 1_256_000}, "1.23 M [1.20 1.26]"},
		{spread.Spread{Q1: 528_900, Median: 868_000, Q3: 1_010_400}, "868 k [529 1010]"},
		{spread.Spread{Q1: 12_840, Median: 16_800, Q3: 19_640}, "16.8 k [12.8 19.6]"},
		{spread.Spread{Q1: 8, Median: 9.5, Q3: 120}, "9.50 [8.00 120]"},
	} {
		if got := rate(c.s); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A ratio from which 1 is not resolved says so (package spread, promise 2).
func TestUnresolvedRatiosSaySo(t *testing.T) {
	got := ratios([]Ratio{newRatio("bare", spread.Spread{Q1: 0.9, Median: 1, Q3: 1.1}), newRatio("commit", spread.Spread{Q1: 0.7, Median: 0.8, Q3: 0.9})})
	if want := "1.00 [0.90 1.10] of bare, from 1 not resolved; 0.80 [0.70 0.90] of commit"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
