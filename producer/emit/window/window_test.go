package window

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// script drives a window by hand: its clock stands unless told.
type script struct {
	*testing.T
	w       *Window
	now     time.Time
	notices []string
}

func newScript(t *testing.T) *script {
	s := &script{T: t, now: start}
	producers := 0
	s.w = New(Config{
		Node:  simNode,
		Mint:  func() string { producers++; return fmt.Sprintf("p%d", producers) },
		Runs:  3,
		Bytes: 10_000,

		AnswerTimeout: 10 * time.Second, SilenceTimeout: 75 * time.Second,
		BackoffMin: 100 * time.Millisecond, BackoffMax: 2 * time.Second,
		Notice: func(n string) { s.notices = append(s.notices, n) },
	})
	return s
}

// enqueue adds runs of one frame.
func (s *script) enqueue(payloads ...string) {
	for _, p := range payloads {
		s.w.Enqueue(frame.Single("c", 0, []byte(p)))
	}
}

// sends asserts what is published now, as "payload=producer:n".
func (s *script) sends(want ...string) (keys []Key) {
	s.Helper()
	var got []string
	for {
		m, ok := s.w.Next(s.now)
		if !ok {
			break
		}
		got = append(got, fmt.Sprintf("%s=%s", m.Run.Payload(0), m.Seq))
		keys = append(keys, m.Key)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		s.Fatalf("sent %v, want %v", got, want)
	}
	return keys
}

func (s *script) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.w.Tick(s.now)
}

func (s *script) takes(k Key, l subjects.Life, p subjects.Position) {
	s.w.Answer(k, control.Answer{Node: string(simNode), Life: l, Position: p, Count: 1}, s.now)
}

func (s *script) refuses(k Key, l subjects.Life, reason string, next uint64) {
	s.w.Answer(k, control.Answer{Node: string(simNode), Life: l, Error: reason, Next: next}, s.now)
}

func (s *script) settles(l subjects.Life, below subjects.Position) {
	s.w.Settled(l, control.Settled{Below: below}, s.now)
}

func (s *script) counts(want Counts) {
	s.Helper()
	if got := s.w.Counts(); got != want {
		s.Fatalf("counts %+v, want %+v", got, want)
	}
}

var (
	life1 = subjects.MintLife(start)
	life2 = subjects.MintLife(start.Add(time.Hour))
)

func TestWindowBoundsWhatIsUnanswered(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b", "c", "d")
	k := s.sends("a=p1:0", "b=p1:1", "c=p1:2")
	if s.w.Room() {
		t.Error("there is room although three runs are unanswered")
	}
	s.takes(k[0], life1, 7)
	s.sends("d=p1:3")
	s.counts(Counts{Taken: 1, Waiting: 3})
	s.settles(life1, 8)
	s.counts(Counts{Settled: 1, Waiting: 3})
}

func TestALargeRunGoesAlone(t *testing.T) {
	s := newScript(t)
	s.w.Enqueue(frame.Single("c", 0, make([]byte, 50_000)))
	s.enqueue("b")
	m, ok := s.w.Next(s.now)
	if !ok || m.Run.Bytes() != 50_000 {
		t.Fatalf("a run over the bound was not sent alone")
	}
	s.sends()
	s.takes(m.Key, life1, 0)
	s.sends("b=p1:1")
}

// TestGoBackOnce: one lost run makes all behind it refused; the window goes
// back once, and the refusals of the first round change nothing later.
func TestGoBackOnce(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b", "c")
	k := s.sends("a=p1:0", "b=p1:1", "c=p1:2")
	s.refuses(k[1], life1, control.ErrorOrder, 0)
	again := s.sends("a=p1:0", "b=p1:1", "c=p1:2")
	s.refuses(k[2], life1, control.ErrorOrder, 0)
	s.sends()
	s.takes(again[0], life1, 0)
	s.takes(again[1], life1, 1)
	s.refuses(again[2], life1, control.ErrorRoom, 2)
	s.sends("c=p1:2")
}

// TestNoProgressBacksOff: refused again with nothing taken, the window probes
// with one run, ever more slowly.
func TestNoProgressBacksOff(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b")
	k := s.sends("a=p1:0", "b=p1:1")
	s.refuses(k[0], life1, control.ErrorRoom, 0)
	k = s.sends("a=p1:0", "b=p1:1")
	s.refuses(k[0], life1, control.ErrorRoom, 0)
	s.sends()
	for _, pause := range []time.Duration{100, 200, 400, 800, 1600, 2000, 2000} {
		s.pass((pause - 1) * time.Millisecond)
		s.sends()
		s.pass(time.Millisecond)
		k = s.sends("a=p1:0")
		s.refuses(k[0], life1, control.ErrorRoom, 0)
	}
	s.pass(2 * time.Second)
	k = s.sends("a=p1:0")
	s.takes(k[0], life1, 0)
	s.sends("b=p1:1")
}

