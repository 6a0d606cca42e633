package emit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"datastream/producer/emit/window"
	"datastream/subjects"
	"datastream/subjects/control"
)

func openPaced(t testing.TB, p *Paced, err error) *Paced {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = p.Close(ctx)
	})
	return p
}

// withHaste shortens the times of the protocol.
func withHaste(answer, silence time.Duration) Option {
	return func(c *config) {
		c.answerTimeout, c.silenceTimeout = answer, silence
		c.backoffMin, c.backoffMax = time.Millisecond, 10*time.Millisecond
	}
}

// feed submits n numbered frames, round robin over three channels.
func feed(t testing.TB, p *Paced, from, n int) {
	t.Helper()
	ctx := within(t, 30*time.Second)
	for i := from; i < from+n; i++ {
		if err := p.Submit(ctx, subjects.Channel(fmt.Sprintf("c%d", i%3)), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// arrived asserts that the mux has each frame from…from+n-1 once and in order.
func arrived(t testing.TB, m *testMux, n int) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range 3 {
		want := c
		for _, p := range m.got[subjects.Channel(fmt.Sprintf("c%d", c))] {
			if p != fmt.Sprint(want) {
				t.Fatalf("channel c%d: %s came where %d was due", c, p, want)
			}
			want += 3
		}
		if want < n {
			t.Fatalf("channel c%d ends before frame %d of %d", c, want, n)
		}
	}
}

func reported(t testing.TB, r Report, want Report) {
	t.Helper()
	r.Lives = nil
	if fmt.Sprint(r) != fmt.Sprint(want) {
		t.Errorf("report %+v, want %+v", r, want)
	}
}

// TestPacedSettlesEverything is promise 6 with nothing in the way.
func TestPacedSettlesEverything(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, _ := connect(t, s, true)
	p, err := OpenPaced(nc, node, WithBuffer(500, 1<<20))
	openPaced(t, p, err)
	feed(t, p, 0, 20_000)
	r, err := p.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	reported(t, r, Report{Submitted: 20_000, Settled: 20_000})
	arrived(t, m, 20_000)
	if len(r.Lives) != 1 || r.Lives[0] != m.life {
		t.Errorf("lives %v, want %v", r.Lives, m.life)
	}
	if again, err := p.Close(within(t, time.Second)); err != nil || again.Settled != 20_000 {
		t.Errorf("closed twice: %+v, %v", again, err)
	}
	if err := p.Submit(context.Background(), "c", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("submit after Close: %v", err)
	}
}

// TestPacedSurvivesADeafMux: every seventh message is not heard, the connection
// is cut again and again; still every frame is taken once and in order.
func TestPacedSurvivesADeafMux(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	m.hear = func(n int) bool { return n%7 != 3 }
	nc, g := connect(t, s, true)
	p, err := OpenPaced(nc, node, withHaste(100*time.Millisecond, time.Hour), WithBuffer(1000, 1<<20))
	openPaced(t, p, err)
	for i := range 10 {
		feed(t, p, i*1000, 1000)
		g.cut()
	}
	r, err := p.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	reported(t, r, Report{Submitted: 10_000, Settled: 10_000})
	arrived(t, m, 10_000)
	if m.frames != 10_000 {
		t.Errorf("%d frames were taken", m.frames)
	}
}

// TestPacedCountsWhatWasGivenUp: positions listed as gone are lost, and Close
// says so.
func TestPacedCountsWhatWasGivenUp(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	m.giveUp = func(p string) bool { return strings.HasSuffix(p, "77") }
	nc, _ := connect(t, s, true)
	p, err := OpenPaced(nc, node)
	openPaced(t, p, err)
	feed(t, p, 0, 1000)
	r, err := p.Close(within(t, 30*time.Second))
	if !errors.Is(err, ErrUnsettled) || !strings.Contains(err.Error(), "10 lost") {
		t.Errorf("error %v", err)
	}
	reported(t, r, Report{Submitted: 1000, Settled: 990, Lost: 10})
}

// TestPacedWaitsForAMux: with none there, the handle says so, keeps everything
// and goes on as soon as one comes.
func TestPacedWaitsForAMux(t *testing.T) {
	s := startServer(t)
	nc, _ := connect(t, s, true)
	notices := make(chan string, 1000)
	p, err := OpenPaced(nc, node, withHaste(10*time.Second, time.Hour), WithOnNotice(func(n string) { notices <- n }))
	openPaced(t, p, err)
	feed(t, p, 0, 100)
	if n := <-notices; !strings.Contains(n, "is muxd running?") {
		t.Errorf("notice %q", n)
	}
	m := startMux(t, s)
	r, err := p.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	reported(t, r, Report{Submitted: 100, Settled: 100})
	arrived(t, m, 100)
}

// TestPacedOutlivesAMux: what the old life took and settled is settled, the rest
// goes to the new one.
func TestPacedOutlivesAMux(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, _ := connect(t, s, true)
	p, err := OpenPaced(nc, node, withHaste(100*time.Millisecond, time.Hour))
	openPaced(t, p, err)
	feed(t, p, 0, 100)
	eventually(t, "the first life settles", func() bool { return p.Report().Settled == 100 })
	m.set(func() { m.mute = true })
	feed(t, p, 100, 50)
	eventually(t, "the first life takes more", func() bool { return m.heard() == 150 })
	m.set(func() { m.mute = false })
	m.restart(110) // of those 50 it committed 10
	feed(t, p, 150, 30)
	r, err := p.Close(within(t, 30*time.Second))
	if !errors.Is(err, ErrUnsettled) {
		t.Errorf("error %v", err)
	}
	lives := r.Lives
	reported(t, r, Report{Submitted: 180, Settled: 140, Lost: 40})
	if len(lives) != 2 {
		t.Errorf("lives %v, want two", lives)
	}
}

// TestPacedReportsARejection: a final error loses that run alone.
func TestPacedReportsARejection(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	m.reject = func(p string) string {
		if p == "bad" {
			return "this mux does not like it"
		}
		return ""
	}
	nc, _ := connect(t, s, true)
	p, err := OpenPaced(nc, node, withHaste(100*time.Millisecond, time.Hour))
	openPaced(t, p, err)
	ctx := within(t, 30*time.Second)
	feed(t, p, 0, 30)
	if err := p.Submit(ctx, "other", []byte("bad")); err != nil {
		t.Fatal(err)
	}
	feed(t, p, 30, 30)
	r, err := p.Close(ctx)
	if !errors.Is(err, window.ErrRejected) || !errors.Is(err, ErrUnsettled) {
		t.Errorf("error %v", err)
	}
	reported(t, r, Report{Submitted: 61, Settled: 60, Lost: 1})
	arrived(t, m, 60)
}

// TestPacedFrameTheServerRefuses: a frame above max_payload is lost, and only it.
func TestPacedFrameTheServerRefuses(t *testing.T) {
	s := startServer(t)
	startMux(t, s)
	nc, _ := connect(t, s, true)
	p, err := OpenPaced(nc, node, WithMaxFrame(3<<20))
	openPaced(t, p, err)
	ctx := within(t, 30*time.Second)
	for _, size := range []int{10, 2<<20 + 1, 10} {
		if err := p.Submit(ctx, "c", make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := p.Close(ctx)
	if !errors.Is(err, window.ErrRejected) {
		t.Errorf("error %v", err)
	}
	reported(t, r, Report{Submitted: 3, Settled: 2, Lost: 1})
}

// TestPacedSubmitWaits: a full buffer lets Submit wait, until there is room or
// its context ends.
func TestPacedSubmitWaits(t *testing.T) {
	s := startServer(t)
	nc, g := connect(t, s, false)
	p, err := OpenPaced(nc, node, WithBuffer(3, 1<<20), withHaste(10*time.Second, time.Hour))
	openPaced(t, p, err)
	feed(t, p, 0, 3)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := p.Submit(ctx, "c", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("submit: %v", err)
		}
	})
	cancel()
	wg.Wait()
	m := startMux(t, s)
	g.set(true)
	feed(t, p, 3, 30)
	r, err := p.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	reported(t, r, Report{Submitted: 33, Settled: 33})
	arrived(t, m, 33)
}

// TestPacedCloseGivesUp: what nobody took is lost, what may have been is unknown.
func TestPacedCloseGivesUp(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	m.mute = true
	nc, g := connect(t, s, true)
	p, err := OpenPaced(nc, node)
	openPaced(t, p, err)
	feed(t, p, 0, 10)
	eventually(t, "the mux takes ten", func() bool { return m.heard() == 10 })
	g.set(false)
	g.cut()
	eventually(t, "the cut is noticed", func() bool { return !nc.IsConnected() })
	feed(t, p, 10, 5)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := p.Close(ctx)
	if !errors.Is(err, ErrUnsettled) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	reported(t, r, Report{Submitted: 15, Lost: 5, Unknown: 10})
	if r.Open() != 0 {
		t.Errorf("%d frames are open after Close", r.Open())
	}
}

func TestPacedConnectionClosedForGood(t *testing.T) {
	nc, _ := connect(t, startServer(t), false)
	p, err := OpenPaced(nc, node)
	openPaced(t, p, err)
	feed(t, p, 0, 5)
	nc.Close()
	r, err := p.Close(within(t, 30*time.Second))
	if !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	reported(t, r, Report{Submitted: 5, Lost: 5})
}

func TestPacedRefusesWhatIsNoFrame(t *testing.T) {
	nc, _ := connect(t, startServer(t), true)
	p, err := OpenPaced(nc, node, WithMaxFrame(10))
	openPaced(t, p, err)
	ctx := context.Background()
	if err := p.Submit(ctx, "", nil); !errors.Is(err, subjects.ErrName) {
		t.Errorf("no channel: %v", err)
	}
	if err := p.Submit(ctx, "c", make([]byte, 11)); !errors.Is(err, ErrSize) {
		t.Errorf("too large: %v", err)
	}
	r, err := p.Close(within(t, 30*time.Second))
	if err != nil || r.Submitted != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestPacedIgnoresStrangers: messages that are no answers and no announcements
// change nothing.
func TestPacedIgnoresStrangers(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, _ := connect(t, s, true)
	p, err := OpenPaced(nc, node)
	openPaced(t, p, err)
	_ = m.nc.Publish(p.pacer.inbox+"1-1", []byte("hello"))
	for _, key := range []string{"x", "1-99999999999", "700-1", "-1"} {
		_ = m.nc.Publish(p.pacer.inbox+key, control.Answer{Error: "no"}.Encode())
	}
	_ = m.nc.Publish("ds.settled.n1%2Eexample.notalife", nil)
	_ = m.nc.Publish(subjects.Default().Settled(subjects.Stream{Node: node, Life: m.life}), []byte("{"))
	if err := m.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	feed(t, p, 0, 10)
	r, err := p.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	reported(t, r, Report{Submitted: 10, Settled: 10})
}
