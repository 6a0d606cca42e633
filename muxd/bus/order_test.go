package bus

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"datastream/muxd/mux"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/test/harness"
)

// own is the beat of a node's own mux, another process.
func own(instance string) string {
	return string(control.Beat{Instance: instance}.Encode())
}

// TestGatewayYieldsExactlyAtTheBeat is promise 2: submissions that the server
// sent before the other mux's first beat are taken, none after it (P5.5).
func TestGatewayYieldsExactlyAtTheBeat(t *testing.T) {
	r := newRig(t, Config{}).start()
	theirs := subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}
	const each = 200
	for i := range 2 * each {
		if i == each {
			r.publish(subjects.Default().Beat(theirs), "", own("theirs"))
		}
		r.submit("n1", "a", fmt.Sprint(i))
		r.submit("n2", "a", fmt.Sprint(i))
	}
	seen := r.until("the last frame of n1", func(e event) bool {
		return e.id.Node == "n1" && e.run.Len() > 0 && e.run.Last() == each-1
	})
	// What was taken stays to be repaired until it is settled, however long
	// that takes.
	if closed := slices.ContainsFunc(seen, closing("n1")); closed {
		t.Error("n1's life ended before it was settled")
	}
	r.settle(seen[len(seen)-1].id, control.Settled{Below: each})
	seen = append(seen, r.until("the end of n1's life", func(e event) bool { return e.id != theirs && closing("n1")(e) })...)
	var want []string
	for i := range each {
		want = append(want, fmt.Sprintf("%d=%d", i, i))
	}
	wantEqual(t, "frames of n1", payloads(seen, "n1"), want)
	if last := *seen[len(seen)-1].beat; last.Assigned != each {
		t.Errorf("its life ends with %+v", last)
	}
	r.wantCounts("conflicts_total", map[string]float64{"": 1})
	r.end()
	seen = append(seen, r.until("the end of n2's life", closing("n2"))...)
	if got := len(payloads(seen, "n2")); got != 2*each {
		t.Errorf("n2, whose mux this is, got %d frames of %d", got, 2*each)
	}
}

// TestConflicts: a gateway takes a node back after 60 s of silence, and does
// not yield to another gateway; a node's own mux yields to nobody. All
// overlaps are counted (P5.5).
func TestConflicts(t *testing.T) {
	now := time.Now()
	beatOf := func(gateway bool, instance string) string {
		return string(control.Beat{Gateway: gateway, Instance: instance}.Encode())
	}
	theirs := subjects.Default().Beat(subjects.Stream{Node: "n1", Life: subjects.MintLife(now)})
	t.Run("gateway", func(t *testing.T) {
		r := still(t, Config{})
		r.submit("n1", "a", "x")
		r.publish(theirs, "", beatOf(true, "gateway"))
		r.publish(theirs, "", beatOf(true, r.bus.instance)) // our own, heard
		r.step(now)
		if r.stream("n1").mux.Closed() {
			t.Error("yielded to another gateway")
		}
		r.wantCounts("conflicts_total", map[string]float64{"": 1})
		r.publish(theirs, "", beatOf(false, "own"))
		r.pump(now)
		r.submit("n1", "a", "y")
		r.pump(now.Add(time.Minute - 1))
		if got := payloads(r.sofarDrained(), "n1"); len(got) != 1 {
			t.Errorf("while the other mux is heard: %v", got)
		}
		r.submit("n1", "a", "z")
		r.step(now.Add(time.Minute))
		if got := payloads(r.sofar(), "n1"); len(got) != 1 || got[0] != "0=z" {
			t.Errorf("after a minute of silence: %v", got)
		}
	})
	t.Run("own", func(t *testing.T) {
		r := still(t, Config{Node: "n1"})
		r.publish(theirs, "", beatOf(false, "other"))
		r.submit("n1", "a", "x")
		r.step(now)
		if got := payloads(r.sofar(), "n1"); len(got) != 1 {
			t.Errorf("the node's own mux published %v", got)
		}
		r.wantCounts("conflicts_total", map[string]float64{"": 1})
	})
}

