package invariant

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"datastream/stack"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// load submits frames in process, each with a payload of its own, over some
// channels and in runs of random lengths, and returns how many.
func (p *pipe) load(t testing.TB, rng *rand.Rand, n subjects.Node, channels, frames int) int {
	t.Helper()
	for i := 0; i < frames; {
		size := min(1+rng.IntN(4)*rng.IntN(8), frames-i)
		if rng.IntN(3) == 0 {
			size = 1
		}
		c := subjects.Channel(fmt.Sprintf("load.%d", rng.IntN(channels)))
		var cut frame.Cutter
		for range size {
			cut.Add(frame.Single(c, subjects.Position(i), []byte(payloadOf(c, i))), false)
			i++
		}
		for _, r := range cut.Runs(nil) {
			if !p.Mux().Submit(n, r.Run) {
				t.Fatal("the mux does not take a run")
			}
		}
	}
	return frames
}

// payloadOf is the payload of the i-th frame that load submits: as load submits
// alone, that of position i.
func payloadOf(c subjects.Channel, i int) string { return fmt.Sprintf("%s#%d", c, i) }

// faithful checks that every frame stored of a load is the one that got its
// position.
func faithful(t testing.TB, l *life) {
	t.Helper()
	for pos, f := range l.frames {
		if want := payloadOf(f.channel, int(pos)); f.payload != want {
			t.Fatalf("position %v holds %q, not %q", pos, f.payload, want)
		}
	}
}

// over stops the mux and waits until ingest has said its last word about a
// life, which is returned with what both sides said.
func (p *pipe) over(t testing.TB, n subjects.Node) (*life, control.Beat, control.Settled) {
	t.Helper()
	p.StopMux()
	st := p.streamOf(t, n)
	harness.Until(t, "ingest has closed the life", func() bool {
		b, s := p.watcher.account(st)
		return b.Closed && s.Closed && s.Below == b.Assigned
	})
	p.archive.read(t)
	b, s := p.watcher.account(st)
	return p.archive.life(st), b, s
}

// birth makes a node known with a mark, which spends no position, and waits for
// its first beat.
func (p *pipe) birth(t testing.TB, n subjects.Node) subjects.Stream {
	t.Helper()
	publish(t, p.operator, p.message(n, "c", nil, frame.HeaderRun, "", frame.HeaderSeq, "birth:0"))
	harness.Until(t, "the life has begun", func() bool {
		p.watcher.mu.Lock()
		defer p.watcher.mu.Unlock()
		for st := range p.watcher.beats {
			if st.Node == n {
				return true
			}
		}
		return false
	})
	return p.streamOf(t, n)
}

// streamOf is the one stream of a node that beats spoke of.
func (p *pipe) streamOf(t testing.TB, n subjects.Node) (st subjects.Stream) {
	t.Helper()
	p.watcher.mu.Lock()
	defer p.watcher.mu.Unlock()
	for s := range p.watcher.beats {
		if s.Node == n {
			if st.Node != "" {
				t.Fatalf("node %q has two lives, %v and %v", n, st, s)
			}
			st = s
		}
	}
	if st.Node == "" {
		t.Fatalf("node %q has never beaten", n)
	}
	return st
}

// TestP9_7_OrderIndependence: under any permitted schedule of drops, repeats,
// delays and reorderings the same set is reconstructed, when nothing is lost
// more often than repair asks for it. Beats and answers suffer like frames.
func TestP9_7_OrderIndependence(t *testing.T) {
	rng := random(t)
	p := open(t, nil)
	for round := range 4 {
		n := node(t)
		c := &chaos{
			rng: rand.New(rand.NewPCG(rng.Uint64(), 0)), once: true,
			drop: rng.Float64() / 2, repeat: rng.Float64() / 2, hold: rng.Float64() * 0.9,
		}
		p.courier.follow(c)
		frames := p.load(t, rng, n, 1+rng.IntN(200), 2000)
		p.courier.follow(nil)
		harness.Until(t, "everything is stored", func() bool {
			p.archive.read(t)
			streams := p.archive.of(n)
			return len(streams) == 1 && len(p.archive.life(streams[0]).frames) >= frames
		})
		t.Logf("round %d: of %d frames the carrier dropped %d messages, repeated %d and delayed %d", round, frames, c.dropped, c.repeated, c.delayed)
		l := p.archive.life(p.archive.one(t, n))
		faithful(t, l)
		if g := l.gapsTo(subjects.Position(frames)); len(g) > 0 || len(l.frames) != frames {
			t.Errorf("round %d: %d frames are stored of %d, gaps %v", round, len(l.frames), frames, g)
		}
	}
	p.settled(t)
	if lost := p.count(t, "ds_ingest_given_up_positions"); lost > 0 {
		t.Errorf("%d positions were given up", lost)
	}
}

