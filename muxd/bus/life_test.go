package bus

import (
	"fmt"
	"testing"
	"time"

	"datastream/muxd/mux"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// TestSuspensionMeansANewLife: a process that was stopped for 30 s or more
// gives its nodes new lives; the old ones are drained, and end with a closing
// beat once they are settled (P1.1).
func TestSuspensionMeansANewLife(t *testing.T) {
	for _, node := range []subjects.Node{"", "n1"} {
		t.Run(fmt.Sprintf("node %q", node), func(t *testing.T) {
			r := still(t, Config{Node: node, PacedRoom: 200})
			now := time.Now()
			r.submit("n1", "a", "old")
			r.publish("ds.submit.n1.a", r.box, "paced", frame.HeaderSeq, "p:0")
			r.publish("ds.submit.n1.a", r.box, string(make([]byte, 100)), frame.HeaderSeq, "p:1")
			r.pump(now)
			old := r.stream("n1").id
			r.bus.watch(now, now.Add(suspended-1))
			if r.stream("n1").id != old {
				t.Fatal("a new life after less than 30 s")
			}
			now = now.Add(suspended)
			r.bus.watch(now.Add(-suspended), now)
			born := r.stream("n1").id
			if born == old {
				t.Fatal("no new life after 30 s")
			}
			r.submit("n1", "a", "new")
			r.step(now)
			seen := r.sofar()
			want := []string{"0=old", "1=paced", "0=new"}
			wantEqual(t, "frames", payloads(seen, "n1"), want)
			if a := r.answers(seen); len(a) != 2 || a[1].Error != control.ErrorClosed {
				t.Errorf("the paced run that waited is to come again: %+v", a)
			}
			r.settle(old, control.Settled{Below: 2})
			r.pump(now)
			r.bus.tick(now)
			r.drain()
			ended := 0
			for _, e := range r.sofar() {
				if e.beat != nil && e.beat.Closed {
					ended++
					if e.id != old || e.beat.Assigned != 2 || e.beat.Drained != 2 || e.beat.Below != 2 {
						t.Errorf("%v ends with %+v", e.id, *e.beat)
					}
				}
			}
			if ended != 1 {
				t.Errorf("%d closing beats, want the old life's", ended)
			}
		})
	}
}

// TestIdleStreamsClose: a stream that is idle and settled for an hour ends
// with a closing beat; one that is not settled does not, nor the stream of a
// node's own mux (P5.4).
func TestIdleStreamsClose(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	for _, n := range []string{"settled", "unsettled", "busy"} {
		r.submit(n, "a", "x")
	}
	r.step(now)
	for _, n := range []subjects.Node{"settled", "busy"} {
		r.settle(r.stream(n).id, control.Settled{Below: 1})
	}
	r.step(now)
	for _, at := range []time.Duration{0, 30 * time.Minute, time.Hour - 1} {
		if at > 0 {
			r.submit("busy", "a", "x")
		}
		r.pump(now.Add(at))
		r.bus.tick(now.Add(at))
		r.drain()
	}
	if n := len(closed(r.sofar())); n != 0 {
		t.Fatalf("%d closing beats before an hour is over", n)
	}
	r.bus.tick(now.Add(time.Hour))
	r.drain()
	r.bus.tick(now.Add(time.Hour))
	r.drain()
	wantEqual(t, "closed", closed(r.sofar()), []subjects.Node{"settled"})
	r.submit("settled", "a", "again")
	r.step(now.Add(time.Hour))
	wantEqual(t, "frames of the node's next life", payloads(r.sofar(), "settled"), []string{"0=again"})
}

// closed are the nodes of closing beats.
func closed(seen []event) (nodes []subjects.Node) {
	for _, e := range seen {
		if e.beat != nil && e.beat.Closed {
			nodes = append(nodes, e.id.Node)
		}
	}
	return nodes
}

// TestStopOrder: what the server has sent is taken in and drained; then
// settled is waited for; then come the closing beats, the last of each life.
func TestStopOrder(t *testing.T) {
	r := newRig(t, Config{StopWait: harness.Patience}).start()
	const frames = 500
	for i := range frames {
		r.submit("n1", "a", fmt.Sprint(i))
	}
	r.publish("ds.submit.n1.a", r.box, "x", frame.HeaderAck, frame.AckCommitted)
	r.flush(r.other) // the server has them
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.end()
	}()
	seen := r.until("the last frame", func(e event) bool { return e.run.Len() > 0 && e.run.Last() == frames })
	if n := len(payloads(seen, "n1")); n != frames+1 {
		t.Errorf("%d frames in flight were drained, want %d", n, frames+1)
	}
	if n := closed(seen); len(n) != 0 {
		t.Errorf("closing beats of %v before they are settled", n)
	}
	id := r.anyStream("n1")
	r.settle(id, control.Settled{Below: frames + 1})
	seen = r.until("the closing beat", closing("n1"))
	if b := seen[len(seen)-1].beat; b.Below != frames+1 || b.Drained != frames+1 {
		t.Errorf("it closes with %+v", *b)
	}
	if a := r.answers(seen); len(a) != 1 || a[0].Error != "" {
		t.Errorf("who waited for the commit hears %+v", a)
	}
	<-stopped
	if seen := r.sofar(); len(seen) != 0 {
		t.Errorf("after the closing beat came %+v", seen)
	}
	if r.bus.Submit("n1", single("a", "x")) {
		t.Error("a submission was taken after the end")
	}
}

// anyStream is the stream of a node, open or closing.
func (r *rig) anyStream(node subjects.Node) subjects.Stream {
	r.t.Helper()
	r.bus.mu.Lock()
	defer r.bus.mu.Unlock()
	for id := range r.bus.streams {
		if id.Node == node {
			return id
		}
	}
	r.t.Fatalf("node %q has no stream", node)
	return subjects.Stream{}
}

