package bus

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"datastream/muxd/mux"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

func single(channel, payload string) frame.Run {
	return frame.Single(subjects.Channel(channel), 0, []byte(payload))
}

// TestFullBufferDropsNewAndKeepsPositions is promise 1: with the server gone
// and nobody draining, every Submit returns, the buffer's room is kept, the
// rest is dropped and counted, and every position is spent (P5, P9.4).
func TestFullBufferDropsNewAndKeepsPositions(t *testing.T) {
	r := still(t, Config{Mux: mux.Config{BufferFrames: 10}})
	r.host.s.Close()
	harness.Until(t, "the connection is lost", func() bool { return !r.nc.IsConnected() })
	var submitters sync.WaitGroup
	for range 8 {
		submitters.Go(func() {
			for i := range 125 {
				if !r.bus.Submit("n1", single("a", fmt.Sprint(i))) {
					t.Error("a submission took no position")
				}
			}
		})
	}
	submitters.Wait()
	c := r.stream("n1").mux.Counts()
	if c.Assigned != 1000 || c.Frames != 10 || c.Dropped[mux.ReasonBuffer] != 990 {
		t.Errorf("of 1000 submissions: %+v", c)
	}
	r.wantCounts("dropped_frames_total", map[string]float64{"buffer": 990})
	r.wantCounts("positions_total", map[string]float64{"": 1000})
}

// A gate is a carrier that is as slow as it gets: it takes nothing until it
// is opened.
type gate struct {
	to   Carrier
	open chan struct{}
}

func (g *gate) PublishMsg(m *nats.Msg) error {
	<-g.open
	return g.to.PublishMsg(m)
}

// TestSlowCarrierMakesNobodyWait is promise 1, too: while the carrier takes
// nothing, in-process submissions return and those over NATS are answered.
// What was dropped meanwhile is exactly what is missing afterwards.
func TestSlowCarrierMakesNobodyWait(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	r := newRig(t, Config{Mux: mux.Config{BufferFrames: 50}})
	g.to, r.bus.carrier = r.nc, g
	r.start()
	release := sync.OnceFunc(func() { close(g.open) })
	t.Cleanup(release)
	for i := range 500 {
		r.bus.Submit("n1", single("a", fmt.Sprint(i)))
	}
	m, err := r.other.Request("ds.submit.n2.a", []byte("x"), harness.Patience)
	if err != nil {
		t.Fatalf("a request while the carrier takes nothing: %v", err)
	}
	if a, err := control.DecodeAnswer(m.Data); err != nil || a.Count != 1 || a.Error != "" {
		t.Errorf("the answer is %s", m.Data)
	}
	release()
	harness.Until(t, "everything is drained", func() bool { return r.stream("n1").mux.Counts().Drained == 500 })
	r.end()
	seen := r.until("the closing beat", closing("n1"))
	dropped := r.counts("dropped_frames_total")["buffer"]
	if got := len(payloads(seen, "n1")); dropped == 0 || got+int(dropped) != 500 {
		t.Errorf("%d frames were published and %v dropped of 500", got, dropped)
	}
}

