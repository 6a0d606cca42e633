package invariant

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"datastream/stack"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// one submits a frame in process.
func (p *pipe) one(t testing.TB, n subjects.Node, c subjects.Channel, payload string) {
	t.Helper()
	if !p.Mux().Submit(n, frame.Single(c, 0, []byte(payload))) {
		t.Fatal("the mux does not take a frame")
	}
}

// TestBufferOfTwo: capacity 2: submit ×3, drain, submit, drain → positions 0, 1
// and 3 are drained; assigned 4, dropped 1, gap 2..2.
func TestBufferOfTwo(t *testing.T) {
	p := open(t, func(o *stack.Options) { o.Mux.BufferFrames = 2 })
	n := node(t)
	dropped := p.grows(t, "ds_mux_dropped_frames_total", "buffer")
	p.courier.close() // even the birth beat: nothing is drained
	for _, s := range []string{"0", "1", "2"} {
		p.one(t, n, "c", s)
	}
	dropped(1)
	p.courier.open()
	p.settled(t)
	p.one(t, n, "c", "3")
	p.settled(t)
	l, beat, settled := p.over(t, n)
	gapsAre(t, l, control.Range{From: 2, To: 2})
	if got := l.payloads("c"); !slices.Equal(got, []string{"0", "1", "3"}) {
		t.Errorf("stored: %q", got)
	}
	if beat.Assigned != 4 || beat.Dropped != 1 || settled.Lost != 1 {
		t.Errorf("the mux says %+v, ingest %+v", beat, settled)
	}
}

// TestFullBufferDropsAtOnce: 1000 submits find the buffer full: all return,
// 1000 are dropped, and the gap says so.
func TestFullBufferDropsAtOnce(t *testing.T) {
	p := open(t, func(o *stack.Options) { o.Mux.BufferFrames = 2 })
	n := node(t)
	dropped := p.grows(t, "ds_mux_dropped_frames_total", "buffer")
	p.courier.close()
	for i := range 1002 {
		p.one(t, n, "c", fmt.Sprint(i))
	}
	dropped(1000)
	p.courier.open()
	p.settled(t)
	p.one(t, n, "c", "after")
	p.settled(t)
	l, _, _ := p.over(t, n)
	gapsAre(t, l, control.Range{From: 2, To: 1001})
}

// TestCarrierReversesEverything: the birth beat comes last, and before it the
// frames from the last to the first; the stored set is the one sent.
func TestCarrierReversesEverything(t *testing.T) {
	p := open(t, nil)
	n, rng := node(t), random(t)
	p.courier.follow(&backwards{})
	frames := p.load(t, rng, n, 20, 3000)
	harness.Until(t, "everything is on its way", func() bool {
		return p.count(t, "ds_mux_published_frames_total") == uint64(frames)
	})
	p.courier.follow(nil)
	p.settled(t)
	l, _, settled := p.over(t, n)
	faithful(t, l)
	if gapsAre(t, l); len(l.frames) != frames || settled.Lost != 0 {
		t.Errorf("%d frames are stored, %d were submitted; lost %d", len(l.frames), frames, settled.Lost)
	}
}

// TestCarrierSendsEverythingTwice: the stored set is the one sent.
func TestCarrierSendsEverythingTwice(t *testing.T) {
	p := open(t, nil)
	n, rng := node(t), random(t)
	p.courier.follow(twice{})
	twice := p.grows(t, "ds_ingest_duplicate_frames_total")
	frames := p.load(t, rng, n, 20, 3000)
	twice(uint64(frames))
	p.settled(t)
	l, _, settled := p.over(t, n)
	faithful(t, l)
	if gapsAre(t, l); len(l.frames) != frames || settled.Lost != 0 {
		t.Errorf("%d frames are stored, %d were submitted; lost %d", len(l.frames), frames, settled.Lost)
	}
}

// TestLostPositionsAreGaps: positions 4..7 of 0..9 are lost on the way and the
// ring cannot send them again → one gap 4..7. First stored is 3 → gap 0..2.
func TestLostPositionsAreGaps(t *testing.T) {
	p := open(t, func(o *stack.Options) { o.Mux.RingBytes = 1 })
	nc := p.dial(t, server.Anonymous)
	for _, gap := range []control.Range{{From: 4, To: 7}, {From: 0, To: 2}} {
		p.courier.follow(lossy(func(m *nats.Msg) bool {
			pos, err := subjects.ParsePosition(m.Header.Get(frame.HeaderPos))
			return isFrame(m) && err == nil && gap.From <= pos && pos <= gap.To
		}))
		n := node(t)
		st := p.birth(t, n)
		for i := range 10 {
			p.submit(t, nc, n, "c", fmt.Append(nil, i))
			// One after the other, so that each frame is a message.
			harness.Until(t, "the frame is on its way", func() bool { return p.count(t, "ds_mux_buffered_frames") == 0 })
		}
		p.settled(t)
		l := p.stored(t, st, 10-int(gap.Len()))
		gapsAre(t, l, gap)
		harness.Until(t, "ingest says that they are lost", func() bool {
			_, s := p.watcher.account(st)
			return s.Lost == gap.Len() && s.Below == 10
		})
	}
}