// sofarDrained drains a still bus and is what it has published.
func (r *rig) sofarDrained() []event {
	r.t.Helper()
	r.drain()
	return r.sofar()
}

// TestSettledIsHandledInOrder is promise 2, too: a submission that asks for
// its commit is answered by the announcement that follows it, though the bus
// handles both at once.
func TestSettledIsHandledInOrder(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	r.submit("n1", "a", "first")
	r.step(now)
	id := r.stream("n1").id
	for i := range 50 {
		r.publish("ds.submit.n1.a", r.box, "x", "Ds-Ack", "committed")
		r.settle(id, control.Settled{Below: subjects.Position(i + 2)})
	}
	r.step(now)
	for i, a := range r.answers(r.sofar()) {
		if a.Error != "" || a.Position != subjects.Position(i+1) {
			t.Errorf("answer %d is %+v", i, a)
		}
	}
}

// TestNodesOwnMuxBeatsFirst: a single-node mux is alive from its first beat
// on, before anybody submits (P5.5).
func TestNodesOwnMuxBeatsFirst(t *testing.T) {
	r := newRig(t, Config{Node: "n1"}).start()
	seen := r.until("the birth beat", func(e event) bool { return e.beat != nil })
	if b := seen[0].beat; b.Assigned != 0 || b.Gateway || b.Instance == "" {
		t.Errorf("the birth beat is %+v", b)
	}
}

// TestBeatsNeverRunAheadOfFrames is promise 3: when a beat comes, everything
// below Drained has come before it, but for what was dropped (P7.6).
func TestBeatsNeverRunAheadOfFrames(t *testing.T) {
	r := newRig(t, Config{Mux: mux.Config{BufferFrames: 300}}).start()
	const each = 4000
	var submitters sync.WaitGroup
	for k := range 3 {
		submitters.Go(func() {
			for i := range each {
				r.bus.Submit("n1", single(fmt.Sprint("c", (k+i)%5), "payload"))
			}
		})
	}
	id := r.opened("n1")
	for range 300 { // each asks for a beat
		r.publish(subjects.Default().Repair(id), r.box, "{}")
	}
	submitters.Wait()
	harness.Until(t, "everything is drained", func() bool { return r.stream("n1").mux.Counts().Drained == 3*each })
	r.end()
	came := make([]bool, 3*each)
	said := make([]bool, 3*each) // some beat said drained, and it had not come
	n := 0
	for _, e := range r.until("the closing beat", closing("n1")) {
		switch {
		case e.beat != nil:
			n++
			missing := uint64(0)
			for p := range e.beat.Drained {
				if !came[p] {
					said[p] = true
					missing++
				}
			}
			if missing > e.beat.Dropped {
				t.Fatalf("beat %+v came before %d frames", *e.beat, missing-e.beat.Dropped)
			}
		default:
			for i := range e.run.Len() {
				p := e.run.Pos(i)
				if came[p] || said[p] {
					t.Fatalf("position %d came after a beat had said so, or twice", p)
				}
				came[p] = true
			}
		}
	}
	if n < 3 {
		t.Errorf("only %d beats were seen", n)
	}
}

// opened is the stream of a node, made if need be.
func (r *rig) opened(node subjects.Node) subjects.Stream {
	r.t.Helper()
	r.bus.mu.Lock()
	s, err := r.bus.open(node, time.Now())
	r.bus.mu.Unlock()
	if err != nil {
		r.t.Fatal(err)
	}
	return s.id
}

// TestBirthBeatGoesFirst: a stream's first beat goes before its first frame,
// so that ingest knows the life (P7.2).
func TestBirthBeatGoesFirst(t *testing.T) {
	r := newRig(t, Config{}).start()
	var submitters sync.WaitGroup
	for k := range 20 {
		submitters.Go(func() { r.bus.Submit(subjects.Node(fmt.Sprint("n", k)), single("a", "x")) })
	}
	submitters.Wait()
	born, frames := map[subjects.Stream]bool{}, 0
	r.until("every frame", func(e event) bool {
		if e.beat != nil {
			born[e.id] = true
			return false
		}
		frames++
		if !born[e.id] {
			t.Errorf("a frame of %v came before its first beat", e.id)
		}
		return frames == 20
	})
}
