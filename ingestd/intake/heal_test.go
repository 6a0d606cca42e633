package intake

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/ingestd/ledger"
	"datastream/ingestd/store"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// requests are the repair requests to a life, as they come.
func (l *life) requests() chan *nats.Msg {
	l.r.t.Helper()
	ch := make(chan *nats.Msg, 1<<14)
	if _, err := l.r.nc.ChanSubscribe(subjects.Default().Repair(l.id), ch); err != nil {
		l.r.t.Fatal(err)
	}
	l.r.flush()
	return ch
}

// next is the next request.
func (r *rig) next(ch chan *nats.Msg) (m *nats.Msg, ranges []control.Range) {
	r.t.Helper()
	select {
	case m = <-ch:
	case <-time.After(harness.Patience):
		r.t.Fatal("no repair request came")
	}
	req, err := control.DecodeRepairRequest(m.Data)
	if err != nil {
		r.t.Fatal(err)
	}
	return m, req.Ranges
}

// TestUnknownLifeIsRefusedThenRepaired: frames of a life that neither the
// store nor a beat knows are refused; its mux is asked to show itself, and
// then for everything from 0 on (P7.2).
func TestUnknownLifeIsRefusedThenRepaired(t *testing.T) {
	r := start(t, Config{})
	l := &life{r: r, id: subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}, run: map[subjects.Position]frame.Run{}, gone: map[subjects.Position]bool{}}
	asked := l.requests()
	l.frames(0, 20)
	m, ranges := r.next(asked)
	if len(ranges) != 0 {
		t.Fatalf("an unknown life was asked for %v", ranges)
	}
	if n := r.metric("refused_total", "unknown_life"); n == 0 || r.writer.count(l.id) != 0 {
		t.Errorf("%v frames are counted as refused, %d committed", n, r.writer.count(l.id))
	}
	l.repair(m) // which beats
	m, ranges = r.next(asked)
	if len(ranges) != 1 || ranges[0] != (control.Range{From: 0, To: 19}) {
		t.Fatalf("then it was asked for %v", ranges)
	}
	l.repair(m)
	r.whole(l, 20)
}

// TestLostTailIsRepaired: a beat shows what was drained after the last frame
// that arrived (P7.6).
func TestLostTailIsRepaired(t *testing.T) {
	r := start(t, Config{})
	l := r.birth("n1")
	l.repairs()
	l.frames(0, 3)
	l.make("a", 3, "lost", "too")
	l.beat(control.Beat{})
	r.whole(l, 5)
}

// TestBoundsDropAndHeal is promise 5: whatever a bound drops is counted, has
// not arrived, and repair brings it (P7.7).
func TestBoundsDropAndHeal(t *testing.T) {
	const n = 200
	body := strings.Repeat("x", 100)
	// until the bound has dropped something, the mux sends
	overflow := func(t *testing.T, r *rig, l *life, dropped func() float64) subjects.Position {
		t.Helper()
		for p := subjects.Position(1); p < n; p++ {
			l.send(l.make(fmt.Sprint("c", p), p, body))
		}
		harness.Until(t, "something is dropped", func() bool { return dropped() > 0 })
		return n
	}
	t.Run("queue", func(t *testing.T) {
		r := start(t, Config{QueueBytes: 2000, WindowBytes: 2000, Singles: 1}, gated)
		l := r.birth("n1")
		l.repairs()
		inFlight(r, l)
		to := overflow(t, r, l, func() float64 { return r.metric("dropped_frames_total", "queue") })
		if held := r.metric("queue_bytes") + r.metric("window_bytes"); held > 4000 {
			t.Errorf("%v bytes are held", held)
		}
		r.open()
		l.beat(control.Beat{})
		r.whole(l, to)
	})
	t.Run("inbox", func(t *testing.T) {
		// The inbox may drop resends and answers, too: that is no reason to give up here.
		r := start(t, Config{InboxBytes: 10000, AnswerWait: 50 * time.Millisecond, Ledger: ledger.Config{AskAgain: 20 * time.Millisecond, Resends: 1 << 20}})
		l := r.birth("n1")
		l.repairs()
		l.frames(0, 1)
		r.below(l.id, 1)
		r.in.mu.Lock() // the route loop is behind
		func() {
			defer r.in.mu.Unlock()
			overflow(t, r, l, func() float64 { return float64(r.in.inbox.dropped.Load()) })
		}()
		harness.Until(t, "it has caught up", func() bool {
			l.beat(control.Beat{}) // which may be dropped, too
			return r.writer.count(l.id) == n
		})
		r.whole(l, n)
		if r.metric("inbox_dropped_messages_total") == 0 {
			t.Error("what the inbox dropped is not counted")
		}
	})
	t.Run("window", func(t *testing.T) { // nothing is dropped: it goes on over its hole (P7.1)
		cfg := Config{}
		cfg.Window.Bytes = 2000
		r := start(t, cfg)
		l := r.birth("n1")
		l.make("c0", 0, body) // a hole
		for p := subjects.Position(1); p < n; p++ {
			l.send(l.make(fmt.Sprint("c", p), p, body))
		}
		harness.Until(t, "all but the hole is committed", func() bool { return r.writer.count(l.id) == n-1 })
		if dropped, held := r.metric("dropped_frames_total"), r.metric("window_bytes"); dropped > 0 || held > 0 {
			t.Errorf("%v frames are dropped, %v bytes are held", dropped, held)
		}
		l.repairs()
		l.beat(control.Beat{})
		r.whole(l, n)
		if late := r.writer.ascending(); late != 1 {
			t.Errorf("%d frames are late", late)
		}
	})
	t.Run("windows", func(t *testing.T) { // all together: the fullest goes on over its hole
		r := start(t, Config{WindowBytes: 2000})
		l := r.birth("n1")
		l.make("c0", 0, body)
		for p := subjects.Position(1); p < n; p++ {
			l.send(l.make(fmt.Sprint("c", p), p, body))
		}
		harness.Until(t, "all but the hole is committed", func() bool { return r.writer.count(l.id) >= n-20 })
		if r.metric("windows_forced_total") == 0 {
			t.Error("no window was forced")
		}
		l.repairs()
		r.whole(l, n)
	})
}

