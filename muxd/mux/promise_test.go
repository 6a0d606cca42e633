package mux

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"datastream/subjects"
	"datastream/subjects/frame"
)

func TestPositionBeforeBuffer(t *testing.T) { // promise 1
	m := New(n1, Config{}, NewShared(0))
	var wg sync.WaitGroup
	taken := make([]map[subjects.Position]string, 8)
	for p := range 8 {
		taken[p] = make(map[subjects.Position]string)
		wg.Go(func() {
			for i := range 500 {
				payload := fmt.Sprintf("%d:%d", p, i)
				got, ok := m.Submit(submission(subjects.Channel(fmt.Sprint("c", p%3)), payload), false)
				if !ok || got.Kept != 1 {
					t.Errorf("%s was not kept", payload)
				}
				taken[p][got.First] = payload
			}
		})
	}
	stop, drained := make(chan struct{}), make(chan []frame.Cut)
	go func() { // drains meanwhile, then what is left
		var cuts []frame.Cut
		for {
			select {
			case <-stop:
				drained <- append(cuts, drainAll(t, m)...)
				return
			default:
				if s, ok := m.Drain(); ok {
					cuts = append(cuts, s.Cuts...)
				}
			}
		}
	}()
	wg.Wait()
	close(stop)
	got := payloads(t, <-drained)
	if len(got) != 4000 {
		t.Fatalf("%d positions, want 4000", len(got))
	}
	for p := range taken {
		for pos, want := range taken[p] {
			if got[pos] != want || pos >= 4000 {
				t.Errorf("position %d holds %q, want %q", pos, got[pos], want)
			}
		}
	}
}

func TestSubmitNeverWaits(t *testing.T) { // promise 2
	m := New(n1, Config{BufferFrames: 1}, nil)
	m.Submit(submission("a", "kept"), false)
	for i := range 1000 { // nobody drains: waiting would hang the test
		got, ok := m.Submit(submission("a", "lost"), false)
		if !ok || got.Kept != 0 || got.First != subjects.Position(i+1) {
			t.Fatalf("submission %d: %+v, %v", i, got, ok)
		}
	}
	if c := m.Counts(); c.Dropped[ReasonBuffer] != 1000 || c.Assigned != 1001 || c.Frames != 1 {
		t.Errorf("counts %+v", c)
	}
}

func TestDroppedPositionStaysAbsent(t *testing.T) { // promise 2
	m := New(n1, Config{BufferFrames: 2}, nil)
	for range 3 {
		m.Submit(submission("a", "x"), false)
	}
	cuts := drainAll(t, m)
	m.Submit(submission("a", "x"), false)
	got := payloads(t, append(cuts, drainAll(t, m)...))
	if _, ok := got[2]; ok || len(got) != 3 {
		t.Errorf("drained %v, want positions 0, 1 and 3", got)
	}
}

func TestDropsAreCounted(t *testing.T) { // promises 3 and 4
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	shared := NewShared(40_000)
	muxes := make([]*Mux, 3)
	given := make([]uint64, len(muxes))
	for i := range muxes {
		muxes[i] = New(n1, Config{BufferFrames: 100, BufferBytes: 20_000, Channels: 5, MaxFrame: 300}, shared)
	}
	for range 3000 {
		i := rnd.IntN(len(muxes))
		m := muxes[i]
		switch rnd.IntN(5) {
		case 0:
			if s, ok := m.Drain(); ok {
				for _, c := range s.Cuts {
					given[i] += uint64(c.Run.Len())
				}
			}
		case 1:
			m.Skip(uint64(rnd.IntN(4)), ReasonTransport)
		default:
			r := sized(subjects.Channel(fmt.Sprint("c", rnd.IntN(6))), 1+rnd.IntN(9), rnd.IntN(320))
			m.Submit(r, rnd.IntN(2) == 0)
		}
		c, bytes := m.Counts(), 0
		if uint64(c.Assigned) != given[i]+uint64(c.Frames)+c.Lost() {
			t.Fatalf("seed %d: assigned %d, drained %d frames, %+v", seed, c.Assigned, given[i], c)
		}
		for _, m := range muxes {
			bytes += m.Counts().Bytes
		}
		if c.Frames > 100 || c.Bytes > 20_000 || c.Channels > 5 || bytes > 40_000 || shared.Used() != bytes {
			t.Fatalf("seed %d: %d bytes in all, %d by Shared, %+v", seed, bytes, shared.Used(), c)
		}
	}
	for _, m := range muxes {
		drainAll(t, m)
	}
	if shared.Used() != 0 {
		t.Errorf("seed %d: %d bytes are still held", seed, shared.Used())
	}
}