// TestRefusals: what cannot be taken is counted by reason, answered if asked,
// and where nobody else can see the loss it spends a position (P4.2, P4.4).
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		node, channel, body string
		header              []string
		reason, says        string
	}{
		"node too long":    {node: strings.Repeat("n", subjects.MaxNode+1), channel: "a", reason: "name", says: "128"},
		"channel too long": {node: "n1", channel: strings.Repeat("c", subjects.MaxChannel+1), reason: "name", says: "512"},
		"run":              {node: "n1", channel: "a", body: "abc", header: []string{frame.HeaderRun, "1,2"}, reason: "run", says: "run"},
		"skips":            {node: "n1", channel: "a", body: "a\nb", header: []string{frame.HeaderRun, "1,1+1"}, reason: "run", says: "run"},
		"seq":              {node: "n1", channel: "a", body: "a", header: []string{frame.HeaderSeq, "p"}, reason: "header", says: "Ds-Seq"},
		"mark without seq": {node: "n1", channel: "a", header: []string{frame.HeaderRun, ""}, reason: "header", says: "Ds-Seq"},
		"too big":          {node: "n1", channel: "a", body: strings.Repeat("x", 11), reason: "too_big", says: "at most 10"},
		"one too many":     {node: "n2", channel: "a", body: "x", reason: "streams", says: "no room"},
	} {
		t.Run(name, func(t *testing.T) {
			r := still(t, Config{Streams: 1, Mux: mux.Config{MaxFrame: 10}})
			now := time.Now()
			r.submit("n1", "a", "first")
			r.step(now)
			before := r.stream("n1").mux.Counts()
			r.publish("ds.submit."+c.node+"."+c.channel, r.box, c.body, c.header...)
			r.step(now)
			answers := r.answers(r.sofar())
			if len(answers) != 1 || !strings.Contains(answers[0].Error, c.says) {
				t.Errorf("the answers are %+v, want one that says %q", answers, c.says)
			}
			if after := r.stream("n1").mux.Counts(); after != before {
				t.Errorf("an answered refusal spent a position: %+v", after)
			}
			r.submit(c.node, c.channel, c.body, c.header...) // the same, nobody asks
			r.step(now)
			r.wantCounts("refused_total", map[string]float64{c.reason: 2})
			after := r.stream("n1").mux.Counts()
			if spent := after.Dropped[mux.ReasonRefused]; spent != uint64(after.Assigned-before.Assigned) || spent > 1 ||
				(spent == 1) != (c.node == "n1" && len(c.channel) == 1) {
				t.Errorf("unasked, it spent %d positions, %d for a refusal", after.Assigned-before.Assigned, spent)
			}
			if got := payloads(r.sofar(), "n1"); len(got) != 0 {
				t.Errorf("frames %v were published", got)
			}
		})
	}
}

// TestForeignSubjectsAreRefused is promise 4: a message whose own subject is
// not of its subscription's class is refused and counted, whatever it holds
// (P2.4).
func TestForeignSubjectsAreRefused(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	r.submit("n1", "a", "x")
	r.step(now)
	id := r.stream("n1").id
	space, life := subjects.Default(), id.Life.String()
	settled, beat := control.Settled{Below: 1}.Encode(), control.Beat{Assigned: 9, Instance: "i"}.Encode()
	refused := 0.0
	for _, c := range []struct {
		sub     *nats.Subscription
		subject string
		data    []byte
	}{
		{r.bus.subs.submit, "evil", nil},
		{r.bus.subs.submit, "ds.submit.n1", []byte("no channel")},
		{r.bus.subs.submit, space.Store(id, "a"), []byte("x")},
		{r.bus.subs.submit, space.Frame(id, "a"), []byte("x")},
		{r.bus.subs.settled, "evil", settled},
		{r.bus.subs.settled, space.Beat(id), settled},
		{r.bus.subs.settled, space.Settled(id) + ".x", settled},
		{r.bus.subs.settled, "ds.settled.n1." + strings.ToLower(life), settled},
		{r.bus.subs.settled, "ds.settled.n%31." + life, settled},
		{r.bus.subs.beat, space.Settled(id), beat},
		{r.bus.subs.beat, "ds.beat.n1.x", beat},
		{r.bus.subs.repair, space.Beat(id), control.RepairRequest{}.Encode()},
		{r.bus.subs.repair, "other.repair.n1." + life, control.RepairRequest{}.Encode()},
	} {
		r.bus.handle(&nats.Msg{Sub: c.sub, Subject: c.subject, Reply: r.box, Data: c.data}, now)
		refused++
		r.wantCounts("refused_total", map[string]float64{"foreign": refused})
	}
	if s := r.stream("n1"); s.below != 0 || s.mux.Counts().Assigned != 1 || len(r.bus.repairs) != 0 {
		t.Errorf("something foreign was believed: settled below %d, %+v, %d repairs", s.below, s.mux.Counts(), len(r.bus.repairs))
	}
}