// TestSettledIsPacedAndTheLastWordComes: announcements are at least
// SettleEvery apart, and the last word comes at the end of that time, or when
// ingest stops.
func TestSettledIsPacedAndTheLastWordComes(t *testing.T) {
	t.Run("stop", func(t *testing.T) {
		r := start(t, Config{SettleEvery: time.Hour})
		l := r.birth("n1")
		l.frames(0, 1)
		r.below(l.id, 1)
		for p := subjects.Position(1); p < 10; p++ {
			l.frames(p, p+1)
			harness.Until(t, "it is committed", func() bool { return r.writer.count(l.id) == int(p)+1 })
		}
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
		r.below(l.id, 10)
		if said := r.announced(l.id); len(said) != 2 {
			t.Errorf("within an hour it announced %+v", said)
		}
	})
	t.Run("time", func(t *testing.T) {
		r := start(t, Config{})
		l := r.birth("n1")
		for p := subjects.Position(0); p < 100; p++ {
			l.frames(p, p+1)
		}
		r.below(l.id, 100) // with nothing coming in any more
	})
}

// TestBeatThatIsBehindMakesItSayAgain: an announcement that was lost comes
// again, with what it said is gone (P2).
func TestBeatThatIsBehindMakesItSayAgain(t *testing.T) {
	r := start(t, Config{})
	l := r.birth("n1")
	l.gone[1] = true
	l.repairs()
	l.frames(0, 1)
	l.make("a", 1, "lost")
	l.frames(2, 5)
	first := r.below(l.id, 5)
	before := len(r.announced(l.id))
	l.beat(control.Beat{Below: 5})
	l.beat(control.Beat{Below: 0})
	harness.Until(t, "it says so again", func() bool { return len(r.announced(l.id)) > before })
	said := r.announced(l.id)
	again := said[len(said)-1]
	if len(said) != before+1 || again.Below != 5 || again.Lost != first.Lost {
		t.Errorf("after %+v it said %+v", first, said[before:])
	}
}

// TestSayAgainNamesWhatIsGone: who has missed the announcement of a loss
// hears of it.
func TestSayAgainNamesWhatIsGone(t *testing.T) {
	r := start(t, Config{})
	l := r.birth("n1")
	l.gone[1] = true
	l.repairs()
	l.frames(0, 1)
	l.make("a", 1, "lost")
	l.frames(2, 5)
	r.below(l.id, 5)
	before := len(r.announced(l.id))
	l.beat(control.Beat{Below: 1})
	harness.Until(t, "it says so again", func() bool { return len(r.announced(l.id)) > before })
	said := r.announced(l.id)[before]
	if said.Lost != 1 || len(said.Gone) != 1 || said.Gone[0] != (control.Range{From: 1, To: 1}) {
		t.Errorf("it said %+v", said)
	}
}

