package window

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

const simNode = subjects.Node("n1")

// A simLife is a mux's life and what ingest makes of it.
type simLife struct {
	life      subjects.Life
	producers map[string]*simProducer
	assigned  subjects.Position
	frames    map[subjects.Position]string
	below     subjects.Position
	lost      uint64
	gone      []control.Range // since the last announcement
	closed    bool
	closing   bool // refuses what it has not taken
}

// A simProducer is what a mux remembers of a producer.
type simProducer struct {
	next  uint64
	taken map[uint64]control.Answer
}

// sim is a window, the lives of its mux, and the network between them.
type sim struct {
	t       rapid.TB
	pick    func(what string, n int) int // 0 … n-1, at random
	w       *Window
	now     time.Time
	lives   []*simLife // the last is the living one
	toMux   []Send
	answers []simAnswer
	settled []simSettled

	minted, frames    int
	order             []string             // frames in the order they were taken
	takenAs           map[string]frame.Seq // the run that took a frame
	committed         map[string]bool
	restarts, cuts    int
	forgets, rejected int
	mostFlying        int
}

type simAnswer struct {
	key Key
	a   control.Answer
	no  bool // no responders
}

type simSettled struct {
	life subjects.Life
	s    control.Settled
}

func newSim(t rapid.TB, pick func(string, int) int) *sim {
	s := &sim{t: t, pick: pick, now: start, takenAs: map[string]frame.Seq{}, committed: map[string]bool{}}
	s.w = New(Config{
		Node:          simNode,
		Mint:          func() string { s.minted++; return fmt.Sprintf("p%d", s.minted) },
		Runs:          4,
		Bytes:         2000,
		AnswerTimeout: 10 * time.Second, SilenceTimeout: 75 * time.Second,
		BackoffMin: 100 * time.Millisecond, BackoffMax: 2 * time.Second,
	})
	s.restart()
	s.restarts = 0
	return s
}

func (s *sim) mux() *simLife { return s.lives[len(s.lives)-1] }

func (s *sim) restart() {
	s.restarts++
	l := &simLife{life: subjects.MintLife(s.now), producers: map[string]*simProducer{}, frames: map[subjects.Position]string{}}
	s.lives = append(s.lives, l)
}

// run makes a run of n frames whose payloads are unlike all others.
func (s *sim) run(n int) frame.Run {
	var c frame.Cutter
	for i := range n {
		c.Add(frame.Single("c", subjects.Position(i), fmt.Append(nil, s.frames)), false)
		s.frames++
	}
	return c.Runs(nil)[0].Run
}

// chance is true once in n times.
func (s *sim) chance(what string, n int) bool { return s.pick(what, n) == n-1 }

// send lets the window publish; the network drops some.
func (s *sim) send(lossy bool) {
	for {
		m, ok := s.w.Next(s.now)
		if !ok {
			break
		}
		switch {
		case lossy && s.chance("publish", 10):
			s.w.Unsent(m.Key)
		case lossy && s.chance("no responders", 10):
			s.answers = append(s.answers, simAnswer{key: m.Key, no: true})
		case lossy && s.chance("drop", 10):
		default:
			s.toMux = append(s.toMux, m)
		}
	}
	s.mostFlying = max(s.mostFlying, s.w.flying)
}

// submit is the mux's half of P4.3.
func (s *sim) submit(m Send, lossy bool) {
	l := s.mux()
	a := l.take(s, m, lossy)
	a.Node, a.Life = string(simNode), l.life
	if lossy && s.chance("lose answer", 10) {
		return
	}
	s.answers = append(s.answers, simAnswer{key: m.Key, a: a})
}