func TestNoRespondersIsARefusal(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b")
	for _, k := range s.sends("a=p1:0", "b=p1:1") {
		s.w.NoResponders(k, s.now)
	}
	s.sends()
	if len(s.notices) != 1 || !strings.Contains(s.notices[0], "is muxd running?") {
		t.Errorf("notices %q, want one that asks for muxd", s.notices)
	}
	s.pass(100 * time.Millisecond)
	k := s.sends("a=p1:0")
	s.takes(k[0], life1, 0)
	s.sends("b=p1:1")
}

func TestSilenceSendsAgain(t *testing.T) {
	s := newScript(t)
	s.enqueue("a")
	k := s.sends("a=p1:0")
	s.pass(9 * time.Second)
	s.sends()
	s.pass(time.Second)
	s.sends("a=p1:0")
	s.takes(k[0], life1, 0) // a late answer is as good
	s.sends()
	s.counts(Counts{Taken: 1})
}

func TestReconnectSendsAgainAtOnce(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b")
	s.sends("a=p1:0", "b=p1:1")
	s.w.Reconnected(s.now)
	s.sends("a=p1:0", "b=p1:1")
}

func TestUnsentIsSentAgain(t *testing.T) {
	s := newScript(t)
	s.enqueue("a")
	m, _ := s.w.Next(s.now)
	s.w.Unsent(m.Key)
	s.sends("a=p1:0")
}

// TestNewLife is promise 2: of three runs in flight when the life ends, one was
// taken, one was sent twice, one only to the new life.
func TestNewLife(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b", "c")
	k := s.sends("a=p1:0", "b=p1:1", "c=p1:2")
	s.takes(k[0], life1, 0)
	s.refuses(k[2], life1, control.ErrorOrder, 1) // b is missing
	again := s.sends("b=p1:1", "c=p1:2")
	// The mux dies having got b, perhaps; c's second transmission meets the next.
	s.refuses(again[1], life2, control.ErrorOrder, 0)
	s.sends() // b may still be answered
	s.pass(9 * time.Second)
	s.sends()
	s.pass(time.Second)
	k = s.sends("c=p2:0")
	s.counts(Counts{Unknown: 1, Taken: 1, Waiting: 1})
	s.takes(k[0], life2, 0)
	s.settles(life2, 1)
	s.counts(Counts{Settled: 1, Unknown: 1, Taken: 1})
	s.w.Settled(life1, control.Settled{Below: 1, Closed: true}, s.now)
	s.counts(Counts{Settled: 2, Unknown: 1})
	if !s.w.Idle() {
		t.Error("not idle")
	}
	if got := s.w.Lives(); len(got) != 2 || got[0] != life1 || got[1] != life2 {
		t.Errorf("lives %v", got)
	}
}

// TestSilentLifeMayRevive: what ingest gives up because it hears nothing of a
// mux is not lost to the handle: the mux may be back, and all of it committed.
func TestSilentLifeMayRevive(t *testing.T) {
	s := newScript(t)
	s.enqueue("a")
	s.takes(s.sends("a=p1:0")[0], life1, 0)
	s.w.Settled(life1, control.Settled{Below: 0, Silent: true}, s.now)
	s.counts(Counts{Taken: 1})
	s.settles(life1, 1)
	s.counts(Counts{Settled: 1})

	s.enqueue("b")
	s.takes(s.sends("b=p1:1")[0], life1, 1)
	s.w.Settled(life1, control.Settled{Below: 1, Silent: true}, s.now)
	s.pass(s.w.cfg.SilenceTimeout - 1)
	s.counts(Counts{Settled: 1, Taken: 1})
	s.pass(1) // and now nobody speaks of it any more
	s.counts(Counts{Settled: 1, Unknown: 1})
}

func TestLateAnswerOfTheOldLife(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b")
	k := s.sends("a=p1:0", "b=p1:1")
	s.takes(k[0], life1, 0)
	s.w.Reconnected(s.now)
	again := s.sends("b=p1:1")
	s.refuses(again[0], life2, control.ErrorOrder, 0)
	s.takes(k[1], life1, 1)
	s.counts(Counts{Taken: 2})
	s.enqueue("c")
	s.sends("c=p2:0")
}

func TestForgottenProducerNumbersAnew(t *testing.T) {
	s := newScript(t)
	s.enqueue("a")
	s.takes(s.sends("a=p1:0")[0], life1, 0)
	s.enqueue("b")
	s.refuses(s.sends("b=p1:1")[0], life1, control.ErrorOrder, 0)
	s.takes(s.sends("b=p2:0")[0], life1, 1)
	s.counts(Counts{Taken: 2})
}

