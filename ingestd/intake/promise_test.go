package intake

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"datastream/ingestd/store"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// TestEveryPositionOnceFirstWins is promise 1 (P7.2, P9.6).
func TestEveryPositionOnceFirstWins(t *testing.T) {
	r := start(t, Config{})
	l := r.birth("n1")
	for p := range subjects.Position(50) {
		first := l.make("a", p, fmt.Sprint("first ", p))
		l.send(first)
		l.send(first)
		l.send(frame.Single("a", p, []byte("second")))
		l.send(frame.Single("b", p, []byte("other channel")))
	}
	other := r.birth("n1") // the same positions in another life are others (P9.5)
	other.frames(0, 10)
	r.whole(l, 50)
	r.whole(other, 10)
	harness.Until(t, "every repeat is counted", func() bool { return r.metric("duplicate_frames_total") == 150 })
	if n := r.metric("committed_frames_total"); n != 60 {
		t.Errorf("%v frames are counted as committed", n)
	}
}

// TestOrderWhateverTheCarrierDoes is promise 2, with P9.7: shuffled, doubled
// and lost messages of two streams make the same set, ascending but for what
// is late and apart.
func TestOrderWhateverTheCarrierDoes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	cfg := Config{BatchMessages: 20}
	cfg.Window.Wait = 5 * time.Millisecond
	r := start(t, cfg)
	const n = 400
	lives := []*life{r.birth("n1"), r.birth("n2")}
	type sending struct {
		l   *life
		run frame.Run
	}
	var sendings []sending
	for _, l := range lives {
		l.repairs()
		for p := subjects.Position(0); p < n; {
			size := min(n-p, subjects.Position(1+random.IntN(8)))
			var payloads []string
			for i := range size {
				payloads = append(payloads, fmt.Sprint(p+i))
			}
			s := sending{l, l.make(fmt.Sprint("c", random.IntN(3)), p, payloads...)}
			p += size
			for range []int{0, 1, 1, 1, 2}[random.IntN(5)] {
				sendings = append(sendings, s)
			}
		}
	}
	for i := range sendings { // near each other, as carriers do
		k := min(len(sendings)-1, i+random.IntN(20))
		sendings[i], sendings[k] = sendings[k], sendings[i]
	}
	for _, s := range sendings {
		s.l.send(s.run)
	}
	for _, l := range lives {
		l.beat(control.Beat{})
		r.whole(l, n)
	}
	t.Logf("%d messages were late", r.writer.ascending())
}

// TestInOrderNothingIsLate: with a window that waits, what a carrier only
// reorders is committed in ascending positions, without one that is late.
func TestInOrderNothingIsLate(t *testing.T) {
	r := start(t, Config{BatchMessages: 7})
	l := r.birth("n1")
	const n = 300
	for from := subjects.Position(0); from < n; from += 10 {
		for p := from + 9; ; p-- {
			l.send(l.make(fmt.Sprint("c", p%4), p, p.String()))
			if p == from {
				break
			}
		}
	}
	r.whole(l, n)
	if late := r.writer.ascending(); late != 0 {
		t.Errorf("%d messages are late", late)
	}
}

// TestLateFrameHealsApart: a frame that comes after its position was given up
// is committed all the same (P7.2).
func TestLateFrameHealsApart(t *testing.T) {
	r := start(t, Config{})
	l := r.birth("n1")
	l.gone[1] = true
	l.repairs()
	l.frames(0, 1)
	lost := l.make("c1", 1, "late")
	l.frames(2, 3)
	if s := r.below(l.id, 3); s.Lost != 1 || len(s.Gone) != 1 || s.Gone[0] != (control.Range{From: 1, To: 1}) {
		t.Errorf("one is given up: %+v", s)
	}
	l.send(lost)
	harness.Until(t, "it is committed", func() bool { return r.writer.count(l.id) == 3 })
	if late := r.writer.ascending(); late != 1 {
		t.Errorf("%d messages are late, want 1", late)
	}
	harness.Until(t, "it is counted as healed", func() bool { return r.metric("healed_positions") == 1 })
}

// inFlight brings an intake to where one commit is out, and what comes next
// waits.
func inFlight(r *rig, l *life) {
	r.t.Helper()
	l.frames(0, 1)
	<-r.writer.entry
}