// TestAnotherWritersCommits: what Resync finds of another writer is not
// committed again, wherever our frames wait: in flight, in the queue, in the
// window (P7.4).
func TestAnotherWritersCommits(t *testing.T) {
	for _, each := range []bool{true, false} {
		t.Run(fmt.Sprint("singles ", each), func(t *testing.T) {
			cfg := Config{}
			if !each {
				cfg.Singles = 1
			}
			r := start(t, cfg, gated)
			l := r.birth("n1")
			r.writer.set(func(w *scripted) {
				w.plan = []reply{{err: store.ErrFence, before: func(w *scripted) {
					for _, p := range []subjects.Position{0, 1, 3, 6, 8} { // ours, by somebody else
						w.another(l.id, p, p.String())
					}
				}}}
			})
			inFlight(r, l)
			l.frames(1, 5)
			l.frames(6, 8) // 5 is a hole: these wait in the window
			r.arrived(7)
			r.open()
			harness.Until(t, "all but the hole is committed or known", func() bool { return r.writer.count(l.id) >= 6 })
			l.frames(5, 6)
			l.frames(8, 10) // one of them the other's, before we had it
			r.whole(l, 10)
		})
	}
}

// TestRestoredIsNotCommittedAgain: what was read from the store at start is
// known, and what is missing of it is asked for; what the store has let go of
// is not (P7.5, P8.3).
func TestRestoredIsNotCommittedAgain(t *testing.T) {
	for _, evicted := range []bool{false, true} {
		t.Run(fmt.Sprint("evicted ", evicted), func(t *testing.T) {
			r := build(t, Config{})
			l := &life{r: r, id: subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}, run: map[subjects.Position]frame.Run{}, gone: map[subjects.Position]bool{}}
			for p := range subjects.Position(3) {
				l.make("a", p, p.String())
			}
			r.writer.another(l.id, 3, "3")
			r.writer.known = 1
			if evicted {
				r.evicted = 3
			}
			if evicted {
				r.in.Evicting()
			}
			r.in.Restore(store.Stored{Seq: 9, Stream: l.id, Run: l.make("c3", 3, "3")})
			r.run()
			asked := l.requests()
			l.frames(3, 4) // again
			l.frames(4, 6)
			l.make("a", 6, "6")
			heard := control.Beat{}
			if evicted { // its mux knows that they were settled: they have aged out
				heard.Below = 3
			}
			l.beat(heard)
			m, ranges := r.next(asked)
			want := []control.Range{{From: 0, To: 2}, {From: 6, To: 6}}
			if evicted {
				want = want[1:]
			}
			for len(ranges) < len(want) { // holes of different ages
				l.repair(m)
				var more []control.Range
				m, more = r.next(asked)
				ranges = append(ranges, more...)
			}
			if fmt.Sprint(ranges) != fmt.Sprint(want) {
				t.Errorf("asked for %v, want %v", ranges, want)
			}
			l.repair(m)
			r.below(l.id, 7)
			if n := r.writer.count(l.id); evicted && n != 4 || !evicted && n != 7 {
				t.Errorf("%d positions are committed", n)
			}
		})
	}
}

// TestRepairRequestThatIsLost: a request without an answer is given up after
// AnswerWait, and the next one heals (P7.1).
func TestRepairRequestThatIsLost(t *testing.T) {
	r := start(t, Config{AnswerWait: 20 * time.Millisecond})
	l := r.birth("n1")
	asked := l.requests()
	hole(l)
	r.next(asked) // and nothing is answered
	m, ranges := r.next(asked)
	if len(ranges) != 1 || ranges[0] != (control.Range{From: 1, To: 1}) {
		t.Errorf("asked again for %v", ranges)
	}
	l.repair(m)
	r.whole(l, 3)
}

// hole sends positions 0 and 2, and keeps 1.
func hole(l *life) {
	l.frames(0, 1)
	l.make("c1", 1, "1")
	l.frames(2, 3)
}

// TestRepairThatNobodyServes: the server says at once that there is nobody; a
// mux that is back is asked again. No resend counts as vain meanwhile.
func TestRepairThatNobodyServes(t *testing.T) {
	cfg := Config{Ledger: ledger.Config{AskAgain: time.Millisecond, Resends: 2}}
	r := start(t, cfg)
	l := r.birth("n1")
	hole(l)
	harness.Until(t, "it was asked for often", func() bool { return r.metric("repair_requests_total") >= 5 })
	l.repairs()
	r.whole(l, 3)
}

// TestLateAnswerChangesNothing: one that comes after its request was given up
// is not believed, whatever it says.
func TestLateAnswerChangesNothing(t *testing.T) {
	r := start(t, Config{AnswerWait: 20 * time.Millisecond})
	l := r.birth("n1")
	asked := l.requests()
	hole(l)
	late, _ := r.next(asked)
	m, _ := r.next(asked) // so the first was given up
	gone := control.RepairAnswer{Gone: []control.Range{{From: 1, To: 1}}}
	if err := late.Respond(gone.Encode()); err != nil {
		t.Fatal(err)
	}
	l.repair(m)
	if s := r.below(l.id, 3); s.Lost != 0 {
		t.Errorf("a late answer was believed: %+v", s)
	}
	r.whole(l, 3)
}

