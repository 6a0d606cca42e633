package invariant

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/producer/emit"
	"datastream/stack"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// TestPacedOrder: the mux takes only the run that begins with the number it
// expects of the producer, whole; one that begins later is told where to go on
// and spends nothing; one that was taken is answered again, not taken again
// (P4.3).
func TestPacedOrder(t *testing.T) {
	p, n := shared(t), node(t)
	nc := p.dial(t, server.Anonymous)
	run := func(seq string, bodies ...string) control.Answer {
		t.Helper()
		var c frame.Cutter
		for i, b := range bodies {
			c.Add(frame.Single("c", subjects.Position(i), []byte(b)), false)
		}
		r := c.Runs(nil)[0].Run
		headers := []string{frame.HeaderSeq, seq}
		if h := r.Header(); h != "" {
			headers = append(headers, frame.HeaderRun, h)
		}
		return ask(t, nc, p.message(n, "c", r.Body(), headers...))
	}
	want := func(got control.Answer, pos subjects.Position, count int) {
		t.Helper()
		if got.Error != "" || got.Position != pos || got.Count != count {
			t.Errorf("the answer is %+v, not position %v, count %d", got, pos, count)
		}
	}
	wantOrder := func(got control.Answer, next uint64) {
		t.Helper()
		if got.Error != control.ErrorOrder || got.Next != next {
			t.Errorf("the answer is %+v, not order, next %d", got, next)
		}
	}
	wantOrder(run("a:5", "x"), 0)
	first := run("a:0", "0", "1", "2")
	want(first, 0, 3)
	want(run("a:0", "0", "1", "2"), 0, 3) // as before, and not taken again
	wantOrder(run("a:4", "x"), 3)
	want(run("b:0", "3"), 3, 1) // another producer has numbers of its own
	want(run("a:3", "4", "5"), 4, 2)
	want(run("a:3", "4", "5"), 4, 2)
	if a := run("a:1", "1", "2"); a.Error == "" || a.Error == control.ErrorOrder {
		t.Errorf("a run cut otherwise than the one that was taken: %+v", a)
	}
	if a := run("c:18446744073709551615", "x"); a.Error != control.ErrorOrder || a.Next != 0 {
		if a.Error == "" {
			t.Errorf("the last number of an unknown producer: %+v", a)
		}
	}
	want(run("a:5", "6"), 6, 1)
	l := p.stored(t, subjects.Stream{Node: n, Life: first.Life}, 7)
	gapsAre(t, l)
	if got := l.payloads("c"); !slices.Equal(got, texts(0, 7)) {
		t.Errorf("stored: %q", got)
	}
}

