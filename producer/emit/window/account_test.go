package window

import (
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
)

var start = time.Unix(1_000_000, 0)

func gone(pairs ...subjects.Position) (l []control.Range) {
	for i := 0; i < len(pairs); i += 2 {
		l = append(l, control.Range{From: pairs[i], To: pairs[i+1]})
	}
	return l
}

// TestUnattributedLossIsUnknown is promise 3: each case takes the positions
// 10 … 19 after an announcement {below 5, lost 2}, then hears announcements.
func TestUnattributedLossIsUnknown(t *testing.T) {
	tests := []struct {
		name string
		says []control.Settled
		want tally
	}{
		{"nothing lost", []control.Settled{{Below: 20, Lost: 2}}, tally{settled: 10}},
		{"not passed yet", []control.Settled{{Below: 10, Lost: 2}}, tally{}},
		{"partly passed", []control.Settled{{Below: 13, Lost: 2}}, tally{settled: 3}},
		{"ours lost", []control.Settled{{Below: 20, Lost: 4, Gone: gone(11, 12)}}, tally{settled: 8, lost: 2}},
		{"others lost", []control.Settled{{Below: 20, Lost: 5, Gone: gone(6, 8)}}, tally{settled: 10}},
		{"gone said early", []control.Settled{{Below: 6, Lost: 2, Gone: gone(12, 12)}, {Below: 20, Lost: 3}}, tally{settled: 9, lost: 1}},
		{"gone said twice", []control.Settled{{Below: 13, Lost: 3, Gone: gone(12, 12)}, {Below: 20, Lost: 3, Gone: gone(12, 12)}}, tally{settled: 9, lost: 1}},
		{"gone not said", []control.Settled{{Below: 20, Lost: 3}}, tally{unknown: 10}},
		{"gone partly said", []control.Settled{{Below: 20, Lost: 4, Gone: gone(11, 11)}}, tally{lost: 1, unknown: 9}},
		{"unclear before ours only", []control.Settled{{Below: 10, Lost: 3}, {Below: 20, Lost: 3}}, tally{settled: 10}},
		{"all lost, not said", []control.Settled{{Below: 10, Lost: 2}, {Below: 20, Lost: 12}}, tally{lost: 10}},
		{"healed", []control.Settled{{Below: 20, Lost: 1}}, tally{settled: 10}},
		{"below goes back", []control.Settled{{Below: 13, Lost: 2}, {Below: 11, Lost: 9}, {Below: 20, Lost: 2}}, tally{settled: 10}},
		{"closed", []control.Settled{{Below: 14, Lost: 2, Closed: true}}, tally{settled: 4, lost: 6}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var a account
			a.announce(control.Settled{Below: 5, Lost: 2}, start)
			a.take(span{from: 10, to: 15})
			a.take(span{from: 15, to: 20})
			var got tally
			for _, s := range tt.says {
				a.announce(s, start)
				got.add(a.resolve(0))
			}
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestFirstAnnouncement: what a life lost before we listened is attributed by
// the list alone, and only if the connection was never cut.
func TestFirstAnnouncement(t *testing.T) {
	tests := []struct {
		name string
		says control.Settled
		cuts uint64
		want tally
	}{
		{"no loss ever", control.Settled{Below: 20}, 1, tally{settled: 10}},
		{"all loss listed", control.Settled{Below: 20, Lost: 1, Gone: gone(12, 12)}, 1, tally{settled: 9, lost: 1}},
		{"older loss", control.Settled{Below: 20, Lost: 7}, 0, tally{settled: 10}},
		{"older loss and ours", control.Settled{Below: 20, Lost: 7, Gone: gone(19, 19)}, 0, tally{settled: 9, lost: 1}},
		{"older loss, cut between", control.Settled{Below: 20, Lost: 7, Gone: gone(19, 19)}, 1, tally{unknown: 9, lost: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var a account
			a.take(span{from: 10, to: 20})
			a.announce(tt.says, start)
			if got := a.resolve(tt.cuts); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			// An answer that comes after the announcement has the same fate.
			a.take(span{from: 10, to: 20})
			if got := a.resolve(tt.cuts); got != tt.want {
				t.Errorf("taken late: got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestAccountIsBounded: what an account forgets is unknown, not settled.
func TestAccountIsBounded(t *testing.T) {
	var a account
	a.announce(control.Settled{}, start)
	for p := subjects.Position(0); p < 4*maxRanges; p += 2 {
		a.announce(control.Settled{Below: p + 2, Lost: uint64(p/2 + 1), Gone: gone(p, p)}, start)
	}
	if len(a.gone) > maxRanges {
		t.Fatalf("%d ranges are remembered, at most %d are allowed", len(a.gone), maxRanges)
	}
	a.take(span{from: 1, to: 2})
	if got := a.resolve(0); got != (tally{unknown: 1}) {
		t.Errorf("a forgotten position is %+v, want unknown", got)
	}
	last := subjects.Position(4*maxRanges - 1)
	a.take(span{from: last, to: last + 1})
	if got := a.resolve(0); got != (tally{settled: 1}) {
		t.Errorf("a remembered position is %+v, want settled", got)
	}
}