func TestSilentLifeIsUnknown(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b")
	k := s.sends("a=p1:0", "b=p1:1")
	s.takes(k[0], life1, 0)
	s.refuses(k[1], life2, control.ErrorOrder, 0)
	s.takes(s.sends("b=p2:0")[0], life2, 0)
	s.pass(74 * time.Second)
	s.settles(life1, 0) // somebody still speaks of it
	s.pass(74 * time.Second)
	s.w.Reconnected(s.now) // nobody could be heard
	s.pass(74 * time.Second)
	s.counts(Counts{Taken: 2})
	s.pass(time.Second)
	s.counts(Counts{Unknown: 1, Taken: 1})
}

func TestRejectedRunIsLost(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b", "c")
	k := s.sends("a=p1:0", "b=p1:1", "c=p1:2")
	s.takes(k[0], life1, 0)
	s.refuses(k[1], life1, "too many channels", 0)
	s.sends() // c is unanswered: it must not be taken twice
	s.refuses(k[2], life1, control.ErrorOrder, 1)
	s.takes(s.sends("c=p2:0")[0], life1, 1)
	s.settles(life1, 2)
	s.counts(Counts{Settled: 2, Lost: 1})
	if err := s.w.Err(); !errors.Is(err, ErrRejected) || !strings.Contains(err.Error(), "too many channels") {
		t.Errorf("error %v", err)
	}
}

// TestRejectionKeepsTheLife: while the life goes on, a run behind a rejected
// one that nobody answered is sent again, not given up.
func TestRejectionKeepsTheLife(t *testing.T) {
	s := newScript(t)
	s.enqueue("a")
	s.takes(s.sends("a=p1:0")[0], life1, 0)
	s.enqueue("b", "c")
	k := s.sends("b=p1:1", "c=p1:2")
	s.refuses(k[0], life1, "no", 0)
	s.pass(10 * time.Second)
	k = s.sends("c=p1:2")
	s.refuses(k[0], life1, control.ErrorOrder, 1)
	s.sends("c=p2:0")
	s.counts(Counts{Lost: 1, Taken: 1, Waiting: 1})
}

// TestClosedLifeRefuses: a mux that stops refuses what it does not take, and the
// next one takes it.
func TestClosedLifeRefuses(t *testing.T) {
	s := newScript(t)
	s.enqueue("a")
	s.takes(s.sends("a=p1:0")[0], life1, 0)
	s.enqueue("b", "c")
	for _, k := range s.sends("b=p1:1", "c=p1:2") {
		s.refuses(k, life1, control.ErrorClosed, 0)
	}
	s.sends()
	s.pass(100 * time.Millisecond)
	s.refuses(s.sends("b=p2:0")[0], life1, control.ErrorClosed, 0)
	s.pass(200 * time.Millisecond)
	s.takes(s.sends("b=p3:0")[0], life2, 0)
	s.takes(s.sends("c=p3:1")[0], life2, 1)
	s.counts(Counts{Taken: 3})
}

func TestNodesAreAnsweredAsTokens(t *testing.T) {
	s := newScript(t)
	s.w.cfg.Node = "host.example"
	s.enqueue("a")
	s.w.Answer(s.sends("a=p1:0")[0], control.Answer{Node: "host%2Eexample", Life: life1, Count: 1}, s.now)
	s.counts(Counts{Taken: 1})
}

func TestAnswerThatDoesNotFit(t *testing.T) {
	for _, a := range []control.Answer{
		{Node: "n1", Life: life1, Count: 2},
		{Node: "n2", Life: life1, Count: 1},
		{Node: "n1", Count: 1},
		{Node: "n1", Life: life1, Count: 1, Position: subjects.MaxPosition + 1},
	} {
		s := newScript(t)
		s.enqueue("a")
		s.w.Answer(s.sends("a=p1:0")[0], a, s.now)
		s.counts(Counts{Unknown: 1})
		if !errors.Is(s.w.Err(), ErrAnswer) {
			t.Errorf("%s: error %v", a.Encode(), s.w.Err())
		}
	}
}

func TestAbandon(t *testing.T) {
	s := newScript(t)
	s.enqueue("a", "b", "c", "d")
	k := s.sends("a=p1:0", "b=p1:1", "c=p1:2")
	s.takes(k[0], life1, 0)
	s.refuses(k[1], life1, control.ErrorRoom, 1)
	s.w.Abandon()
	s.counts(Counts{Lost: 2, Unknown: 2}) // b was refused, d never sent
	if frames, _ := s.w.Freed(); frames != 4 {
		t.Errorf("%d frames were freed, want 4", frames)
	}
}

func TestLivesAreBounded(t *testing.T) {
	s := newScript(t)
	s.enqueue("a")
	s.takes(s.sends("a=p1:0")[0], life1, 5)
	for i := range 3 * maxLives {
		s.settles(subjects.MintLife(start.Add(time.Duration(i)*time.Minute)), 1)
	}
	if n := len(s.w.accounts); n > maxLives {
		t.Errorf("%d lives are remembered, at most %d are allowed", n, maxLives)
	}
	s.settles(life1, 6)
	s.counts(Counts{Settled: 1})
}
