package emit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/subjects"
	"datastream/subjects/frame"
)

func open(t testing.TB, h *Remote, err error) *Remote {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // for a test that fails before its own Close
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = h.Close(ctx)
	})
	return h
}

func withIdle(first, next time.Duration) Option {
	return func(c *config) { c.idleFirst, c.idleNext = first, next }
}

// accounted asserts P9.3: what arrived and what the numbers say is missing adds
// up to every call of Submit.
func accounted(t *testing.T, m *testMux, s Stats) {
	t.Helper()
	eventually(t, "the mux hears of every submission", func() bool { return m.heard() >= s.Submitted })
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.frames+m.missing != s.Submitted {
		t.Errorf("%d frames and %d missing do not add up to %d submissions", m.frames, m.missing, s.Submitted)
	}
	if m.frames > s.Sent {
		t.Errorf("%d frames arrived, %d were sent", m.frames, s.Sent)
	}
	if s.Submitted != s.Sent+s.Dropped.Total()+s.Buffered {
		t.Errorf("the statistics do not add up: %+v", s)
	}
}

// TestSubmitNeverWaits is promises 1 and 2 with no server to be reached: 100 000
// submissions return, and what overflowed before the first connection is seen.
func TestSubmitNeverWaits(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, g := connect(t, s, false)
	r, err := Open(nc, node)
	h := open(t, r, err)

	const n = 100_000
	payload := make([]byte, 200)
	var wg sync.WaitGroup
	for p := range 4 {
		wg.Go(func() {
			for range n / 4 {
				h.Submit(subjects.Channel(fmt.Sprintf("load.%d", p)), payload)
			}
		})
	}
	wg.Wait()
	st := h.Stats()
	if st.Submitted != n || st.Sent != 0 || st.Dropped[ReasonFull] == 0 || st.Buffered == 0 {
		t.Fatalf("while away: %+v", st)
	}
	g.set(true)
	st, err = h.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	accounted(t, m, st)
	if m.frames != st.Sent || m.missing != st.Dropped[ReasonFull] || st.Buffered != 0 {
		t.Errorf("arrived %d, missing %d, of %+v", m.frames, m.missing, st)
	}
	if m.marks[0] != 0 {
		t.Errorf("the first mark says %d, want 0", m.marks[0])
	}
}

// stuckServer speaks enough of the protocol to be connected to, answers pings
// until it has seen a flushed publish, and then reads no more.
func stuckServer(t *testing.T) (url string, stop func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stuck := make(chan struct{})
	stop = func() { close(stuck); l.Close(); wg.Wait() }
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				fmt.Fprint(c, `INFO {"server_id":"x","version":"2.15.2","headers":true,"max_payload":8388608,"proto":1}`+"\r\n")
				lines, published := bufio.NewScanner(c), false
				for lines.Scan() {
					published = published || strings.HasPrefix(lines.Text(), "HPUB")
					if lines.Text() == "PING" {
						fmt.Fprint(c, "PONG\r\n")
						if published {
							break
						}
					}
				}
				<-stuck
			})
		}
	})
	return "nats://" + l.Addr().String(), stop
}

// TestSubmitIgnoresAStuckSocket is promise 1 with a peer that does not read:
// the goroutine is blocked in the socket, Submit is not.
func TestSubmitIgnoresAStuckSocket(t *testing.T) {
	url, stop := stuckServer(t)
	nc, err := nats.Connect(url, nats.ReconnectBufSize(-1), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); nc.Close() }()
	h, err := Open(nc, node)
	if err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, 1000)
	for h.Stats().Dropped[ReasonFull] < 1000 {
		h.Submit("c", payload)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if st, err := h.Close(ctx); !errors.Is(err, ErrUnsettled) {
		t.Errorf("Close: %v, %+v", err, st)
	}
}

