package bus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"datastream/muxd/mux"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// ask submits with Ds-Ack: committed; header goes in pairs.
func (r *rig) ask(body string, header ...string) {
	r.t.Helper()
	r.publish("ds.submit.n1.a", r.box, body, append(header, frame.HeaderAck, frame.AckCommitted)...)
}

// TestCommittedWaitsForSettled: Ds-Ack: committed is answered when settled
// has passed the frames, not before, paced or not (P4.4).
func TestCommittedWaitsForSettled(t *testing.T) {
	for name, header := range map[string][]string{
		"unpaced": {frame.HeaderRun, "1,1,1"},
		"paced":   {frame.HeaderRun, "1,1,1", frame.HeaderSeq, "p:0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := still(t, Config{})
			now := time.Now()
			r.ask("a\nb\nc", header...)
			r.step(now)
			id := r.stream("n1").id
			for below := range subjects.Position(3) {
				r.settle(id, control.Settled{Below: below})
				r.step(now)
			}
			if got := r.answers(r.sofar()); len(got) != 0 {
				t.Fatalf("answered before it was settled: %+v", got)
			}
			r.settle(id, control.Settled{Below: 3})
			r.step(now)
			want := control.Answer{Node: "n1", Life: id.Life, Position: 0, Count: 3}
			wantEqual(t, "answers", r.answers(r.sofar()), []control.Answer{want})
			if r.bus.waits != 0 {
				t.Errorf("%d still wait", r.bus.waits)
			}
		})
	}
}

// TestPacedRunSentTwice: a run that is sent again is not taken again. Asked
// twice, it is answered twice; asked when it is settled, at once (P4.3).
func TestPacedRunSentTwice(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	r.ask("a", frame.HeaderSeq, "p:0")
	r.ask("b", frame.HeaderSeq, "p:1")
	r.ask("a", frame.HeaderSeq, "p:0") // its place is before p:1's
	r.step(now)
	s := r.stream("n1")
	if c := s.mux.Counts(); c.Assigned != 2 {
		t.Fatalf("two runs, one of them twice: %+v", c)
	}
	r.settle(s.id, control.Settled{Below: 1})
	r.step(now)
	if got := r.answers(r.sofar()); len(got) != 2 || got[0] != got[1] || got[0].Position != 0 || got[0].Error != "" {
		t.Errorf("the first run is settled, and both who asked are to hear it: %+v", got)
	}
	r.settle(s.id, control.Settled{Below: 2})
	r.step(now)
	r.sofar()
	r.ask("b", frame.HeaderSeq, "p:1")
	r.step(now)
	if got := r.answers(r.sofar()); len(got) != 1 || got[0].Position != 1 || got[0].Error != "" {
		t.Errorf("asked again after its commit: %+v", got)
	}
	if c := s.mux.Counts(); c.Assigned != 2 || r.bus.waits != 0 {
		t.Errorf("%+v, %d wait", c, r.bus.waits)
	}
}

// TestCommittedLost: who waits hears whether its frames were given up, and
// when the announcement that would say so was missed, that nobody knows (P2).
func TestCommittedLost(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	for i := range 5 {
		r.ask(fmt.Sprint(i))
	}
	r.step(now)
	id := r.stream("n1").id
	r.settle(id, control.Settled{Below: 3, Lost: 1, Gone: []control.Range{{From: 1, To: 1}}})
	r.step(now)
	r.settle(id, control.Settled{Below: 4, Lost: 2}) // what is gone goes unsaid
	r.settle(id, control.Settled{Below: 5, Lost: 2})
	r.step(now)
	var got []string
	for _, a := range r.answers(r.sofar()) {
		got = append(got, a.Error)
	}
	wantEqual(t, "errors", got, []string{"", control.ErrorLost, "", "settled, but an announcement of losses was missed: it may be lost", ""})
}

// TestCommittedIsBounded: past the bound a submission is taken, and its answer
// says that nobody will say more.
func TestCommittedIsBounded(t *testing.T) {
	r := still(t, Config{})
	r.bus.waits = maxWaits - 1
	r.ask("waits")
	r.ask("does not")
	r.step(time.Now())
	got := r.answers(r.sofar())
	if len(got) != 1 || !strings.HasPrefix(got[0].Error, "taken, but 65536 submissions already wait") {
		t.Errorf("the answers are %+v", got)
	}
	if c := r.stream("n1").mux.Counts(); c.Assigned != 2 || c.Lost() != 0 {
		t.Errorf("both are to be taken: %+v", c)
	}
}

// TestCommittedOnAStreamThatEnds: who waits when the stream is closed without
// its commit being heard of is told that it is unknown.
func TestCommittedOnAStreamThatEnds(t *testing.T) {
	r := newRig(t, Config{}).start()
	r.ask("x")
	r.until("the frame", func(e event) bool { return e.run.Len() > 0 })
	r.end()
	got := r.answers(r.until("the answer", func(e event) bool { return e.answer != nil }))
	if !strings.HasPrefix(got[0].Error, "unknown: ") {
		t.Errorf("the answer is %+v", got[0])
	}
}

// TestCommittedOddities: another word than committed is said to be not
// understood, and frames that were dropped are said at once; both were taken.
func TestCommittedOddities(t *testing.T) {
	r := still(t, Config{Mux: mux.Config{BufferFrames: 1}})
	r.publish("ds.submit.n1.a", r.box, "x", frame.HeaderAck, "stored")
	r.ask("dropped")
	r.step(time.Now())
	got := r.answers(r.sofar())
	if len(got) != 2 || !strings.Contains(got[0].Error, `"stored" is not understood`) || !strings.Contains(got[1].Error, "1 of 1 frames were dropped") {
		t.Errorf("the answers are %+v", got)
	}
	if c := r.stream("n1").mux.Counts(); c.Assigned != 2 || r.bus.waits != 0 {
		t.Errorf("%+v, %d wait", c, r.bus.waits)
	}
}

// TestPacedWaitsForRoom: a paced run that finds no room is held, answered when
// settled makes some, and refused after five seconds without (P4.3).
func TestPacedWaitsForRoom(t *testing.T) {
	r := still(t, Config{PacedRoom: 1000})
	now := time.Now()
	body := strings.Repeat("x", 600)
	for i := range 3 {
		r.publish("ds.submit.n1.a", r.box, body, frame.HeaderSeq, fmt.Sprintf("p:%d", i))
	}
	r.step(now)
	if got := r.answers(r.sofar()); len(got) != 1 || got[0].Error != "" || got[0].Position != 0 {
		t.Fatalf("one of three has room: %+v", got)
	}
	id := r.stream("n1").id
	r.settle(id, control.Settled{Below: 1})
	r.step(now)
	if got := r.answers(r.sofar()); len(got) != 1 || got[0].Error != "" || got[0].Position != 1 {
		t.Fatalf("settled makes room for one more: %+v", got)
	}
	r.bus.tick(now.Add(mux.DefaultHold - 1))
	if got := r.answers(r.sofar()); len(got) != 0 {
		t.Fatalf("just before its time: %+v", got)
	}
	r.bus.tick(now.Add(mux.DefaultHold))
	if got := r.answers(r.sofar()); len(got) != 1 || got[0].Error != control.ErrorRoom || got[0].Next != 2 {
		t.Errorf("held for too long: %+v", got)
	}
	if c := r.stream("n1").mux.Counts(); c.Assigned != 2 {
		t.Errorf("what is refused spends nothing: %+v", c)
	}
}
