package ledger

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// every adds single frames at every second position, n of them from from on.
func every(t testing.TB, a *Account, from subjects.Position, n int) {
	t.Helper()
	for i := range n {
		p := from + 2*subjects.Position(i)
		a.Arrive(at(t, p), nil)
		a.Commit(at(t, p))
	}
}

// TestHolesAreBounded: whatever comes, no stream keeps more holes that are old
// than it may, nor do all together, and what was closed is accounted for
// (promise 8).
func TestHolesAreBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const each, all, streams = 7, 20, 5
		l := New(Config{StreamHoles: each, Holes: all})
		now := start
		names := []string{"A", "B", "C", "D", "E"}
		for _, n := range names {
			l.Restore(stream(t, n), now)
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			a := l.Find(stream(t, names[rapid.IntRange(0, streams-1).Draw(rt, "stream")]))
			every(t, a, subjects.Position(rapid.IntRange(0, 200).Draw(rt, "from")), rapid.IntRange(1, 30).Draw(rt, "frames"))
			l.Each(func(a *Account) { a.Tick(now) })
			now = now.Add(3 * time.Millisecond)
			l.Each(func(a *Account) { a.Tick(now) })
			sum := 0
			l.Each(func(a *Account) {
				a.Settled()
				if n := a.gone.Len(); n > each {
					rt.Fatalf("%d ranges are kept as given up", n)
				}
				c := a.Counts()
				if sum += c.Holes; c.Holes > each {
					rt.Fatalf("%d holes", c.Holes)
				}
				if c.Committed+c.Closed+c.Missing != uint64(c.Horizon) || c.GivenUp != c.Closed {
					rt.Fatalf("counts %+v", c)
				}
			})
			if sum > all || sum != l.Holes() {
				rt.Fatalf("%d holes in all, the ledger says %d", sum, l.Holes())
			}
		}
	})
}

// TestScanIsBounded: without an instant between, as while the store is scanned,
// a stream has at most an allowance of one slice more (promise 8).
func TestScanIsBounded(t *testing.T) {
	l := New(Config{StreamHoles: 10})
	a := l.Restore(stream(t, "A"), start)
	for p := subjects.Position(1); p < 4*slack; p += 2 {
		a.Commit(at(t, p))
		if a.Holes() > 10+slack {
			t.Fatalf("%d holes", a.Holes())
		}
	}
	a.Tick(start)
	a.Tick(start.Add(time.Second))
	if c := a.Counts(); c.Holes != 10 || c.Committed+c.Closed+c.Missing != uint64(c.Horizon) {
		t.Fatalf("counts %+v", c)
	}
}

// TestInterleavedSliceClosesNothing: the holes that a slice's runs make for each
// other close no hole that is waited for, even with no room for them (promise 8,
// P3.1).
func TestInterleavedSliceClosesNothing(t *testing.T) {
	l := New(Config{StreamHoles: 1})
	a := l.Restore(stream(t, "A"), start)
	a.Commit(at(t, 0))
	a.Commit(at(t, 2)) // 1 is lost, and may heal
	now := start
	a.Tick(now)
	now = now.Add(time.Second)
	a.Tick(now)
	var c frame.Cutter
	for p := range subjects.Position(frame.SliceFrames) {
		c.Add(frame.Single(subjects.Channel(rune('a'+p*7%23)), 3+p, []byte("x")), false)
	}
	for _, cut := range c.Runs(nil) {
		a.Arrive(cut.Run, nil)
		a.Ask(now)
	}
	if c := a.Counts(); c.Closed != 0 || c.Holes != 1 || c.Waiting != frame.SliceFrames {
		t.Fatalf("counts %+v", c)
	}
}

// TestAnnouncementListsAllItCounts: an announcement lists at most 256 ranges,
// and Below stops where that would not list all by which Lost grew (promise 6).
func TestAnnouncementListsAllItCounts(t *testing.T) {
	l := New(Config{})
	a := l.Restore(stream(t, "A"), start)
	every(t, a, 1, 1000)
	if _, err := l.Beat(a.Stream(), control.Beat{Assigned: 2001, Drained: 2001, Closed: true}, start); err != nil {
		t.Fatal(err)
	}
	s0, _ := a.Settled() // and the mux hears nothing of it
	a.Heard(0)
	if s, changed := a.Settled(); !changed || !reflect.DeepEqual(s, s0) {
		t.Fatalf("said again as below %v with %d gone, want below %v with %d", s.Below, len(s.Gone), s0.Below, len(s0.Gone))
	}
	lost := s0.Lost
	for range 3 {
		s, changed := a.Settled()
		var n uint64
		for _, r := range s.Gone {
			n += r.Len()
		}
		if !changed || len(s.Gone) > goneRanges || n != s.Lost-lost || s.Closed != (s.Below == 2001) {
			t.Fatalf("settled below %v lost %d (from %d) with %d gone, changed %v", s.Below, s.Lost, lost, n, changed)
		}
		if _, err := control.DecodeSettled(s.Encode()); err != nil {
			t.Fatal(err)
		}
		lost = s.Lost
	}
	if n := len(a.unsure); n > goneRanges {
		t.Fatalf("%d ranges are kept for a mux that hears nothing", n)
	}
	a.Heard(s0.Below)
	s, changed := a.Settled()
	if _, err := control.DecodeSettled(s.Encode()); err != nil || !changed || s.Below != 2001 || len(s.Gone) > goneRanges {
		t.Fatalf("said again: below %v with %d gone, changed %v, %v", s.Below, len(s.Gone), changed, err)
	}
	if s, changed := a.Settled(); changed || s.Below != 2001 || s.Lost != 1001 {
		t.Fatalf("settled %+v, changed %v", s, changed)
	}
}