// TestCutsAreCounted: what the connection had accepted when it broke is missing,
// exactly (promise 2).
func TestCutsAreCounted(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, g := connect(t, s, true)
	r, err := Open(nc, node)
	h := open(t, r, err)
	for i := range 30_000 {
		h.Submit("c", fmt.Append(nil, i))
		if i%7_000 == 6_999 {
			g.cut()
		}
		if i%1000 == 999 {
			eventually(t, "the handle keeps up", func() bool { return h.Stats().Buffered < 2000 })
		}
	}
	st, err := h.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	accounted(t, m, st)
}

// TestLongLossIsToldPiecewise: a mux takes a step above 2^20 for a new start.
func TestLongLossIsToldPiecewise(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, g := connect(t, s, false)
	r, err := Open(nc, node, WithBuffer(10, 1000))
	h := open(t, r, err)
	for range maxStep + 1000 {
		h.Submit("c", nil)
	}
	g.set(true)
	st, err := h.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	accounted(t, m, st)
	if st.Sent != 10 {
		t.Errorf("%d frames were sent, want the buffer's 10", st.Sent)
	}
}

// TestDropsByReason: whatever is dropped is counted by reason, told to the hook,
// and spends its number.
func TestDropsByReason(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, _ := connect(t, s, true)
	var told [reasons]atomic.Uint64
	r, err := Open(nc, node, WithMaxFrame(3<<20), WithOnDrop(func(r Reason) { told[r].Add(1) }))
	h := open(t, r, err)
	h.Submit("", []byte("x"))
	h.Submit(subjects.Channel(strings.Repeat("c", subjects.MaxChannel+1)), nil)
	h.Submit("big", make([]byte, 3<<20+1))
	h.Submit("server.refuses", make([]byte, 2<<20+1))
	h.Submit("good", []byte("y"))
	st, err := h.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	h.Submit("good", []byte("too late"))
	accounted(t, m, st)
	want := Drops{ReasonChannel: 2, ReasonSize: 1, ReasonRefused: 1}
	if st.Dropped != want || m.missing != 4 || m.frames != 1 {
		t.Errorf("dropped %v, want %v; the mux misses %d", st.Dropped, want, m.missing)
	}
	if got := h.Stats().Dropped[ReasonClosed]; got != 1 {
		t.Errorf("%d dropped after Close, want 1", got)
	}
	if told[ReasonChannel].Load() != 2 || told[ReasonSize].Load() != 1 || told[ReasonClosed].Load() != 1 {
		t.Error("the hook was not told of each drop")
	}
}

// TestIdleMarks: an idle handle repeats its next number four times, then is
// quiet until Close.
func TestIdleMarks(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, _ := connect(t, s, true)
	r, err := Open(nc, node, withIdle(5*time.Millisecond, 5*time.Millisecond))
	h := open(t, r, err)
	h.Submit("c", []byte("x"))
	eventually(t, "idle marks", func() bool { return h.Stats().Marks == 1+idleMarks })
	st, err := h.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	accounted(t, m, st)
	eventually(t, "the last mark", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return len(m.marks) == 2+idleMarks })
	if got, want := fmt.Sprint(m.marks), "[0 1 1 1 1 1]"; got != want {
		t.Errorf("marks %s, want %s", got, want)
	}
}

// TestReconnectMarks: the first thing after a reconnect is a mark.
func TestReconnectMarks(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, g := connect(t, s, true)
	r, err := Open(nc, node, withIdle(time.Hour, time.Hour))
	h := open(t, r, err)
	h.Submit("c", []byte("x"))
	eventually(t, "the frame arrives", func() bool { return m.heard() == 1 })
	g.cut()
	eventually(t, "a mark after the cut", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return len(m.marks) == 2 })
	if m.marks[1] != 1 {
		t.Errorf("the mark says %d, want 1", m.marks[1])
	}
	_ = h
}