// TestPushConsumerForgesNothing is promise 4 with a real forger: a consumer
// that delivers stored bytes to the mux's own subjects (P2.4).
func TestPushConsumerForgesNothing(t *testing.T) {
	r := still(t, Config{})
	r.submit("n1", "a", "x")
	r.step(time.Now())
	s := r.stream("n1")
	js, err := jetstream.New(r.other)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "EVIL", Subjects: []string{"evil.>"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "evil.settled", control.Settled{Below: 1}.Encode()); err != nil {
		t.Fatal(err)
	}
	// The server delivers once somebody listens at just this subject.
	if _, err := r.other.SubscribeSync(subjects.Default().Settled(s.id)); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreatePushConsumer(ctx, "EVIL", jetstream.ConsumerConfig{
		DeliverSubject: subjects.Default().Settled(s.id), AckPolicy: jetstream.AckNonePolicy,
	}); err != nil {
		t.Fatal(err)
	}
	harness.Until(t, "the forged message is refused", func() bool {
		r.pump(time.Now())
		return r.counts("refused_total")["foreign"] == 1
	})
	if s.below != 0 {
		t.Errorf("the mux believes that %d is settled", s.below)
	}
}

// TestBadControlIsRefused: control messages that say nothing sound are counted.
func TestBadControlIsRefused(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	r.submit("n1", "a", "x")
	r.step(now)
	id := r.stream("n1").id
	r.publish(subjects.Default().Settled(id), "", "{")
	r.publish(subjects.Default().Beat(id), "", `{"assigned":1,"drained":2}`)
	r.publish(subjects.Default().Repair(id), r.box, `{"ranges":[[2,1]]}`)
	r.step(now)
	r.wantCounts("refused_total", map[string]float64{"control": 3})
	// What cannot be so is not believed, though it reads well.
	r.settle(id, control.Settled{Below: 7})
	r.settle(subjects.Stream{Node: "n1", Life: subjects.MintLife(now)}, control.Settled{Below: 1})
	r.step(now)
	if s := r.stream("n1"); s.below != 0 {
		t.Errorf("settled below %d, of 1 position", s.below)
	}
}

// TestAnswersGoUnderInboxAlone is promise 5: whatever reply subject a client
// names, nothing is published there unless it is an inbox; the submission is
// taken all the same (P2.4).
func TestAnswersGoUnderInboxAlone(t *testing.T) {
	r := still(t, Config{})
	now := time.Now()
	heard, err := r.other.SubscribeSync("ds.beat.evil.>")
	if err != nil {
		t.Fatal(err)
	}
	const evil = "ds.beat.evil.x" // the mux is allowed to publish there
	r.publish("ds.submit.n1.a", evil, "taken")
	r.publish("ds.submit.n1.a", evil, "paced", frame.HeaderSeq, "p:0")
	r.publish("ds.submit.n1.a", evil, "refused", frame.HeaderRun, "9,9")
	r.publish("ds.submit.n1.a", evil, "waits", frame.HeaderAck, frame.AckCommitted)
	r.publish("ds.submit."+strings.Repeat("n", subjects.MaxNode+1)+".a", evil, "no name")
	r.pump(now)
	r.drain()
	s := r.stream("n1")
	r.publish(subjects.Default().Repair(s.id), evil, string(control.RepairRequest{Ranges: []control.Range{{}}}.Encode()))
	r.settle(s.id, control.Settled{Below: 1})
	r.step(now)
	r.flush(r.nc)
	r.flush(r.other)
	if m, err := heard.NextMsg(time.Nanosecond); err == nil {
		t.Errorf("it answered on %s: %s", m.Subject, m.Data)
	}
	if got := r.counts("refused_total")["reply"]; got != 6 {
		t.Errorf("%v reply subjects were refused, want 6", got)
	}
	if c := s.mux.Counts(); c.Assigned != 4 || c.Lost() != 1 {
		t.Errorf("three should have been taken, and one position spent on a refusal: %+v", c)
	}
}
