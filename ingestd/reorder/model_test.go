package reorder

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// A model is the window as its promises read, position by position.
type model struct {
	next    subjects.Position
	waiting map[subjects.Position]time.Time
	passed  map[subjects.Position]bool
	ready   []subjects.Position
	late    []subjects.Position
}

func (m *model) push(p subjects.Position, now time.Time) {
	if p < m.next {
		m.late = append(m.late, p)
		return
	}
	m.waiting[p] = now
}

// shrink lets the lowest go on while more frames wait than have room.
func (m *model) shrink(room int) {
	for len(m.waiting) > room {
		m.upTo(slices.Min(slices.Collect(maps.Keys(m.waiting))))
	}
}

func (m *model) advance() {
	for {
		_, here := m.waiting[m.next]
		if !here && !m.passed[m.next] {
			return
		}
		if here {
			m.ready = append(m.ready, m.next)
			delete(m.waiting, m.next)
		}
		m.next++
	}
}

func (m *model) upTo(limit subjects.Position) {
	for ; m.next <= limit; m.next++ {
		if _, here := m.waiting[m.next]; here {
			m.ready = append(m.ready, m.next)
			delete(m.waiting, m.next)
		}
	}
	m.advance()
}

func (m *model) expire(now time.Time, wait time.Duration) {
	limit, any := subjects.Position(0), false
	for p, at := range m.waiting {
		if now.Sub(at) >= wait && (!any || p > limit) {
			limit, any = p, true
		}
	}
	if any {
		m.upTo(limit)
	}
}

// TestWindowAgainstModel pushes every position of a universe at most once, in
// any order and grouping, among passes, forces and time, with room for all or
// for few, and compares all that comes out (promises 1, 2, 3 and 4).
func TestWindowAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const size = 48
		order := rapid.Permutation(sequence(size)).Draw(rt, "order")
		room := rapid.OneOf(rapid.Just(size), rapid.IntRange(1, 12)).Draw(rt, "room")
		w := New(0, Config{Bytes: room * 66})
		m := &model{waiting: map[subjects.Position]time.Time{}, passed: map[subjects.Position]bool{}}
		now := start
		for len(order) > 0 {
			switch rapid.IntRange(0, 9).Draw(rt, "op") {
			default:
				n := rapid.IntRange(1, min(8, len(order))).Draw(rt, "frames")
				at := slices.Sorted(slices.Values(order[:n]))
				order = order[n:]
				w.Push(run(t, "c", at...), now)
				for _, p := range at {
					m.push(p, now)
				}
				m.advance()
				m.shrink(room)
				if w.Waiting() > room*66 {
					rt.Fatalf("%d wait, with room for %d", w.Waiting(), room*66)
				}
			case 0:
				from := rapid.Uint64Range(0, size-1).Draw(rt, "from")
				to := rapid.Uint64Range(from, size-1).Draw(rt, "to")
				w.Pass(span(subjects.Position(from), subjects.Position(to)))
				for p := from; p <= to; p++ {
					m.passed[subjects.Position(p)] = true
				}
				m.advance()
			case 1:
				now = now.Add(time.Duration(rapid.IntRange(1, 200).Draw(rt, "ms")) * time.Millisecond)
			case 2, 3:
				m.expire(now, DefaultWait)
				ready, late := w.Ready(now, nil, nil)
				m.compare(rt, w, ready, late)
			case 4:
				if len(m.waiting) > 0 {
					m.upTo(slices.Max(slices.Collect(maps.Keys(m.waiting))))
				}
				ready := w.Force(nil)
				_, late := w.Ready(now, nil, nil)
				m.compare(rt, w, ready, late)
			}
		}
	})
}

func (m *model) compare(rt *rapid.T, w *Window, ready, late []frame.Run) {
	slices.Sort(m.late)
	if got := positions(ready); !slices.Equal(got, m.ready) {
		rt.Fatalf("ready %v, want %v", got, m.ready)
	}
	if got := positions(late); !slices.Equal(got, m.late) {
		rt.Fatalf("late %v, want %v", got, m.late)
	}
	for _, r := range append(ready, late...) {
		if r.Consecutive(0) != r.Len() {
			rt.Fatalf("the run from %v is not of consecutive frames", r.First())
		}
	}
	if w.Next() != m.next || w.Waiting() != 66*len(m.waiting) {
		rt.Fatalf("next %v waiting %d, want %v and %d", w.Next(), w.Waiting(), m.next, 66*len(m.waiting))
	}
	oldest, any := time.Time{}, false
	for _, at := range m.waiting {
		if !any || at.Before(oldest) {
			oldest, any = at, true
		}
	}
	if at, ok := w.Deadline(); ok != any || any && !at.Equal(oldest.Add(DefaultWait)) {
		rt.Fatalf("deadline %v %v, want %v %v", at, ok, oldest.Add(DefaultWait), any)
	}
	m.ready, m.late = nil, nil
}

// TestOneLossIsNoStorm: behind one lost frame comes far more than there is room
// for, before the time is up: all of it goes on, in order, and only the hole
// stays open until its frame comes late (promise 4).
func TestOneLossIsNoStorm(t *testing.T) {
	const n = 1000
	w := New(0, Config{Bytes: 20 * 66})
	var got []subjects.Position
	most := 0
	for p := subjects.Position(1); p < n; p++ {
		w.Push(run(t, "c", p), start)
		most = max(most, w.Waiting())
		ready, late := w.Ready(start, nil, nil)
		if len(late) > 0 {
			t.Fatalf("late: %v", positions(late))
		}
		got = append(got, positions(ready)...)
	}
	if want := sequence(n)[1:]; !slices.Equal(got, want) || w.Next() != n || w.Waiting() != 0 {
		t.Fatalf("%d of %d frames went on, next is %v and %d wait", len(got), len(want), w.Next(), w.Waiting())
	}
	if most != 20*66 {
		t.Fatalf("at most %d waited: the bound was not reached", most)
	}
	w.Push(run(t, "c", 0), start)
	if _, late := w.Ready(start, nil, nil); !slices.Equal(positions(late), []subjects.Position{0}) {
		t.Fatalf("late: %v", positions(late))
	}
}