// TestVainResendsEnd: a position that is sent again and never arrives is
// given up, as the bound says (P7.1).
func TestVainResendsEnd(t *testing.T) {
	r := start(t, Config{Ledger: ledger.Config{AskAgain: time.Millisecond, Resends: 3}})
	l := r.birth("n1")
	resends := 0
	if _, err := r.nc.Subscribe(subjects.Default().Repair(l.id), func(m *nats.Msg) {
		resends++
		_ = m.Respond(control.RepairAnswer{Sent: []control.Range{{From: 1, To: 1}}}.Encode())
	}); err != nil {
		t.Fatal(err)
	}
	r.flush()
	hole(l)
	if s := r.below(l.id, 3); s.Lost != 1 || resends != 3 {
		t.Errorf("after %d resends in vain: %+v", resends, s)
	}
}

// TestStopCommitsWhatHasArrived: what the server has sent is taken in, windows
// go on over their holes, and the last word is said.
func TestStopCommitsWhatHasArrived(t *testing.T) {
	r := start(t, Config{})
	l := r.birth("n1")
	const n = 2000
	l.frames(0, 100)
	l.make("a", 100, "a hole")
	l.frames(101, n)
	r.flush() // the server has them
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if got := r.writer.count(l.id); got != n-1 {
		t.Errorf("%d of %d frames are committed", got, n-1)
	}
	if s := r.below(l.id, 100); s.Below != 100 || s.Lost != 0 {
		t.Errorf("the last word is %+v", s)
	}
}

// TestStopHasADeadline: a store that does not answer holds nobody for ever.
func TestStopHasADeadline(t *testing.T) {
	r := start(t, Config{StopWait: 20 * time.Millisecond}, func(w *scripted) { w.always = store.ErrFull })
	l := r.birth("n1")
	l.frames(0, 10)
	<-r.states
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if said := r.announced(l.id); len(said) != 0 {
		t.Errorf("announced: %+v", said)
	}
}

// TestAnotherStoreEndsIt: what is known is void; who runs the intake reads the
// store from the start (P8.4).
func TestAnotherStoreEndsIt(t *testing.T) {
	r := build(t, Config{}, func(w *scripted) {
		w.plan = []reply{{err: store.ErrFence, resync: store.ErrRecreated}}
	})
	done := make(chan error, 1)
	up := make(chan struct{})
	go func() { done <- r.in.Run(t.Context(), func() { close(up) }) }()
	<-up
	l := r.birth("n1")
	l.frames(0, 1)
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), store.ErrRecreated.Error()) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(harness.Patience):
		t.Fatal("it goes on")
	}
}

// TestForeignMessagesAreRefused: a message whose own subject is not of the
// class its subscription serves is refused and counted (P2.4).
func TestForeignMessagesAreRefused(t *testing.T) {
	r := start(t, Config{})
	l := r.birth("n1")
	l.frames(0, 1)
	r.below(l.id, 1)
	space := subjects.Default()
	foreign := 0.0
	for _, m := range []*nats.Msg{
		{Sub: r.in.subs.frames, Subject: "evil.x"},
		{Sub: r.in.subs.frames, Subject: space.Store(l.id, "a")},
		{Sub: r.in.subs.frames, Subject: "ds.frame.n1.nolife.a"},
		{Sub: r.in.subs.frames, Subject: "ds.frame.n%31." + l.id.Life.String() + ".a"},
		{Sub: r.in.subs.beats, Subject: space.Settled(l.id), Data: control.Beat{Assigned: 9, Drained: 9}.Encode()},
		{Sub: r.in.subs.answers, Subject: "evil", Data: control.RepairAnswer{}.Encode()},
	} {
		r.in.inbox.put(m)
		foreign++
		harness.Until(t, "it is refused", func() bool { return r.metric("refused_total", "foreign") == foreign })
	}
	for reason, m := range map[string]*nats.Msg{
		"run":     {Subject: space.Frame(l.id, "a"), Data: []byte("no position")},
		"control": {Subject: space.Beat(l.id), Data: []byte("{")},
	} {
		r.publish(m)
		harness.Until(t, "it is refused", func() bool { return r.metric("refused_total", reason) == 1 })
	}
	if n := r.writer.count(l.id); n != 1 {
		t.Errorf("%d positions are committed", n)
	}
}