func (l *simLife) take(s *sim, m Send, lossy bool) control.Answer {
	p := l.producers[m.Seq.Producer]
	if p == nil {
		p = &simProducer{taken: map[uint64]control.Answer{}}
		l.producers[m.Seq.Producer] = p
	}
	switch {
	case m.Seq.N < p.next:
		a, ok := p.taken[m.Seq.N]
		if !ok || a.Count != m.Run.Len() {
			s.t.Fatalf("run %v was sent with other frames before", m.Seq)
		}
		return a
	case l.closing:
		return control.Answer{Error: control.ErrorClosed}
	case m.Seq.N > p.next:
		return control.Answer{Error: control.ErrorOrder, Next: p.next}
	case lossy && s.chance("room", 10):
		return control.Answer{Error: control.ErrorRoom, Next: p.next}
	case lossy && s.chance("reject", 20):
		s.rejected += m.Run.Len()
		return control.Answer{Error: "not today"}
	}
	a := control.Answer{Position: l.assigned, Count: m.Run.Len()}
	for i := range m.Run.Len() {
		f := string(m.Run.Payload(i))
		if before, again := s.takenAs[f]; again && before.Producer != m.Seq.Producer {
			s.t.Fatalf("frame %s was taken as %v and as %v (promise 2)", f, before, m.Seq)
		}
		s.takenAs[f] = frame.Seq{Producer: m.Seq.Producer, N: m.Seq.N}
		s.order = append(s.order, f)
		l.frames[l.assigned] = f
		l.assigned++
	}
	p.next += uint64(m.Run.Len())
	p.taken[m.Seq.N] = a
	return a
}

// ingest commits or gives up the next positions of a life.
func (s *sim) ingest(l *simLife, lossy bool) {
	if l.below == l.assigned || l.closed {
		return
	}
	if p := l.below; lossy && s.chance("give up", 10) {
		l.lost++
		l.gone = append(l.gone, control.Range{From: p, To: p})
	} else {
		s.committed[l.frames[p]] = true
	}
	l.below++
}

func (s *sim) announce(l *simLife) {
	var r ranges
	for _, g := range l.gone {
		r.add(g)
	}
	l.gone = nil
	s.settled = append(s.settled, simSettled{l.life, control.Settled{Below: l.below, Lost: l.lost, Gone: r, Closed: l.closed}})
}

