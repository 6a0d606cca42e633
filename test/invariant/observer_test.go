package invariant

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"datastream/producer/emit"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// TestCutObserverLosesKnownly: a handle without a window never blocks, not even
// while its connection is cut; what its tiny buffer dropped is counted and
// shows as gaps of exactly that size.
func TestCutObserverLosesKnownly(t *testing.T) {
	const before, during, after, buffer = 20, 5000, 10, 8
	p := open(t, nil)
	x, n := p.proxy(t), node(t)
	nc := x.dial(t)
	h, err := emit.Open(nc, n, emit.WithBuffer(buffer, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	missing := p.grows(t, "ds_mux_dropped_frames_total", "producer")
	sent := func(frames uint64) func() bool { return func() bool { return h.Stats().Sent == frames } }
	for i := range before {
		h.Submit("c", fmt.Append(nil, i))
		harness.Until(t, "the frame has left", sent(uint64(i+1)))
	}
	st := p.birth(t, n)
	p.stored(t, st, before)
	x.cut()
	harness.Until(t, "the connection is away", func() bool { return !nc.IsConnected() })
	for i := range during { // would one of these wait, the test never ended
		h.Submit("c", fmt.Append(nil, before+i))
	}
	if s := h.Stats(); s.Dropped[emit.ReasonFull] != during-buffer || s.Buffered != buffer || s.Submitted != before+during {
		t.Errorf("the handle says %+v", s)
	}
	x.mend()
	harness.Until(t, "the buffer has left", sent(before+buffer))
	for i := range after {
		h.Submit("c", fmt.Append(nil, before+during+i))
		harness.Until(t, "the frame has left", sent(uint64(before+buffer+i+1)))
	}
	s, err := h.Close(within(t))
	if err != nil {
		t.Fatal(err)
	}
	missing(during - buffer)
	p.settled(t)
	l := p.stored(t, st, before+buffer+after)
	gapsAre(t, l, control.Range{From: before + buffer, To: before + during - 1})
	if total := p.count(t, "ds_mux_positions_total"); total != before+during+after || s.Submitted != total {
		t.Errorf("%d calls, %d positions; the handle says %+v", before+during+after, total, s)
	}
	for i, got := range l.payloads("c")[before+buffer:] {
		if got != fmt.Sprint(before+during+i) {
			t.Errorf("frame %d after the cut is %q", i, got)
		}
	}
}

// TestCutInFlight: the connection is cut again and again while frames are on
// their way. What the handle thought sent and what it dropped: every call of
// Submit has one position, stored or missing.
func TestCutInFlight(t *testing.T) {
	const calls = 20000
	p := open(t, nil)
	x, n, rng := p.proxy(t), node(t), random(t)
	h, err := emit.Open(x.dial(t), n, emit.WithBuffer(500, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	cuts := map[int]bool{}
	for range 6 {
		cuts[rng.IntN(calls)] = true
	}
	for i := range calls {
		h.Submit("c", fmt.Append(nil, i))
		if cuts[i] {
			x.cut()
			x.mend()
		}
	}
	s, err := h.Close(within(t))
	if err != nil {
		t.Fatalf("%v: %+v", err, s)
	}
	harness.Until(t, "the mux has heard of every call", func() bool { return p.count(t, "ds_mux_positions_total") >= calls })
	p.settled(t)
	p.archive.read(t)
	st := p.streamOf(t, n)
	l := p.archive.life(st)
	missing := p.count(t, "ds_mux_dropped_frames_total")
	t.Logf("%d stored, %d missing, of which the handle dropped %d", len(l.frames), missing, s.Dropped.Total())
	switch {
	case p.count(t, "ds_mux_positions_total") != calls:
		t.Errorf("%d calls, %d positions", calls, p.count(t, "ds_mux_positions_total"))
	case uint64(len(l.frames))+missing != calls || sum(l.gapsTo(calls)) != missing:
		t.Errorf("%d stored, %d missing, gaps of %d", len(l.frames), missing, sum(l.gapsTo(calls)))
	case missing < s.Dropped.Total():
		t.Errorf("the handle dropped %d, only %d are missing", s.Dropped.Total(), missing)
	}
	last := -1
	for _, got := range l.payloads("c") {
		i := -1
		if _, err := fmt.Sscan(got, &i); err != nil || i <= last {
			t.Fatalf("%q is stored after %d", got, last)
		}
		last = i
	}
}

// TestPerfectCarrierNeedsNoRepair: however channels are interleaved and
// whatever backlog builds up, a perfect carrier gives ingest no hole: nothing is
// asked for and nothing given up (P3.1).
func TestPerfectCarrierNeedsNoRepair(t *testing.T) {
	p := open(t, nil)
	nc := p.dial(t, server.Anonymous)
	n := node(t)
	st, _ := p.submit(t, nc, n, "first", nil)
	p.stored(t, st, 1)
	total := 1
	rapid.Check(t, func(rt *rapid.T) {
		channels := rapid.IntRange(1, 3000).Draw(rt, "channels")
		size := rapid.IntRange(0, 2000).Draw(rt, "largest payload")
		frames := rapid.IntRange(1, 6000).Draw(rt, "frames")
		if rapid.Bool().Draw(rt, "backlog") {
			p.courier.close()
		}
		for i := range frames {
			c := subjects.Channel(fmt.Sprintf("c.%d", (i*7919+i/3)%channels))
			if !p.Mux().Submit(n, frame.Single(c, 0, make([]byte, (i*31)%(size+1)))) {
				rt.Fatal("the mux does not take a frame")
			}
		}
		p.courier.open()
		total += frames
		p.settled(t)
		l := p.stored(t, st, total)
		if g := l.gaps(); len(g) > 0 {
			rt.Fatalf("gaps %v", g)
		}
		if asked := p.count(t, "ds_ingest_repair_requests_total"); asked > 0 {
			rt.Fatalf("%d repair requests", asked)
		}
	})
	if lost := p.count(t, "ds_ingest_given_up_positions"); lost > 0 {
		t.Errorf("%d positions were given up", lost)
	}
	if again := p.count(t, "ds_ingest_duplicate_frames_total"); again > 0 {
		t.Errorf("%d frames came twice", again)
	}
}
