package ledger

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/control"
)

const (
	universe = 40 // positions of the model
	resends  = 2
)

// A spot is one position as the promises see it.
type spot struct {
	arrived, committed, gone bool
	seen                     time.Time // when an instant was told with the hole sure to be one
	rest                     time.Time // not to be asked for before
	lazy                     time.Time // need not be asked for before
	sent, out                bool
	vain                     int
}

// A naive ledger of one stream, position by position.
type naive struct {
	spots   [universe]spot
	horizon subjects.Position
	sure    subjects.Position // below it everything was sent
	oldest  subjects.Position
	beatAt  time.Time
	closed  bool
	dead    bool
	held    bool
	asking  bool
	below   subjects.Position
	lost    uint64
	given   uint64
	healed  uint64
	news    []subjects.Position
}

func (n *naive) healable(p subjects.Position) bool {
	s := &n.spots[p]
	return p < n.horizon && !s.arrived && !s.gone
}

func (n *naive) told(now time.Time) {
	for p := range n.sure {
		if s := &n.spots[p]; s.seen.IsZero() {
			s.seen = now
		}
	}
}

func (n *naive) giveUp(p subjects.Position) {
	if n.healable(p) {
		n.spots[p].gone = true
		n.given++
		n.news = append(n.news, p)
	}
}

func (n *naive) judge() {
	if n.held {
		return
	}
	for p := range n.horizon {
		if p < n.oldest || n.closed || n.dead {
			n.giveUp(p)
		}
	}
}

func (n *naive) settle() {
	for n.below < n.horizon {
		s := &n.spots[n.below]
		if !s.committed && !(s.gone && !s.arrived) {
			return
		}
		if s.gone && !s.committed {
			n.lost++
		}
		n.below++
	}
}

// A trial drives an account and the naive ledger alike.
type trial struct {
	t   *rapid.T
	tb  testing.TB
	l   *Ledger
	a   *Account
	n   *naive
	now time.Time
	b   control.Beat
}

// TestAccountAgainstModel: any order of arrivals, repeats, commits, drops,
// beats, requests and answers, the same by intervals and by positions (promises
// 1, 4, 5, 6 and 7; P9.6).
func TestAccountAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := New(Config{Resends: resends, AskRanges: 5})
		x := &trial{t: rt, tb: t, l: l, n: &naive{beatAt: start}, now: start}
		x.a = l.Restore(stream(t, "A"), start)
		ops := []func(){x.arrive, x.arrive, x.commit, x.commit, x.drop, x.beat, x.ask, x.ask, x.answer, x.answer, x.tick, x.hold, x.pass}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			ops[rapid.IntRange(0, len(ops)-1).Draw(rt, "op")]()
			x.compare()
		}
		x.finish()
	})
}