func (s *sim) deliverAnswer() {
	if len(s.answers) == 0 {
		return
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if a.no {
		s.w.NoResponders(a.key, s.now)
	} else {
		s.w.Answer(a.key, a.a, s.now)
	}
}

func (s *sim) deliverSettled() {
	if len(s.settled) > 0 {
		s.w.Settled(s.settled[0].life, s.settled[0].s, s.now)
		s.settled = s.settled[1:]
	}
}

// steps are what may happen, each as often as it is likely.
var steps = func() (l []string) {
	for what, weight := range map[string]int{
		"enqueue": 20, "send": 20, "mux": 20, "answer": 20, "ingest": 10, "announce": 5, "settled": 5, "time": 3, "fault": 3,
	} {
		l = append(l, slices.Repeat([]string{what}, weight)...)
	}
	slices.Sort(l)
	return l
}()

// step does one random thing.
func (s *sim) step(what string) {
	switch what {
	case "enqueue":
		if s.w.Room() {
			s.w.Enqueue(s.run(1 + s.pick("frames", 3)))
		}
	case "send":
		s.send(true)
	case "mux":
		if len(s.toMux) > 0 {
			m := s.toMux[0]
			s.toMux = s.toMux[1:]
			s.submit(m, true)
		}
	case "answer":
		s.deliverAnswer()
	case "ingest":
		s.ingest(s.lives[s.pick("life", len(s.lives))], true)
	case "announce":
		s.announce(s.lives[s.pick("life", len(s.lives))])
	case "settled":
		s.deliverSettled()
	case "time":
		s.now = s.now.Add(time.Duration(1+s.pick("ms", 15_000)) * time.Millisecond)
		s.w.Tick(s.now)
	}
}

// fault does one of the rarer things.
func (s *sim) fault(what int) {
	switch what {
	case 0: // the mux dies; what is on its way reaches the next or nobody
		s.restart()
	case 1: // the connection is cut: everything on the way is lost
		s.cuts++
		s.toMux, s.answers, s.settled = nil, nil, nil
		s.w.Reconnected(s.now)
	case 2: // the mux forgets its producers
		s.forgets++
		s.mux().producers = map[string]*simProducer{}
	case 4: // the mux stops
		s.restarts++
		s.mux().closing = true
	case 3: // an answer comes twice
		if len(s.answers) > 0 {
			s.answers = append(s.answers, s.answers[0])
		}
	}
}

// finish ends all faults and waits until the window is idle.
func (s *sim) finish() {
	if s.mux().closing {
		s.restart()
	}
	for i := 0; !s.w.Idle(); i++ {
		if i > 2000 {
			s.t.Fatalf("not idle after %v without faults: %+v", s.now.Sub(start), s.w.Counts())
		}
		s.now = s.now.Add(100 * time.Millisecond)
		s.w.Tick(s.now)
		s.send(false)
		for _, m := range s.toMux {
			s.submit(m, false)
		}
		s.toMux = nil
		for len(s.answers) > 0 {
			s.deliverAnswer()
		}
		for j, l := range s.lives {
			for range 100 {
				s.ingest(l, false)
			}
			l.closed = j < len(s.lives)-1
			s.announce(l)
		}
		for len(s.settled) > 0 {
			s.deliverSettled()
		}
	}
}

// check compares what the window says with what happened.
func (s *sim) check() {
	c := s.w.Counts()
	total, committed := uint64(s.frames), uint64(len(s.committed))
	if c.Settled+c.Lost+c.Unknown != total || c.Waiting != 0 || c.Taken != 0 {
		s.t.Fatalf("promise 1: %+v does not add up to %d frames", c, total)
	}
	if c.Settled > committed {
		s.t.Fatalf("promise 1: %d are said to be settled, %d are committed", c.Settled, committed)
	}
	if s.mostFlying > 4 {
		s.t.Fatalf("promise 4: %d runs were in flight", s.mostFlying)
	}
	if frames, _ := s.w.Freed(); uint64(frames) != total {
		s.t.Fatalf("%d frames were freed of %d", frames, total)
	}
	if s.restarts+s.forgets > 0 {
		return
	}
	if len(s.order) != len(s.takenAs) {
		s.t.Fatalf("%d frames were taken %d times within one life", len(s.takenAs), len(s.order))
	}
	if c.Lost > total-committed {
		s.t.Fatalf("promise 1: %d are said to be lost, %d are", c.Lost, total-committed)
	}
	for i := 1; i < len(s.order); i++ {
		var a, b int
		fmt.Sscan(s.order[i-1], &a)
		fmt.Sscan(s.order[i], &b)
		if a >= b {
			s.t.Fatalf("promise 5: frame %d was taken before frame %d", a, b)
		}
	}
	// After a rejection, unanswered transmissions may stay unclear.
	if s.cuts == 0 && s.rejected == 0 && (c.Settled != committed || c.Unknown > 0) {
		s.t.Fatalf("without a fault that hides anything: %+v, but %d are committed", c, committed)
	}
}

// simulate runs one random history and checks it.
func simulate(t rapid.TB, pick func(string, int) int, length int, faults bool) *sim {
	s := newSim(t, pick)
	for range length {
		what := steps[pick("step", len(steps))]
		if what != "fault" {
			s.step(what)
		} else if faults {
			s.fault(pick("fault", 5))
		}
	}
	s.finish()
	s.check()
	return s
}

// TestEveryFrameEndsOnce is promises 1 to 5 against a network that loses
// messages and a mux that restarts, forgets, refuses and rejects; short
// histories, which rapid makes shorter when they fail.
func TestEveryFrameEndsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(what string, n int) int { return rapid.IntRange(0, n-1).Draw(t, what) }
		simulate(t, pick, pick("steps", 200), pick("faults", 2) == 1)
	})
}

// TestLongHistories is the same with even chances. Without faults the fates
// must be exact.
func TestLongHistories(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var total Counts
	frames, taken := 0, 0
	for i := range 200 {
		s := simulate(t, func(_ string, n int) int { return rng.IntN(n) }, 1000, i%2 == 0)
		c := s.w.Counts()
		total.Settled += c.Settled
		total.Lost += c.Lost
		total.Unknown += c.Unknown
		frames += s.frames
		taken += len(s.takenAs)
	}
	t.Logf("%d frames, %d taken: %+v", frames, taken, total)
	if total.Settled == 0 || total.Lost == 0 || total.Unknown == 0 {
		t.Errorf("the histories are too tame: %+v", total)
	}
}