// TestStopHasADeadline: without a word from ingest the closing beats come all
// the same, and say what is not settled.
func TestStopHasADeadline(t *testing.T) {
	r := newRig(t, Config{StopWait: time.Millisecond}).start()
	r.submit("n1", "a", "x")
	r.until("the frame", func(e event) bool { return e.run.Len() > 0 })
	r.end()
	seen := r.until("the closing beat", closing("n1"))
	if b := seen[len(seen)-1].beat; b.Assigned != 1 || b.Below != 0 {
		t.Errorf("it closes with %+v", *b)
	}
}

// TestTransportLossSpendsPositions: when the connection drops submissions,
// each stream with unnumbered ones in the last 10 s spends a position; others
// do not, for theirs are counted by number (P4.2).
func TestTransportLossSpendsPositions(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	r.submit("old", "a", "x")
	r.pump(now.Add(-lossyLookback))
	r.submit("unnumbered", "a", "x")
	r.submit("numbered", "a", "x", frame.HeaderSeq, "p:0")
	r.publish("ds.submit.paced.a", r.box, "x", frame.HeaderSeq, "p:0")
	r.pump(now)
	const over = 7
	for range inbound - len(r.bus.in) + over {
		r.submit("flood", "a", "x")
	}
	r.flush(r.other)
	r.flush(r.nc)
	for range 2 { // the second look finds nothing new
		r.bus.transportLoss(now)
	}
	r.wantCounts("intake_lost_messages_total", map[string]float64{"": over})
	for node, want := range map[subjects.Node]uint64{"old": 0, "unnumbered": 1, "numbered": 0, "paced": 0} {
		if c := r.stream(node).mux.Counts(); c.Dropped[mux.ReasonTransport] != want || c.Assigned != subjects.Position(1+want) {
			t.Errorf("%s: %+v, want %d spent", node, c, want)
		}
	}
}

// TestReconnect: the bus outlives its server. While it is gone frames go into
// the ring, and a repair brings them; the cut by itself spends no position,
// for nobody can say that anything was lost (P4.2, P5.2).
func TestReconnect(t *testing.T) {
	r := newRig(t, Config{}).start()
	r.submit("n1", "a", "before")
	r.until("the frame", func(e event) bool { return e.run.Len() > 0 })
	r.host.s.Close()
	harness.Until(t, "the connection is lost", func() bool { return !r.nc.IsConnected() })
	for i := range 100 {
		if !r.bus.Submit("n1", single("a", fmt.Sprint(i))) {
			t.Fatal("a submission took no position")
		}
	}
	drained := func(n subjects.Position) func() bool {
		return func() bool { return r.stream("n1").mux.Counts().Drained >= n }
	}
	harness.Until(t, "all of it is in the ring", drained(101))
	if n := r.counts("unsent_total")["frame"]; n == 0 {
		t.Error("frames that the connection did not take are not counted")
	}
	r.host.start(t)
	harness.Until(t, "it is back", r.nc.IsConnected)
	harness.Until(t, "the other is back", r.other.IsConnected)
	r.flush(r.other)
	r.repairs(r.stream("n1").id, control.Range{From: 1, To: 100})
	seen := r.until("the answer", func(e event) bool { return e.answer != nil })
	if n := len(payloads(seen, "n1")); n != 100 {
		t.Errorf("%d frames were sent again, want the 100 of the cut", n)
	}
	a, err := control.DecodeRepairAnswer(seen[len(seen)-1].answer)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "sent", a.Sent, []control.Range{{From: 1, To: 100}})
	r.submit("n1", "a", "after")
	seen = r.until("the next frame", func(e event) bool { return e.run.Len() > 0 })
	wantEqual(t, "frames", payloads(seen, "n1"), []string{"101=after"})
}

// TestNumberedLossIsSpent: a numbered producer's missing numbers spend one
// position each, and a mark shows those at the end (P4.2).
func TestNumberedLossIsSpent(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	r.submit("n1", "a", "0", frame.HeaderSeq, "p:0")
	r.submit("n1", "a", "3", frame.HeaderSeq, "p:3")
	r.submit("n1", "a", "", frame.HeaderSeq, "p:6", frame.HeaderRun, "")
	r.step(now)
	wantEqual(t, "frames", payloads(r.sofar(), "n1"), []string{"0=0", "3=3"})
	if c := r.stream("n1").mux.Counts(); c.Assigned != 6 || c.Dropped[mux.ReasonProducer] != 4 {
		t.Errorf("of 0, 3 and a mark of 6: %+v", c)
	}
}

// TestBeatsComeWhenSomethingChanges: each second while something does, else
// every ten.
func TestBeatsComeWhenSomethingChanges(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	r.submit("n1", "a", "x")
	r.step(now)
	heard := func(after time.Duration) int {
		r.bus.tick(now.Add(after))
		r.drain()
		return len(beats(r.sofar(), "n1"))
	}
	heard(beatChanging) // birth, and that a frame was drained
	for after, want := range map[time.Duration]int{2 * beatChanging: 0, beatChanging + beatIdle - 1: 0} {
		if got := heard(after); got != want {
			t.Errorf("%v later: %d beats, nothing has changed", after, got)
		}
	}
	r.settle(r.stream("n1").id, control.Settled{Below: 1})
	r.pump(now)
	if got := heard(2 * beatChanging); got != 1 {
		t.Errorf("settled has changed: %d beats", got)
	}
	if got := heard(2*beatChanging + beatIdle); got != 1 {
		t.Errorf("ten seconds later: %d beats", got)
	}
}