// TestAsksAreBounded: an answer that cuts a hole into many parts of different
// fates makes no more asks than there may be holes (promise 8).
func TestAsksAreBounded(t *testing.T) {
	l := New(Config{StreamHoles: 1})
	a := l.Restore(stream(t, "A"), start)
	a.Commit(at(t, 1<<40))
	now := start
	a.Ask(now)
	most := 0
	for round := range 9 {
		now = now.Add(2 * time.Second)
		var ans control.RepairAnswer
		for _, r := range a.Ask(now) {
			step := max(subjects.Position(r.Len())/control.MaxRanges-subjects.Position(round), 2)
			for p := r.From; p+1 < r.To && len(ans.Sent) < control.MaxRanges; p += step {
				ans.Sent = append(ans.Sent, span(p, p+step/2-1))
			}
		}
		a.Answer(ans, true, now)
		if most = max(most, len(a.asks)); most > 1+slack {
			t.Fatalf("%d asks", most)
		}
	}
	if most < slack/2 {
		t.Fatalf("at most %d asks: the bound was not reached", most)
	}
	if c := a.Counts(); c.Holes != 1 || c.GivenUp != 0 {
		t.Fatalf("counts %+v", c)
	}
	a.arrived.Add(span(0, 1<<40-2)) // all but the last comes
	a.Ask(now.Add(2 * time.Second))
	if n, c := len(a.asks), cap(a.asks); n != 1 || c > 64 {
		t.Fatalf("%d asks are left, with room for %d", n, c)
	}
}

// TestOldHolesAreCounted: by intervals as by positions.
func TestOldHolesAreCounted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := New(Config{}).Restore(stream(t, "A"), start)
		for p := range subjects.Position(12) {
			if rapid.Bool().Draw(rt, "arrived") {
				a.arrived.Add(span(p, p))
			}
		}
		a.horizon = max(a.Next(), subjects.Position(rapid.IntRange(0, 14).Draw(rt, "horizon")))
		a.ripe = subjects.Position(rapid.Uint64Range(0, uint64(a.horizon)).Draw(rt, "ripe"))
		want := 0
		for p := range a.ripe {
			if !a.arrived.Has(p) && (p == 0 || a.arrived.Has(p-1)) {
				want++
			}
		}
		if got := a.old(); got != want {
			rt.Fatalf("%d holes of %v begin below %v, want %d", got, a.arrived.list(), a.ripe, want)
		}
	})
}

// TestAgesAreKept: however often time is told, a hole is asked for no earlier
// than AskAfter after it was seen and at most a quarter of that later (promise
// 4).
func TestAgesAreKept(t *testing.T) {
	l := New(Config{})
	a := l.Restore(stream(t, "A"), start)
	const step = 37 * time.Microsecond
	seen := map[subjects.Position]time.Time{}
	now, next, asked := start, subjects.Position(1), 0
	for range 1000 {
		if rng := next % 7; rng < 5 { // sometimes nothing comes
			a.Commit(at(t, next))
			seen[next-1] = now
		}
		next += 2
		for _, p := range spread(a.Ask(now)) {
			at, ok := seen[p]
			if !ok { // the position before one that did not come
				at = seen[p-1]
			}
			if age := now.Sub(at); age < 2*time.Millisecond || ok && age > 2500*time.Microsecond+step {
				t.Fatalf("asked for %v at the age of %v", p, age)
			}
			asked++
		}
		a.Answer(control.RepairAnswer{}, false, now)
		now = now.Add(step)
	}
	if asked < 500 {
		t.Fatalf("only %d positions were asked for", asked)
	}
}