// TestEveryLifeAddsUp: assigned = committed + gaps when a life is over, and
// with what is pending while it lasts, whatever is lost on the way: in the
// mux's tiny buffer, on the carrier, and for good, since the ring is tiny, too.
func TestEveryLifeAddsUp(t *testing.T) {
	rng := random(t)
	for round := range 3 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			p := open(t, func(o *stack.Options) {
				o.Mux.BufferFrames = 1 + rng.IntN(200)
				o.Mux.RingBytes = 4 << 10 << rng.IntN(4)
			})
			n := node(t)
			st := p.birth(t, n)
			p.courier.follow(&chaos{
				rng:  rand.New(rand.NewPCG(rng.Uint64(), 0)),
				drop: rng.Float64() / 3, repeat: rng.Float64() / 3, hold: rng.Float64() / 2,
			})
			submitted := 0
			for range 10 {
				submitted += p.load(t, rng, n, 5, 200)
				p.addsUpAlive(t, st)
			}
			p.courier.follow(nil)
			p.settled(t)
			muxDropped, healed := p.count(t, "ds_mux_dropped_frames_total"), p.count(t, "ds_ingest_healed_positions")
			l, beat, settled := p.over(t, n)
			gaps := sum(l.gapsTo(beat.Assigned))
			t.Logf("assigned %v, committed %d, lost %d of which the mux dropped %d", beat.Assigned, len(l.frames), settled.Lost, beat.Dropped)
			switch {
			case beat.Assigned != subjects.Position(submitted):
				t.Errorf("%d frames were submitted, %v positions assigned", submitted, beat.Assigned)
			case uint64(beat.Assigned) != uint64(len(l.frames))+gaps:
				t.Errorf("assigned %v, committed %d, gaps %d", beat.Assigned, len(l.frames), gaps)
			case settled.Lost < gaps || settled.Lost > gaps+healed: // a frame that was given up may still have come
				t.Errorf("the store has gaps of %d, ingest speaks of %d and of %d healed", gaps, settled.Lost, healed)
			case beat.Dropped != muxDropped || gaps < muxDropped:
				t.Errorf("the mux dropped %d (its beat says %d), the gaps are %d", muxDropped, beat.Dropped, gaps)
			}
			faithfulSeries(t, l)
		})
	}
}

// addsUpAlive checks a life that goes on: what is stored was assigned, what is
// settled is stored or lost, and the rest is pending.
func (p *pipe) addsUpAlive(t testing.TB, st subjects.Stream) {
	t.Helper()
	_, settled := p.watcher.account(st) // said before the store is read
	p.archive.read(t)
	assigned := p.count(t, "ds_mux_positions_total")
	below := uint64(0)
	l := p.archive.life(st)
	for pos := range l.frames {
		if pos >= subjects.Position(assigned) {
			t.Fatalf("position %v is stored, %d are assigned", pos, assigned)
		}
		if pos < settled.Below {
			below++
		}
	}
	if below+settled.Lost < uint64(settled.Below) {
		t.Fatalf("settled below %v: %d are stored and %d lost", settled.Below, below, settled.Lost)
	}
}

// faithfulSeries is faithful for several loads of one node, each of which began
// at 0: positions tell which load it was.
func faithfulSeries(t testing.TB, l *life) {
	t.Helper()
	for pos, f := range l.frames {
		if want := payloadOf(f.channel, int(pos)%200); f.payload != want {
			t.Fatalf("position %v holds %q, not %q", pos, f.payload, want)
		}
	}
}
