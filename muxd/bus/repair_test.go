package bus

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
)

// repairs asks for ranges.
func (r *rig) repairs(id subjects.Stream, ranges ...control.Range) {
	r.t.Helper()
	r.publish(subjects.Default().Repair(id), r.box, string(control.RepairRequest{Ranges: ranges}.Encode()))
}

// tenFrames submits ten frames, each a slice of its own.
func tenFrames(t *testing.T, r *rig, now time.Time) subjects.Stream {
	t.Helper()
	for i := range 10 {
		r.submit("n1", "a", fmt.Sprint("payload ", i))
		r.step(now)
	}
	return r.stream("n1").id
}

// TestRepairSaysSentGoneAndPending: only gone is gone, and the answer follows
// the frames, which are unchanged, on the same connection (P5.3).
func TestRepairSaysSentGoneAndPending(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	id := tenFrames(t, r, now)
	first := payloads(r.sofar(), "n1")
	r.settle(id, control.Settled{Below: 3})
	r.step(now)
	r.submit("n1", "a", "not drained")
	r.pump(now)
	r.repairs(id, control.Range{From: 0, To: 4}, control.Range{From: 8, To: 20})
	r.pump(now)
	r.repair()
	seen := r.sofar()
	if last := seen[len(seen)-1]; last.answer == nil || len(r.answers(seen)) != 1 {
		t.Fatalf("the answer is not the last of %d messages", len(seen))
	}
	wantEqual(t, "frames sent again", payloads(seen, "n1"), []string{first[3], first[4], first[8], first[9]})
	a, err := control.DecodeRepairAnswer(seen[len(seen)-1].answer)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "sent", a.Sent, []control.Range{{From: 3, To: 4}, {From: 8, To: 9}})
	wantEqual(t, "gone", a.Gone, []control.Range{{From: 0, To: 2}})
	wantEqual(t, "pending", a.Pending, []control.Range{{From: 10, To: 20}})
	r.wantCounts("repaired_frames_total", map[string]float64{"": 4})
}

// TestRepairIsUnchanged: what is sent again is the same message, byte for byte.
func TestRepairIsUnchanged(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	r.publish("ds.submit.n1.a", "", "a\n\nb", "Ds-Run", "1,0,1", "X-Own", "is not forwarded")
	r.submit("n1", "b%20c", "\xff\n")
	r.step(now)
	r.repairs(r.stream("n1").id, control.Range{From: 0, To: 3})
	r.step(now)
	r.flush(r.nc)
	r.flush(r.other)
	type sent struct{ subject, body, header string }
	var frames []sent
	for len(r.wire) > 0 {
		if m := <-r.wire; bytes.HasPrefix([]byte(m.Subject), []byte("ds.frame.")) {
			frames = append(frames, sent{m.Subject, string(m.Data), fmt.Sprint(m.Header)})
		}
	}
	if len(frames) != 4 || !slices.Equal(frames[:2], frames[2:]) {
		t.Errorf("sent, and sent again: %q", frames)
	}
}

// TestRepairWithoutRangesAsksForABeat: the beat is the answer.
func TestRepairWithoutRangesAsksForABeat(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	id := tenFrames(t, r, now)
	r.sofar()
	r.repairs(id)
	r.step(now)
	seen := r.sofar()
	if got := beats(seen, "n1"); len(got) != 1 || got[0].Drained != 10 || got[0].Oldest != 0 {
		t.Errorf("the beats are %+v", got)
	}
	if len(r.answers(seen)) != 0 {
		t.Errorf("%d answers", len(r.answers(seen)))
	}
}

// TestRepairOfAnotherLifeIsSilent: another mux's life, or one that is over,
// is not ours to speak of: an answer would give its frames up.
func TestRepairOfAnotherLifeIsSilent(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	tenFrames(t, r, now)
	r.sofar()
	r.repairs(subjects.Stream{Node: "n1", Life: subjects.MintLife(now)}, control.Range{})
	r.step(now)
	if seen := r.sofar(); len(seen) != 0 {
		t.Errorf("it published %+v", seen)
	}
}

// TestRepairIsBounded: one answer sends at most 1 MiB; what it leaves out is
// in none of its lists, and asked for again it comes (P5.3).
func TestRepairIsBounded(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	const size, n = 300 << 10, 8
	for range n {
		r.submit("n1", "a", string(make([]byte, size)))
		r.step(now)
	}
	r.sofar()
	id := r.stream("n1").id
	asked, next, rounds := control.Range{From: 0, To: n - 1}, subjects.Position(0), 0
	for next < n {
		r.repairs(id, control.Range{From: next, To: asked.To})
		r.step(now)
		seen := r.sofar()
		got := payloads(seen, "n1")
		if len(got) == 0 || len(got)*size > repairBytes {
			t.Fatalf("one answer sent %d frames of %d bytes", len(got), size)
		}
		a, err := control.DecodeRepairAnswer(seen[len(seen)-1].answer)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "sent", a.Sent, []control.Range{{From: next, To: next + subjects.Position(len(got)) - 1}})
		if len(a.Gone)+len(a.Pending) != 0 {
			t.Fatalf("what was left out is said to be gone or pending: %+v", a)
		}
		next += subjects.Position(len(got))
		rounds++
	}
	if rounds < 3 {
		t.Errorf("%d bytes went in %d answers", n*size, rounds)
	}
}

// TestRepairQueueIsBounded: requests that find no room are counted; ingest
// asks again.
func TestRepairQueueIsBounded(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	id := tenFrames(t, r, now)
	for range repairQueue + 3 {
		r.repairs(id, control.Range{})
	}
	r.pump(now)
	r.wantCounts("refused_total", map[string]float64{"repair_queue": 3})
}