// TestSliceLeavesNothingWaiting: a sender cuts its backlog into slices as the
// mux does, whatever the channels, sizes and backlog; the carrier keeps order.
// Then nothing waits past the end of a slice, so no hole is older (promise 5,
// P3.1).
func TestSliceLeavesNothingWaiting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		channels := rapid.IntRange(1, 40).Draw(rt, "channels")
		sizes := []int{0, 1, 100, 3000, frame.RunBytes + 1}
		w := New(0, Config{Bytes: frame.SliceBytes + frame.SliceFrames*(frame.Overhead+4)})
		next := subjects.Position(0)
		for range rapid.IntRange(1, 6).Draw(rt, "slices") {
			var c frame.Cutter
			for range rapid.IntRange(1, 300).Draw(rt, "backlog") {
				name := subjects.Channel(rune('A' + rapid.IntRange(0, channels-1).Draw(rt, "channel")))
				size := sizes[rapid.IntRange(0, len(sizes)-1).Draw(rt, "size")]
				if c.Full(1, size) {
					break
				}
				c.Add(frame.Single(name, next, make([]byte, size)), rapid.Bool().Draw(rt, "paced"))
				next++
			}
			frames := c.Len()
			var ready []frame.Run
			for _, cut := range c.Runs(nil) {
				w.Push(cut.Run, start)
				ready, _ = w.Ready(start, ready, nil)
			}
			if w.Waiting() != 0 || w.Next() != next || len(positions(ready)) != frames {
				rt.Fatalf("after the slice %d wait, next is %v of %v, %d frames of %d came",
					w.Waiting(), w.Next(), next, len(positions(ready)), frames)
			}
		}
	})
}

func sequence(n int) (out []subjects.Position) {
	for p := range n {
		out = append(out, subjects.Position(p))
	}
	return out
}

// TestPassIsBounded: a window that was told of ever more scattered ranges
// forgets, and then only waits longer.
func TestPassIsBounded(t *testing.T) {
	w := New(0, Config{})
	for i := range subjects.Position(3 * passedRanges) {
		w.Pass(span(10+2*i, 10+2*i))
	}
	if n := w.passed.Len(); n != passedRanges {
		t.Fatalf("%d ranges are kept, want %d", n, passedRanges)
	}
	last := subjects.Position(11 + 6*passedRanges)
	w.Push(run(t, "c", last), start)
	ready, _ := w.Ready(start.Add(DefaultWait), nil, nil)
	if got := positions(ready); !slices.Equal(got, []subjects.Position{last}) || w.passed.Len() != 0 {
		t.Fatalf("ready %v with %d ranges kept", got, w.passed.Len())
	}
}

// TestPayloadIsSharedAndLetGo: what goes on shares the pushed bytes, and the
// window keeps none of it after (ownership).
func TestPayloadIsSharedAndLetGo(t *testing.T) {
	w := New(0, Config{})
	var bodies [3][]byte
	for i, p := range []subjects.Position{2, 1, 0} {
		bodies[p] = []byte{byte(i)}
		w.Push(frame.Single("c", p, bodies[p]), start)
	}
	ready, _ := w.Ready(start, nil, nil)
	if len(ready) != 3 {
		t.Fatalf("%d runs, want 3", len(ready))
	}
	for p, r := range ready {
		if &r.Payload(0)[0] != &bodies[p][0] {
			t.Errorf("the payload at %d was copied", p)
		}
	}
	for _, q := range [][]frame.Run{w.ready[:cap(w.ready)], w.waiting.line[:cap(w.waiting.line)]} {
		for _, r := range q {
			if r.Len() > 0 {
				t.Errorf("the window still holds the run at %v", r.First())
			}
		}
	}
	for _, n := range w.waiting.heap[:cap(w.waiting.heap)] {
		if n.run.Len() > 0 {
			t.Errorf("the heap still holds the run at %v", n.run.First())
		}
	}
}

// TestQueuesDoNotGrow: behind a hole that moves on, the buffers stay as they are
// (promise 6).
func TestQueuesDoNotGrow(t *testing.T) {
	w := New(0, Config{Wait: 50 * time.Millisecond})
	now, p := start, subjects.Position(1)
	var ready []frame.Run
	step := func() {
		w.Push(frame.Single("c", p, nil), now)
		p += 2
		now = now.Add(time.Millisecond)
		ready, _ = w.Ready(now, ready[:0], nil)
	}
	for range 300 {
		step()
	}
	line, entries := cap(w.waiting.line), cap(w.since.entries)
	for range 3000 {
		step()
	}
	if a, b := cap(w.waiting.line), cap(w.since.entries); a != line || b != entries {
		t.Fatalf("room for %d runs grew to %d, for %d entries to %d", line, a, entries, b)
	}
}

// TestSingleFramesInOrderAllocateNothing (promise 6).
func TestSingleFramesInOrderAllocateNothing(t *testing.T) {
	w := New(0, Config{})
	r := frame.Single("c", 0, []byte("x"))
	ready := make([]frame.Run, 0, 64)
	step := func() {
		for range 64 {
			r.Renumber(w.Next())
			w.Push(r, start)
		}
		ready, _ = w.Ready(start, ready[:0], nil)
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Fatalf("%v allocations for 64 frames", n)
	}
}