// TestFewGoAsSinglesManyAsABatch is promise 3 (P7.3).
func TestFewGoAsSinglesManyAsABatch(t *testing.T) {
	for _, c := range []struct{ waiting, singles, batch int }{{1, 1, 0}, {8, 8, 0}, {9, 0, 9}, {100, 0, 100}} {
		t.Run(fmt.Sprint(c.waiting, " waiting"), func(t *testing.T) {
			r := start(t, Config{}, gated)
			l := r.birth("n1")
			inFlight(r, l)
			l.frames(1, subjects.Position(c.waiting+1))
			r.arrived(c.waiting + 1)
			r.open()
			r.whole(l, subjects.Position(c.waiting+1))
			commits := r.writer.all()[1:]
			if c.batch > 0 && (len(commits) != 1 || len(commits[0]) != c.batch) || c.batch == 0 && len(commits) != c.singles {
				t.Errorf("%d commits, the first of %d messages", len(commits), len(commits[0]))
			}
			if r.writer.each != 1+c.singles {
				t.Errorf("%d singles, want %d", r.writer.each, 1+c.singles)
			}
		})
	}
}

// TestOverlappingRunsAreOneCommit: two runs whose positions interleave would
// not ascend as commits of their own (P7.3).
func TestOverlappingRunsAreOneCommit(t *testing.T) {
	r := start(t, Config{}, gated)
	l := r.birth("n1")
	inFlight(r, l)
	l.send(l.spread("a", 2, 1, "1", "3", "5"))
	l.send(l.spread("b", 2, 2, "2", "4", "6"))
	r.arrived(7)
	r.open()
	r.whole(l, 7)
	commits := r.writer.all()[1:]
	if len(commits) != 1 || len(commits[0]) != 2 {
		t.Errorf("they went as %d commits", len(commits))
	}
}

// TestBatchesKeepTheirLimits: of messages, of bytes, and the writer's own. A
// frame above the bytes goes alone.
func TestBatchesKeepTheirLimits(t *testing.T) {
	r := start(t, Config{BatchMessages: 12, BatchBytes: 1000, Singles: 1}, gated, func(w *scripted) { w.limit = 11 })
	l := r.birth("n1")
	inFlight(r, l)
	for p := subjects.Position(1); p <= 100; p++ {
		size := 20
		switch {
		case p == 50:
			size = 3000
		case p > 50:
			size = 150
		}
		l.send(l.make(fmt.Sprint("c", p), p, strings.Repeat("x", size)))
	}
	r.arrived(101)
	r.open()
	r.whole(l, 101)
	most, mostBytes := 0, 0
	for _, c := range r.writer.all() {
		bytes := 0
		for _, m := range c {
			bytes += m.Run.Bytes()
		}
		if most = max(most, len(c)); len(c) > 1 {
			mostBytes = max(mostBytes, bytes)
		}
	}
	if most != 11 || mostBytes > 1000 || mostBytes <= 850 {
		t.Errorf("the largest commits have %d messages and %d bytes, want 11, and 900 in sixes", most, mostBytes)
	}
	if late := r.writer.ascending(); late != 0 {
		t.Errorf("%d messages are late", late)
	}
}

// TestSmallRunsAreJoined: what waits of one channel goes as few messages.
func TestSmallRunsAreJoined(t *testing.T) {
	r := start(t, Config{}, gated)
	l := r.birth("n1")
	inFlight(r, l)
	for p := subjects.Position(1); p <= 200; p++ {
		l.send(l.make(fmt.Sprint("c", p%2), p, p.String()))
	}
	r.arrived(201)
	r.open()
	r.whole(l, 201)
	commits := r.writer.all()[1:]
	if len(commits) != 1 || len(commits[0]) != 2 || commits[0][0].Run.Len() != 100 {
		t.Errorf("200 frames of 2 channels went as %d commits, the first of %d messages", len(commits), len(commits[0]))
	}
}

// TestUnclearResults is promise 4: whatever a commit's result was, nothing is
// committed twice, nothing is left out, and the order is kept (P7.4).
func TestUnclearResults(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	r := start(t, Config{BatchMessages: 16}, func(w *scripted) {
		for range 25 {
			prefix := random.IntN(4)
			w.plan = append(w.plan, []reply{
				{},
				{err: store.ErrUnclear, landed: 1000},
				{err: store.ErrUnclear, landed: prefix},
				{err: store.ErrUnclear, landed: prefix, also: func(msgs []store.Message) int { return min(prefix, len(msgs)) }},
				{err: store.ErrFence},
				{err: store.ErrFull, resync: store.ErrIncomplete},
			}[random.IntN(6)])
		}
	})
	l := r.birth("n1")
	const n = 600
	for p := subjects.Position(0); p < n; p += 3 {
		q := p.String()
		l.send(l.make(fmt.Sprint("c", random.IntN(9)), p, q, q, q))
		if p%60 == 0 { // now singles, now batches
			harness.Until(t, "it is committed", func() bool { return r.writer.count(l.id) == int(p)+3 })
		}
	}
	r.whole(l, n)
	if late := r.writer.ascending(); late != 0 {
		t.Errorf("%d messages are late", late)
	}
}