func TestSharedBoundsAllMuxesAtOnce(t *testing.T) { // promise 4, under concurrency
	shared := NewShared(65 * 100) // a hundred empty frames of channel "a"
	var wg sync.WaitGroup
	var muxes [4]*Mux
	for i := range muxes {
		muxes[i] = New(n1, Config{}, shared)
		wg.Go(func() {
			for range 200 {
				muxes[i].Submit(submission("a", ""), false)
			}
		})
	}
	wg.Wait()
	var kept int
	var lost uint64
	for _, m := range muxes {
		c := m.Counts()
		kept, lost = kept+c.Frames, lost+c.Dropped[ReasonProcess]
	}
	if kept > 100 || uint64(kept)+lost != 800 || shared.Used() != kept*65 {
		t.Errorf("kept %d, lost %d, %d bytes", kept, lost, shared.Used())
	}
}

func TestRoomOfABurstIsLetGo(t *testing.T) { // promise 4: ten thousand streams may have had one
	m := New(n1, Config{}, nil)
	burst := func() {
		for i := range 5000 {
			m.Submit(submission(subjects.Channel(fmt.Sprint("c", i)), "x"), false)
		}
	}
	for range 3 {
		burst()
		first, _ := m.Drain()
		burst() // while the first is being cut
		if got := len(payloads(t, append(first.Cuts, drainAll(t, m)...))); got != 10_000 {
			t.Fatalf("%d frames were drained, want 10000", got)
		}
		for what, room := range map[string]int{"buffer": cap(m.buffer), "spare": cap(m.drain.spare), "batch": cap(m.drain.batch), "cuts": cap(m.drain.cuts)} {
			if room > keepItems {
				t.Errorf("the %s keeps room for %d items", what, room)
			}
		}
	}
}

func TestBigSubmissionsAreCutIntoSlices(t *testing.T) { // promise 3; P3.1
	m := New(n1, Config{}, nil)
	var want []string
	for i, size := range []int{3000, 0, 1, 700_000} {
		list := make([]string, []int{900, 3, 4096, 2}[i])
		for k := range list {
			list[k] = strings.Repeat(string(rune('a'+k%26)), size)
		}
		want = append(want, list...)
		m.Submit(submission("big", list...), i%2 == 0)
	}
	got := payloads(t, drainAll(t, m)) // checks the bounds of each slice
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i, w := range want {
		if got[subjects.Position(i)] != w {
			t.Fatalf("position %d differs", i)
		}
	}
}

func TestPacedRunIsWholeAmidObservers(t *testing.T) { // promise 7, under concurrency
	shared := NewShared(65 * 20)
	m, p := New(n1, Config{BufferFrames: 16}, shared), NewPaced(PacedConfig{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					m.Submit(submission("o", ""), false)
				}
			}
		})
	}
	seen := 0 // paced frames: they come in order, none is missing
	drain := func() bool {
		s, ok := m.Drain()
		for _, c := range s.Cuts {
			for i := 0; c.Paced && i < c.Run.Len(); i++ {
				if string(c.Run.Payload(i)) != fmt.Sprint(seen) {
					t.Errorf("paced frame %q at %d, want %d", c.Run.Payload(i), c.Run.Pos(i), seen)
				}
				seen++
			}
		}
		return ok
	}
	anyway := func(int) bool { return true }
	for n := 0; n < 600 && !t.Failed(); n += 3 {
		o := Offer{Seq: seq("p", uint64(n)), Run: submission("a", fmt.Sprint(n), fmt.Sprint(n+1), fmt.Sprint(n+2))}
		out := p.Offer(m, o, anyway, birth, nil)
		for len(out) == 0 { // held: the observers have filled the buffer
			drain()
			out = p.Retry(anyway, birth, nil)
		}
		if a := out[0].Answer; a.Error != "" || a.Count != 3 || !out[0].Taken {
			t.Errorf("run %d: %+v", n, a)
		}
	}
	close(stop)
	wg.Wait()
	for drain() {
	}
	if seen != 600 || shared.Used() != 0 {
		t.Errorf("%d paced frames were drained, want 600; %d bytes are still held", seen, shared.Used())
	}
}

func TestNothingIsTakenAfterClose(t *testing.T) { // promise 5
	m := New(n1, Config{}, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	after := subjects.Position(0)
	for range 4 {
		wg.Go(func() {
			for {
				got, ok := m.Submit(submission("a", "x"), false)
				if !ok {
					return
				}
				mu.Lock()
				if after = max(after, got.First+1); after > 100 {
					m.Close()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if c := m.Counts(); c.Assigned != after || !c.Closed {
		t.Errorf("assigned %d, the last that was told is %d", c.Assigned, after-1)
	}
}