// TestCarrierLosesOnce: what the transport drops is asked for, sent again and
// stored: no gap.
func TestCarrierLosesOnce(t *testing.T) {
	p := open(t, nil)
	n, rng := node(t), random(t)
	lost := map[string]bool{}
	p.courier.follow(lossy(func(m *nats.Msg) bool {
		key := m.Subject + m.Header.Get(frame.HeaderPos)
		first := isFrame(m) && !lost[key]
		lost[key] = true
		return first
	}))
	frames := p.load(t, rng, n, 10, 2000)
	p.settled(t)
	l, _, settled := p.over(t, n)
	faithful(t, l)
	if gapsAre(t, l); len(l.frames) != frames || settled.Lost != 0 {
		t.Errorf("%d frames are stored, %d were submitted; lost %d", len(l.frames), frames, settled.Lost)
	}
	if p.count(t, "ds_ingest_repair_requests_total") == 0 {
		t.Error("everything was lost once, and nothing was asked for")
	}
}

// TestFirstFrameOfAPositionWins: the same (stream, position) twice with
// different bytes → the first is kept; the same position in another life →
// both are kept.
func TestFirstFrameOfAPositionWins(t *testing.T) {
	p, n := shared(t), node(t)
	a, b := p.invent(t, n), p.invent(t, n)
	a.frame("c", 0, "first")
	a.frame("c", 0, "second")
	a.frame("other", 0, "third")
	b.frame("c", 0, "another life")
	a.frame("c", 1, "end")
	b.frame("c", 1, "end")
	if got := p.stored(t, a.st, 2).payloads("c"); !slices.Equal(got, []string{"first", "end"}) {
		t.Errorf("one life holds %q", got)
	}
	if got := p.stored(t, b.st, 2).payloads("c"); !slices.Equal(got, []string{"another life", "end"}) {
		t.Errorf("the other holds %q", got)
	}
	if got := p.archive.life(a.st).payloads("other"); len(got) > 0 {
		t.Errorf("the third is stored, too: %q", got)
	}
}

// TestFramesAtBothEnds: frames 0 and 2^64−2 → one gap 1..2^64−3, at once; and
// there is no position above.
func TestFramesAtBothEnds(t *testing.T) {
	p, n := shared(t), node(t)
	f := p.invent(t, n)
	refused := p.grows(t, "ds_ingest_refused_total", "run")
	f.frame("c", 0, "first")
	f.frame("c", subjects.MaxPosition, "last")
	f.raw(p.Space().Frame(f.st, "c"), "above", frame.HeaderPos, "18446744073709551615")
	f.raw(p.Space().Frame(f.st, "c"), "a\nb", frame.HeaderPos, "18446744073709551614", frame.HeaderRun, "1,1")
	l := p.stored(t, f.st, 2)
	refused(2)
	gapsAre(t, l, control.Range{From: 1, To: subjects.MaxPosition - 1})
	end := subjects.MaxPosition + 1
	f.beat(control.Beat{Assigned: end, Drained: end, Oldest: end, Dropped: uint64(end) - 2, Closed: true})
	harness.Until(t, "all of the life is settled", func() bool {
		_, s := p.watcher.account(f.st)
		return s.Closed && s.Below == end && s.Lost == uint64(end)-2
	})
}

// TestLateFrameHeals: hole 2..6 is given up, then frame 4 arrives late → gaps
// 2..3 and 5..6.
func TestLateFrameHeals(t *testing.T) {
	p, n := shared(t), node(t)
	f := p.invent(t, n)
	for _, pos := range []subjects.Position{0, 1, 7} {
		f.frame("c", pos, fmt.Sprint(pos))
	}
	gapsAre(t, p.stored(t, f.st, 3), control.Range{From: 2, To: 6})
	f.beat(control.Beat{Assigned: 8, Drained: 8, Oldest: 7})
	harness.Until(t, "the hole is given up", func() bool { _, s := p.watcher.account(f.st); return s.Below == 8 && s.Lost == 5 })
	healed := p.grows(t, "ds_ingest_healed_positions")
	f.frame("c", 4, "4")
	l := p.stored(t, f.st, 4)
	gapsAre(t, l, control.Range{From: 2, To: 3}, control.Range{From: 5, To: 6})
	healed(1)
}

// TestTwoLivesInterleaved: two lives of one node, their frames interleaved and
// out of order → two separate correct streams.
func TestTwoLivesInterleaved(t *testing.T) {
	p, n, rng := shared(t), node(t), random(t)
	lives := []*forger{p.invent(t, n), p.invent(t, n)}
	for _, i := range rng.Perm(200) {
		f := lives[i%2]
		f.frame("c", subjects.Position(i/2), fmt.Sprintf("%d/%d", i%2, i/2))
	}
	for k, f := range lives {
		l := p.stored(t, f.st, 100)
		gapsAre(t, l)
		for i, got := range l.payloads("c") {
			if want := fmt.Sprintf("%d/%d", k, i); got != want {
				t.Fatalf("life %d, position %d: %q, not %q", k, i, got, want)
			}
		}
	}
}

// TestUnknownChannelSameBytes: an unknown channel with bytes DE AD BE EF → the
// same bytes; `not-json{` on a typed channel → raw bytes, no error.
func TestUnknownChannelSameBytes(t *testing.T) {
	p, n := shared(t), node(t)
	nc := p.dial(t, server.Anonymous)
	p.submit(t, nc, n, "unheard.of", []byte{0xde, 0xad, 0xbe, 0xef})
	st, _ := p.submit(t, nc, n, "metrics.gauge.cpu", []byte("not-json{"))
	l := p.stored(t, st, 2)
	if got := l.payloads("unheard.of"); len(got) != 1 || got[0] != "\xde\xad\xbe\xef" {
		t.Errorf("stored: %q", got)
	}
	if got := l.payloads("metrics.gauge.cpu"); len(got) != 1 || got[0] != "not-json{" {
		t.Errorf("stored: %q", got)
	}
}