func (x *trial) positions(name string) (out []subjects.Position) {
	for range rapid.IntRange(1, 8).Draw(x.t, name) {
		out = append(out, subjects.Position(rapid.IntRange(0, universe-1).Draw(x.t, "position")))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (x *trial) arrive() {
	list := x.positions("arrive")
	var want []subjects.Position
	for _, p := range list {
		if s := &x.n.spots[p]; !s.arrived {
			s.arrived = true
			want = append(want, p)
		}
		x.n.horizon = max(x.n.horizon, p+1)
	}
	x.n.sure = max(x.n.sure, list[0])
	fresh, dup := x.a.Arrive(at(x.tb, list...), nil)
	if got := flat(fresh); !slices.Equal(got, want) || dup != len(list)-len(want) {
		x.t.Fatalf("arrive %v: fresh %v and %d duplicates, want %v", list, got, dup, want)
	}
}

func (x *trial) commit() {
	list := x.positions("commit")
	want := 0
	for _, p := range list {
		s := &x.n.spots[p]
		if !s.committed {
			want++
			if s.gone {
				x.n.healed++
			}
		}
		s.arrived, s.committed = true, true
		x.n.horizon = max(x.n.horizon, p+1)
	}
	x.n.sure = max(x.n.sure, list[0])
	if got := x.a.Commit(at(x.tb, list...)); got != want {
		x.t.Fatalf("commit %v: %d were new, want %d", list, got, want)
	}
}

func (x *trial) drop() {
	from := subjects.Position(rapid.IntRange(0, universe-1).Draw(x.t, "from"))
	to := subjects.Position(rapid.IntRange(int(from), universe-1).Draw(x.t, "to"))
	x.a.Drop(span(from, to))
	again := x.now.Add(time.Second)
	for p := from; p <= to; p++ {
		s := &x.n.spots[p]
		if s.arrived && !s.committed {
			*s = spot{gone: s.gone, seen: s.seen, rest: again}
			for q := range p + 1 { // a drop looks at younger holes below, too
				x.n.spots[q].lazy = x.now.Add(2 * time.Millisecond)
				if x.n.spots[q].seen.IsZero() {
					x.n.spots[q].seen = x.now
				}
			}
		}
	}
}

func (x *trial) beat() {
	p := func(name string, from, to subjects.Position) subjects.Position {
		return subjects.Position(rapid.Uint64Range(uint64(from), uint64(to)).Draw(x.t, name))
	}
	b := control.Beat{Assigned: p("assigned", 0, universe)}
	b.Drained = p("drained", 0, b.Assigned)
	b.Oldest = p("oldest", 0, b.Drained/3)
	b.Below = x.n.below
	b.Closed = rapid.IntRange(0, 15).Draw(x.t, "closed") == 0
	x.b.Assigned = max(x.b.Assigned, b.Assigned)
	n := x.n
	n.closed = n.closed || b.Closed
	n.dead = false
	n.beatAt = x.now
	n.oldest = max(n.oldest, b.Oldest)
	n.horizon = max(n.horizon, b.Drained)
	if n.closed {
		n.horizon = max(n.horizon, x.b.Assigned)
	}
	n.sure = max(n.sure, b.Drained)
	if n.closed {
		n.sure = max(n.sure, x.b.Assigned)
	}
	n.told(x.now)
	n.judge()
	b.Below = min(b.Below, b.Assigned)
	if _, err := x.l.Beat(x.a.Stream(), b, x.now); err != nil {
		x.t.Fatal(err)
	}
}

func (x *trial) tick() {
	n := x.n
	n.told(x.now)
	if !n.held && !n.closed && x.now.Sub(n.beatAt) >= time.Minute {
		n.dead = true
	}
	n.judge()
	x.a.Tick(x.now)
}

func (x *trial) hold() {
	hold := rapid.IntRange(0, 3).Draw(x.t, "hold") == 0
	if x.n.held && !hold {
		x.n.beatAt = x.now
	}
	x.n.held = hold
	x.l.Hold(hold, x.now)
}

func (x *trial) pass() {
	steps := []time.Duration{time.Millisecond, 2 * time.Millisecond, 500 * time.Millisecond, time.Second, 20 * time.Second}
	x.now = x.now.Add(steps[rapid.IntRange(0, len(steps)-1).Draw(x.t, "time")])
	x.l.Hold(x.n.held, x.now) // tells the time
}

// ask compares what is asked for: each position that must be, none that may not.
func (x *trial) ask() {
	n := x.n
	n.told(x.now)
	got := x.a.Ask(x.now)
	over := n.closed || n.dead
	var may, must []subjects.Position
	for p := range n.horizon {
		s := &n.spots[p]
		if n.asking || over || !n.healable(p) || s.seen.IsZero() || x.now.Sub(s.seen) < 2*time.Millisecond || x.now.Before(s.rest) {
			continue
		}
		if s.sent {
			s.sent = false
			if !n.held {
				s.vain++
			}
		}
		if s.vain >= resends && !n.held {
			n.giveUp(p)
			continue
		}
		may = append(may, p)
		if !x.now.Before(s.lazy) {
			must = append(must, p)
		}
	}
	asked := spread(got)
	for _, p := range asked {
		if !slices.Contains(may, p) {
			x.t.Fatalf("asked for %v, may ask for %v", asked, may)
		}
	}
	for _, p := range must {
		if !slices.Contains(asked, p) && (len(got) < 5 || p < asked[len(asked)-1]) {
			x.t.Fatalf("asked for %v, must ask for %v", asked, must)
		}
	}
	for _, p := range asked {
		n.spots[p].out = true
		n.asking = true
	}
}

func (x *trial) answer() {
	n := x.n
	n.told(x.now)
	kinds := rapid.SliceOfN(rapid.IntRange(0, 4), universe, universe).Draw(x.t, "answer")
	var ans control.RepairAnswer
	lists := []*[]control.Range{&ans.Sent, &ans.Gone, &ans.Pending}
	for p, k := range kinds {
		if k < len(lists) {
			*lists[k] = append(*lists[k], span(subjects.Position(p), subjects.Position(p)))
		}
	}
	ok := rapid.IntRange(0, 4).Draw(x.t, "answered") > 0
	x.a.Answer(ans, ok, x.now)
	if !n.asking {
		for p := range n.spots {
			n.spots[p].out = false
		}
		return
	}
	n.asking = false
	again := x.now.Add(time.Second)
	mentioned := false
	for p := range n.spots {
		mentioned = mentioned || ok && n.spots[p].out && kinds[p] < len(lists)
	}
	for p := range n.spots {
		s := &n.spots[p]
		if !s.out {
			continue
		}
		s.out = false
		s.rest, s.sent = again, ok && kinds[p] == 0 && !n.held
		switch {
		case ok && kinds[p] == 1 && !n.held:
			n.giveUp(subjects.Position(p))
		case mentioned && kinds[p] >= len(lists):
			s.rest = x.now
		}
	}
}

// compare checks all that can be seen.
func (x *trial) compare() {
	n, c := x.n, x.a.Counts()
	var committed, waiting, missing, top uint64
	var gaps []subjects.Position
	for p := range subjects.Position(universe) {
		switch s := &n.spots[p]; {
		case s.committed:
			committed++
			for q := subjects.Position(top); q < p; q++ {
				gaps = append(gaps, q)
			}
			top = uint64(p) + 1
		case s.arrived:
			waiting++
		case p < n.horizon:
			missing++
		}
	}
	if c.Committed != committed || c.Waiting != waiting || c.Missing != missing || c.Horizon != n.horizon ||
		c.GivenUp != n.given || c.Healed != n.healed || x.a.Over() != (n.closed || n.dead) {
		x.t.Fatalf("counts %+v over %v; want %d committed, %d waiting, %d missing, horizon %v, %d given up, %d healed, closed %v dead %v",
			c, x.a.Over(), committed, waiting, missing, n.horizon, n.given, n.healed, n.closed, n.dead)
	}
	if got := spread(x.a.Missing()); !slices.Equal(got, gaps) {
		x.t.Fatalf("gaps %v, want %v", got, gaps)
	}
	slices.Sort(n.news)
	if got := spread(x.a.TakeGone()); !slices.Equal(got, n.news) {
		x.t.Fatalf("gone %v, want %v", got, n.news)
	}
	n.news = nil
	x.compareSettled()
}

func (x *trial) compareSettled() {
	n := x.n
	before, lost := n.below, n.lost
	n.settle()
	s, changed := x.a.Settled()
	over := (n.closed || n.dead) && n.below == n.horizon
	for p := range n.below {
		over = over && (!n.spots[p].arrived || n.spots[p].committed)
	}
	if s.Below != n.below || s.Lost != n.lost || s.Closed != (over && n.closed) || s.Silent != (over && !n.closed) || !changed && n.below != before {
		x.t.Fatalf("settled %+v %v, want below %v lost %d over %v", s, changed, n.below, n.lost, over)
	}
	if changed && uint64(len(spread(s.Gone))) < n.lost-lost {
		x.t.Fatalf("settled %+v: lost grew by %d", s, n.lost-lost)
	}
	for _, p := range spread(s.Gone) {
		if !n.spots[p].gone || p >= s.Below {
			x.t.Fatalf("settled %+v: %v was not given up, or is not below", s, p)
		}
	}
}

// finish closes the life: assigned = committed + gaps (promise 3, P9.3).
func (x *trial) finish() {
	x.hold()
	x.l.Hold(false, x.now)
	b := control.Beat{Assigned: universe, Drained: universe, Closed: true}
	if _, err := x.l.Beat(x.a.Stream(), b, x.now); err != nil {
		x.t.Fatal(err)
	}
	for p := range subjects.Position(universe) {
		if s := x.n.spots[p]; s.arrived && !s.committed {
			x.a.Commit(at(x.tb, p))
		}
	}
	s, _ := x.a.Settled()
	c := x.a.Counts()
	if c.Committed+c.Missing != universe || s.Below != universe || !s.Closed {
		x.t.Fatalf("assigned %d, committed %d and gaps %d, settled %+v", universe, c.Committed, c.Missing, s)
	}
	if c.GivenUp-c.Healed != c.Missing || s.Lost > c.GivenUp || s.Lost < c.Missing {
		x.t.Fatalf("counts %+v, settled %+v", c, s)
	}
}