// TestBacklogTravelsInRuns is promise 4: interleaved channels neither break the
// runs nor the order.
func TestBacklogTravelsInRuns(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, g := connect(t, s, false)
	r, err := Open(nc, node)
	h := open(t, r, err)
	const n = 12_000
	for i := range n {
		h.Submit(subjects.Channel(fmt.Sprintf("c%d", i%3)), fmt.Append(nil, i/3))
	}
	g.set(true)
	st, err := h.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	accounted(t, m, st)
	if st.Messages > 3*(n/frame.SliceFrames+1)*2 {
		t.Errorf("%d frames took %d messages", n, st.Messages)
	}
	for c, got := range m.got {
		for i, p := range got {
			if p != fmt.Sprint(i) {
				t.Fatalf("channel %s, frame %d is %q", c, i, p)
			}
		}
	}
}

func TestPayloadsAreOpaqueAndCopied(t *testing.T) {
	s := startServer(t)
	m := startMux(t, s)
	nc, g := connect(t, s, false)
	r, err := Open(nc, node)
	h := open(t, r, err)
	p := []byte("a\nb\x00\xff")
	for range 3 {
		h.Submit("weird.*.>. channel", p)
		p[0]++
	}
	h.Submit("weird.*.>. channel", nil)
	large := make([]byte, aloneBytes)
	h.Submit("large", large)
	large[0] = 1
	g.set(true)
	st, err := h.Close(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	accounted(t, m, st)
	if got := fmt.Sprintf("%q", m.got["weird.*.>. channel"]); got != `["a\nb\x00\xff" "b\nb\x00\xff" "c\nb\x00\xff" ""]` {
		t.Errorf("got %s", got)
	}
	if m.got["large"][0][0] != 0 {
		t.Error("a large payload is shared with the caller")
	}
}

// TestCloseGivesUp: with no server, Close ends with its context and says what
// was not sent.
func TestCloseGivesUp(t *testing.T) {
	nc, _ := connect(t, startServer(t), false)
	r, err := Open(nc, node)
	h := open(t, r, err)
	for range 10 {
		h.Submit("c", nil)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	st, err := h.Close(ctx)
	if !errors.Is(err, ErrUnsettled) || !strings.Contains(err.Error(), "10 frames") {
		t.Errorf("error %v", err)
	}
	if st.Dropped[ReasonUnsent] != 10 || st.Buffered != 0 {
		t.Errorf("%+v", st)
	}
}

// TestConnectionClosedForGood: the handle says so, drops what it holds and takes
// nothing more.
func TestConnectionClosedForGood(t *testing.T) {
	nc, _ := connect(t, startServer(t), false)
	notices := make(chan string, 10)
	r, err := Open(nc, node, WithOnNotice(func(s string) { notices <- s }))
	h := open(t, r, err)
	h.Submit("c", nil)
	nc.Close()
	if n := <-notices; !strings.Contains(n, "closed for good") {
		t.Errorf("notice %q", n)
	}
	h.Submit("c", nil)
	st, err := h.Close(within(t, 30*time.Second))
	if !errors.Is(err, ErrUnsettled) || st.Dropped[ReasonUnsent] != 1 || st.Dropped[ReasonClosed] != 1 {
		t.Errorf("error %v, %+v", err, st)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	nc, _ := connect(t, startServer(t), true)
	for name, o := range map[string]Option{
		"buffer": WithBuffer(0, 1), "window": WithWindow(1, 0), "frame": WithMaxFrame(frame.MaxBody + 1),
		"space": WithSpace(subjects.Space{}), "hook": WithOnDrop(nil),
	} {
		if _, err := Open(nc, node, o); !errors.Is(err, ErrOption) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := OpenPaced(nc, ""); !errors.Is(err, subjects.ErrName) {
		t.Errorf("an empty node: error %v", err)
	}
	if _, err := Open(nil, node); !errors.Is(err, ErrOption) {
		t.Errorf("no connection: error %v", err)
	}
}