// TestPacedRoom: while ingest is away the mux takes paced frames up to its room
// and holds the next run; when that is held too long it is refused, has spent
// nothing, and is taken when it comes again after ingest is back (P4.3).
func TestPacedRoom(t *testing.T) {
	p := open(t, func(o *stack.Options) { o.Mux.PacedBytes = 4 << 10 })
	nc, n := p.dial(t, server.Anonymous), node(t)
	st, _ := p.submit(t, nc, n, "c", []byte("start"))
	p.settled(t)
	p.StopIngest()
	payload := make([]byte, 1000)
	answers, err := nc.SubscribeSync(nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	send := func(i int) {
		m := p.message(n, "c", payload, frame.HeaderSeq, fmt.Sprintf("a:%d", i))
		m.Reply = answers.Subject
		publish(t, nc, m)
	}
	next := func() control.Answer {
		t.Helper()
		m, err := answers.NextMsg(harness.Patience)
		if err != nil {
			t.Fatal(err)
		}
		a, err := control.DecodeAnswer(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for i := range 5 {
		send(i)
	}
	for i := range 3 { // 1065 bytes each with what a frame costs beside its payload
		if a := next(); a.Error != "" || a.Position != subjects.Position(1+i) {
			t.Fatalf("run %d: %+v", i, a)
		}
	}
	for i := range 2 { // held together, and refused together
		if a := next(); (a.Error != control.ErrorRoom && a.Error != control.ErrorOrder) || a.Next != 3 {
			t.Fatalf("held run %d: %+v", 3+i, a)
		}
	}
	if got := p.count(t, "ds_mux_positions_total"); got != 4 {
		t.Errorf("%d positions are spent; what was refused spends none", got)
	}
	if err := p.StartIngest(within(t)); err != nil {
		t.Fatal(err)
	}
	// Until the next beat ingest does not know what it missed, and the run may
	// be held too long once more; then it comes again, as a handle would send it.
	a := control.Answer{Error: control.ErrorRoom}
	for tries := 0; a.Error == control.ErrorRoom && tries < 5; tries++ {
		send(3)
		a = next()
	}
	if a.Error != "" || a.Position != 4 {
		t.Fatalf("run 3, when there is room: %+v", a)
	}
	send(4)
	if a := next(); a.Error != "" || a.Position != 5 {
		t.Fatalf("run 4: %+v", a)
	}
	gapsAre(t, p.stored(t, st, 6))
}

// TestWindowFillsAndDrains: an importer fills its window while ingest is
// stopped, waits, and loses nothing: when ingest is back everything is settled.
func TestWindowFillsAndDrains(t *testing.T) {
	const frames = 2000
	p := open(t, func(o *stack.Options) { o.Mux.PacedBytes = 64 << 10 })
	n := node(t)
	h, err := emit.OpenPaced(p.dial(t, server.Anonymous), n, emit.WithWindow(8, 64<<10), emit.WithBuffer(100, 64<<10))
	if err != nil {
		t.Fatal(err)
	}
	p.StopIngest()
	done := make(chan error, 1)
	go func() {
		for i := range frames {
			if err := h.Submit(within(t), subjects.Channel(fmt.Sprint("c", i%3)), fmt.Append(nil, i)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	harness.Until(t, "the mux's room is full", func() bool { return p.count(t, "ds_mux_positions_total") > 400 })
	if r := h.Report(); r.Settled > 0 || r.Submitted == frames {
		t.Errorf("without ingest: %+v", r)
	}
	if err := p.StartIngest(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if r, err := h.Close(within(t)); err != nil || r.Settled != frames || r.Lost+r.Unknown > 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	p.archive.read(t)
	l := p.archive.life(p.archive.one(t, n))
	if gapsAre(t, l); len(l.frames) != frames {
		t.Errorf("%d frames are stored: an importer's are neither lost nor doubled", len(l.frames))
	}
	for c := range 3 {
		for i, got := range l.payloads(subjects.Channel(fmt.Sprint("c", c))) {
			if got != fmt.Sprint(3*i+c) {
				t.Fatalf("channel %d: frame %d is %q", c, i, got)
			}
		}
	}
}

// TestCommittedMeansStored: with Ds-Ack: committed an answer comes only after
// the frame is in the store, for paced and unpaced submissions (P4.4).
func TestCommittedMeansStored(t *testing.T) {
	p := open(t, nil)
	nc, n := p.dial(t, server.Anonymous), node(t)
	st, _ := p.submit(t, nc, n, "c", []byte("start"))
	p.settled(t)
	p.StopIngest()
	answers := make(chan *nats.Msg, 10)
	sub, err := nc.ChanSubscribe(nc.NewInbox()+".*", answers)
	if err != nil {
		t.Fatal(err)
	}
	inbox := sub.Subject[:len(sub.Subject)-1]
	for i, headers := range [][]string{{}, {frame.HeaderSeq, "a:0"}, {frame.HeaderRun, "1,1"}} {
		m := p.message(n, "c", []byte("x\ny"), append([]string{frame.HeaderAck, frame.AckCommitted}, headers...)...)
		m.Reply = inbox + fmt.Sprint(i)
		publish(t, nc, m)
	}
	// Submissions are taken in turn: this one's answer comes after the others'
	// frames were buffered, and none of them is committed.
	if _, pos := p.submit(t, nc, n, "c", []byte("plain")); pos != 5 {
		t.Errorf("the next position is %v", pos)
	}
	flush(t, nc)
	if len(answers) > 0 {
		t.Fatalf("nothing is stored, and the answer is %s", (<-answers).Data)
	}
	if err := p.StartIngest(within(t)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var m *nats.Msg
		select {
		case m = <-answers:
		case <-time.After(harness.Patience):
			t.Fatal("no answer")
		}
		p.archive.read(t) // at once
		a, err := control.DecodeAnswer(m.Data)
		if err != nil || a.Error != "" {
			t.Fatalf("%s: %v", m.Data, err)
		}
		l := p.archive.life(st)
		for i := range a.Count {
			if _, ok := l.frames[a.Position+subjects.Position(i)]; !ok {
				t.Errorf("%s says that position %d is committed; it is not in the store", m.Data, int(a.Position)+i)
			}
		}
	}
	gapsAre(t, p.stored(t, st, 6))
}