// TestNothingIsGivenUpWhileCommitsFail is promise 4 (P7.7).
func TestNothingIsGivenUpWhileCommitsFail(t *testing.T) {
	r := start(t, Config{}, func(w *scripted) { w.always = store.ErrFull })
	l := r.birth("n1")
	l.frames(0, 1)
	l.make("a", 1, "lost")
	l.frames(2, 3)
	if err := <-r.states; err == nil || !strings.Contains(err.Error(), store.ErrFull.Error()) {
		t.Fatalf("the state is %v", err)
	}
	l.beat(control.Beat{Closed: true}) // position 1 will never come
	closed := func() bool {
		r.in.mu.Lock()
		defer r.in.mu.Unlock()
		return r.in.ledger.Find(l.id).Counts().Beat.Closed
	}
	harness.Until(t, "the closing beat is heard", closed)
	if lost := r.metric("given_up_positions"); lost != 0 {
		t.Errorf("%v positions were given up", lost)
	}
	if said := r.announced(l.id); len(said) != 0 {
		t.Errorf("announced: %+v", said)
	}
	r.writer.set(func(w *scripted) { w.always = nil })
	s := r.word(l.id, "the life is over", func(s control.Settled) bool { return s.Closed })
	if s.Lost != 1 || r.writer.count(l.id) != 2 {
		t.Errorf("when commits work again: %+v", s)
	}
	var last error
	for len(r.states) > 0 {
		last = <-r.states
	}
	if last != nil {
		t.Errorf("the last state is %v", last)
	}
}

// TestUnstorableMessageGoesAlone: one that the store can never hold is given
// up, and everything else is committed in order, whatever happens meanwhile.
func TestUnstorableMessageGoesAlone(t *testing.T) {
	for _, n := range []subjects.Position{5, 20} { // as singles, and as a batch
		for name, plan := range map[string][]reply{
			"plain": nil,
			"unclear": {
				{}, {}, {err: store.ErrUnclear, landed: 1}, {}, {err: store.ErrUnclear}, {}, {err: store.ErrFence},
			},
		} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				r := start(t, Config{}, gated, func(w *scripted) { w.plan = plan })
				l := r.birth("n1")
				inFlight(r, l)
				l.frames(1, 3)
				l.send(l.make("p", 3, "poison"))
				l.frames(4, n)
				r.arrived(int(n))
				r.open()
				s := r.below(l.id, n)
				if s.Lost != 1 || r.writer.count(l.id) != int(n)-1 {
					t.Errorf("settled %+v, %d committed", s, r.writer.count(l.id))
				}
				if got := r.metric("dropped_frames_total", "unstorable"); got != 1 {
					t.Errorf("%v frames are counted as unstorable", got)
				}
				if late := r.writer.ascending(); late != 0 {
					t.Errorf("%d messages are late", late)
				}
			})
		}
	}
}

// TestRefusedMessageIsGivenUp: a message that the server refuses again and
// again, for a reason that nobody knows to pass, does not hold up the rest.
func TestRefusedMessageIsGivenUp(t *testing.T) {
	for _, n := range []subjects.Position{5, 20} { // as singles, and as a batch
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := start(t, Config{Backoff: time.Millisecond}, gated)
			l := r.birth("n1")
			inFlight(r, l)
			l.frames(1, 3)
			l.send(l.make("p", 3, "disliked"))
			l.frames(4, n)
			r.arrived(int(n))
			r.open()
			s := r.below(l.id, n)
			if s.Lost != 1 || r.writer.count(l.id) != int(n)-1 {
				t.Errorf("settled %+v, %d committed", s, r.writer.count(l.id))
			}
			if got := r.metric("dropped_frames_total", "unstorable"); got != 1 {
				t.Errorf("%v frames are counted as unstorable", got)
			}
		})
	}
}
