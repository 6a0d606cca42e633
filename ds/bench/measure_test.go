package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// Promise 1: A B A B, the first round of each not counted.
func TestRoundsTakeTurns(t *testing.T) {
	var order []string
	one := func(name string) candidate {
		return candidate{name: name, load: load{frames: 10}, prepare: func(context.Context) (func() error, func() error, error) {
			return func() error { order = append(order, name); return nil }, func() error { order = append(order, "-"); return nil }, nil
		}}
	}
	all, err := rounds(t.Context(), "g", 2, []candidate{one("a"), one("b")}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "a-b-a-b-a-b-" {
		t.Errorf("the order is %s", got)
	}
	if len(all) != 2 || len(all[0]) != 2 || len(all[1]) != 2 {
		t.Errorf("counted %v", all)
	}
}

// Promise 2: a measurement that fails is no number, and names itself.
func TestLossIsAnErrorNotANumber(t *testing.T) {
	lossy := candidate{name: "lossy", load: load{frames: 10}, prepare: ready(func() error { return all(9, 10) })}
	_, err := rounds(t.Context(), "g", 1, []candidate{lossy}, func(string) {})
	if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "lossy") {
		t.Errorf("got %v", err)
	}
}

func TestResultsCompareWithinTheGroup(t *testing.T) {
	cs := []candidate{{name: "a"}, {name: "b", of: []string{"a", "absent"}}}
	got := results("g", cs, [][]sample{{{rate: 100}, {rate: 10}, {rate: 1}}, {{rate: 50, allocs: 2}, {rate: 5, allocs: 4}, {rate: 0.5, allocs: 3}}})
	if got[0].Rate.Median != 10 || got[1].Allocs.Median != 3 || len(got[1].Ratios) != 1 {
		t.Fatalf("got %+v", got)
	}
	if r := got[1].Ratios[0]; r.Of != "a" || r.Value.Q1 != 0.5 || r.Value.Q3 != 0.5 || r.Versus != "below" {
		t.Errorf("got %+v", r)
	}
}

// The messages of a load are what its frames make: as many, of the same
// bytes, in batches that fit one commit.
func TestLoadsHoldTheirFrames(t *testing.T) {
	for name, l := range map[string]load{"hot": hotLoad(100_000), "wide": wideLoad(7000), "single": singleLoad(1500)} {
		frames, payload, largest := 0, 0, 0
		for _, m := range l.messages {
			frames, payload, largest = frames+m.Run.Len(), payload+m.Run.Bytes(), max(largest, m.Run.Len())
			if m.Run.Bytes() > frame.RunBytes {
				t.Errorf("%s: a run of %d bytes", name, m.Run.Bytes())
			}
		}
		if frames != l.cycle || payload != frames*lineBytes || l.frames%l.cycle != 0 {
			t.Errorf("%s: %d frames of %d bytes, cycle %d, in all %d", name, frames, payload, l.cycle, l.frames)
		}
		if (name == "hot") != (largest > 1) {
			t.Errorf("%s: the largest run has %d frames", name, largest)
		}
		for rest := l.messages; len(rest) > 0; {
			n := l.take(rest)
			if n < 1 || n > 1000 {
				t.Fatalf("%s: a batch of %d messages", name, n)
			}
			rest = rest[n:]
		}
	}
}

// Credit is never short while takers leave no more than a part each, and
// never more than the window.
func TestCreditBoundsWhatIsUnderWay(t *testing.T) {
	const window, total = 64, 10_000
	c := newCredit(window)
	sent, received := 0, 0
	takers := make([]taker, publishers)
	for i := range takers {
		takers[i].credit = c
	}
	for i := 0; sent < total; i++ {
		// The first takers end early, with what they have.
		who := min(i*publishers/200, publishers-1)
		if takers[who].have == 0 && len(c.tokens) == 0 {
			if received == sent {
				t.Fatalf("stuck after %d", sent)
			}
			c.give(sent - received)
			received = sent
			continue
		}
		if err := takers[who].take(t.Context()); err != nil {
			t.Fatal(err)
		}
		if sent++; sent-received > window {
			t.Fatalf("%d are under way", sent-received)
		}
	}
}

// settledAt is the first announcement that passes a position.
func TestSettledAtIsTheFirstThatPasses(t *testing.T) {
	c := newClocked(3)
	c.pos = []subjects.Position{4, 5, 9}
	base := c.start[0]
	c.settled = []mark{{5, base.Add(1)}, {9, base.Add(2)}, {10, base.Add(3)}}
	for i, want := range []int{1, 2, 3} {
		if got := c.settledAt()[i]; got != base.Add(time.Duration(want)) {
			t.Errorf("frame %d: %v", i, got.Sub(base))
		}
	}
}

func TestNumbersSurviveTheirPayload(t *testing.T) {
	for _, n := range []int{0, 7, 3999} {
		p := numbered(n)
		got, err := numberOf(p)
		if got != n || err != nil || len(p) != lineBytes {
			t.Errorf("%d: got %d, %v, %d bytes", n, got, err, len(p))
		}
	}
	if _, err := numberOf([]byte("x")); err == nil {
		t.Error("no error for a payload without a number")
	}
}