// TestDueIsWhenAskHasSomething: not before, and then (promise 4).
func TestDueIsWhenAskHasSomething(t *testing.T) {
	l := New(Config{})
	a := l.Restore(stream(t, "A"), start)
	if _, ok := a.Due(); ok {
		t.Fatal("due without a hole")
	}
	a.Commit(at(t, 1))
	now := start.Add(123 * time.Microsecond)
	a.Ask(now)
	for range 3 {
		due, ok := a.Due()
		if !ok || !due.After(now) {
			t.Fatalf("due %v at %v, %v", due, now, ok)
		}
		if got := a.Ask(due.Add(-1)); got != nil {
			t.Fatalf("asked for %v before it was due", got)
		}
		now = due
		if got := a.Ask(now); !slices.Equal(got, []control.Range{span(0, 0)}) {
			t.Fatalf("asked for %v when due", got)
		}
		if _, ok := a.Due(); ok {
			t.Fatal("due while a request is out")
		}
		a.Answer(control.RepairAnswer{}, false, now)
	}
}

// TestHeldResendsAreNotVain: while commits fail a frame that was sent may have
// found no room, so its resends do not count (promise 7).
func TestHeldResendsAreNotVain(t *testing.T) {
	l := New(Config{})
	a := l.Restore(stream(t, "A"), start)
	a.Commit(at(t, 1))
	now := start
	a.Ask(now)
	l.Hold(true, now)
	hole := []control.Range{span(0, 0)}
	for range 15 {
		now = now.Add(time.Second)
		if got := a.Ask(now); !slices.Equal(got, hole) {
			t.Fatalf("asked for %v", got)
		}
		a.Answer(control.RepairAnswer{Sent: hole}, true, now)
	}
	l.Hold(false, now)
	for range 10 {
		now = now.Add(time.Second)
		if got := a.Ask(now); !slices.Equal(got, hole) || a.TakeGone() != nil {
			t.Fatalf("asked for %v", got)
		}
		a.Answer(control.RepairAnswer{Sent: hole}, true, now)
	}
	now = now.Add(time.Second)
	if got := a.Ask(now); got != nil || !slices.Equal(a.TakeGone(), hole) {
		t.Fatalf("asked for %v after ten resends in vain", got)
	}
}

// TestStateRoundTrip: a checkpoint brings back all but what waited (P7.5).
func TestStateRoundTrip(t *testing.T) {
	l := New(Config{StreamHoles: 20})
	a := l.Restore(stream(t, "A"), start)
	every(t, a, 1, 30)
	beat := control.Beat{Assigned: 70, Drained: 65, Oldest: 40}
	if _, err := l.Beat(a.Stream(), beat, start); err != nil {
		t.Fatal(err)
	}
	a.Tick(start.Add(time.Second))
	a.Settled()
	a.Arrive(over(t, 59, 62), nil)
	before := a.Counts()

	text, err := json.Marshal(a.State())
	if err != nil {
		t.Fatal(err)
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	m := New(Config{StreamHoles: 20})
	b := m.Restore(a.Stream(), start)
	b.Load(s)
	b.Settled()
	after := b.Counts()
	if !reflect.DeepEqual(b.State(), a.State()) {
		t.Fatalf("state\n%+v, want\n%+v", b.State(), a.State())
	}
	if after.Committed != before.Committed || after.Lost != before.Lost || after.Below != before.Below ||
		after.GivenUp != before.GivenUp || after.Closed != before.Closed || after.Waiting != 0 || after.Holes != m.Holes() {
		t.Fatalf("counts\n%+v, before\n%+v", after, before)
	}
	fresh, dup := b.Arrive(over(t, 55, 62), nil)
	if got := flat(fresh); !slices.Equal(got, []subjects.Position{56, 58, 60, 61, 62}) || dup != 3 {
		t.Fatalf("fresh %v, %d duplicates", got, dup)
	}
}

// TestTimeNeverFalls: an instant before one told makes no silence longer.
func TestTimeNeverFalls(t *testing.T) {
	l := New(Config{})
	a := l.Restore(stream(t, "A"), start)
	a.Tick(start.Add(10 * time.Second))
	if _, err := l.Beat(a.Stream(), control.Beat{}, start.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if a.Tick(start.Add(69 * time.Second)); a.Over() {
		t.Fatal("over after a silence of 59 s")
	}
	if a.Tick(start.Add(70 * time.Second)); !a.Over() {
		t.Fatal("not over after a silence of 60 s")
	}
}

// TestInOrderAllocatesNothing: frames in order, their commits and the quiet
// moments between cost no allocation.
func TestInOrderAllocatesNothing(t *testing.T) {
	l := New(Config{})
	a := l.Restore(stream(t, "A"), start)
	r := frame.Single("c", 0, []byte("x"))
	var fresh []frame.Run
	now := start
	step := func() {
		for range 16 {
			r.Renumber(a.Next())
			fresh, _ = a.Arrive(r, fresh[:0])
			a.Commit(r)
		}
		now = now.Add(time.Millisecond)
		a.Ask(now)
		a.Tick(now)
		a.Settled()
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
