package invariant

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/stack"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// A bystander is a good stream that runs beside something bad and must stay
// complete.
type bystander struct {
	p    *pipe
	nc   *nats.Conn
	node subjects.Node
	sent int
	st   subjects.Stream
}

func (p *pipe) bystander(t testing.TB) *bystander {
	t.Helper()
	return &bystander{p: p, nc: p.dial(t, server.Anonymous), node: node(t) + "-beside"}
}

// step submits one frame more.
func (b *bystander) step(t testing.TB) {
	t.Helper()
	st, pos := b.p.submit(t, b.nc, b.node, "good", fmt.Append(nil, b.sent))
	if b.sent > 0 && (st != b.st || pos != subjects.Position(b.sent)) {
		t.Fatalf("beside: frame %d has position %v of %v", b.sent, pos, st)
	}
	b.st = st
	b.sent++
}

// complete checks that everything is stored.
func (b *bystander) complete(t testing.TB) {
	t.Helper()
	b.step(t)
	l := b.p.stored(t, b.st, b.sent)
	for i, got := range l.payloads("good") {
		if got != fmt.Sprint(i) {
			t.Errorf("beside: position %d holds %q", i, got)
		}
	}
	if g := l.gaps(); len(g) > 0 || len(l.frames) != b.sent {
		t.Errorf("beside: %d frames of %d, gaps %v", len(l.frames), b.sent, g)
	}
}

// TestRefusedSubmissions: each kind of bad submission gets an answer that says
// what was wrong, is counted by its reason, and takes no position; sent without
// a reply it is a loss that nobody but the mux can see, and so spends one.
func TestRefusedSubmissions(t *testing.T) {
	p, n := open(t, func(o *stack.Options) { o.Mux.MaxFrame = 1 << 20 }), node(t)
	nc, beside := p.dial(t, server.Anonymous), p.bystander(t)
	space := p.Space()
	to := func(subject string) *nats.Msg { return &nats.Msg{Subject: subject, Header: nats.Header{}} }
	prefix := strings.TrimSuffix(space.Submit("n", "c"), "n.c")
	for _, x := range []struct {
		name, counter, says string
		m                   *nats.Msg
		nameless            bool // of no stream, that could spend a position
	}{
		{"channel too long", "name", "channel has 513 bytes", to(prefix + string(n) + "." + strings.Repeat("c", 513)), true},
		{"channel empty", "name", "channel is empty", to(prefix + string(n) + ".%"), true},
		{"channel too long decoded", "name", "channel has 514 bytes", to(prefix + string(n) + "." + strings.Repeat("%00", 514)), true},
		{"node too long", "name", "node has 129 bytes", to(prefix + strings.Repeat("n", 129) + ".c"), true},
		{"no channel", "foreign", "no channel", to(prefix + string(n)), true},
		{"payload over 1 MiB", "too_big", "at most 1048576", p.message(n, "c", make([]byte, 1<<20+1)), false},
		{"payload over 7 MiB", "run", "at most 7340032", p.message(n, "c", make([]byte, 7<<20+1)), false},
		{"one payload of a run over 1 MiB", "too_big", "at most 1048576", p.message(n, "c", append([]byte("a\n"), make([]byte, 1<<20+1)...), frame.HeaderRun, "1,1048577"), false},
		{"lengths below the body", "run", "make 3 bytes, the body has 4", p.message(n, "c", []byte("a\nbc"), frame.HeaderRun, "1,1"), false},
		{"lengths above the body", "run", "pass the body's 3 bytes", p.message(n, "c", []byte("a\nb"), frame.HeaderRun, "1,2"), false},
		{"no newline between", "run", "no newline at byte 1", p.message(n, "c", []byte("abc"), frame.HeaderRun, "1,1"), false},
		{"a negative length", "run", "length", p.message(n, "c", []byte("a\nb"), frame.HeaderRun, "-1,4"), false},
		{"a huge length", "run", "length", p.message(n, "c", []byte("a\nb"), frame.HeaderRun, "1,18446744073709551617"), false},
		{"a skip", "run", "no skip", p.message(n, "c", []byte("a\nb"), frame.HeaderRun, "1,1+5"), false},
		{"too many lengths", "run", "4097 lengths", p.message(n, "c", bytes.Repeat([]byte("\n"), 4096), frame.HeaderRun, "0"+strings.Repeat(",0", 4096)), false},
		{"Ds-Run twice", "header", "Ds-Run stands 2 times", p.message(n, "c", []byte("a\nb"), frame.HeaderRun, "1,1", frame.HeaderRun, "1,1"), false},
		{"Ds-Seq twice", "header", "Ds-Seq stands 2 times", p.message(n, "c", []byte("a"), frame.HeaderSeq, "a:0", frame.HeaderSeq, "a:0"), false},
		{"Ds-Seq without colon", "header", "Ds-Seq", p.message(n, "c", []byte("a"), frame.HeaderSeq, "a"), false},
		{"Ds-Seq without producer", "header", "Ds-Seq", p.message(n, "c", []byte("a"), frame.HeaderSeq, ":1"), false},
		{"Ds-Seq with a huge number", "header", "Ds-Seq", p.message(n, "c", []byte("a"), frame.HeaderSeq, "a:18446744073709551616"), false},
		{"Ds-Seq with a negative number", "header", "Ds-Seq", p.message(n, "c", []byte("a"), frame.HeaderSeq, "a:-1"), false},
		{"Ds-Seq with a producer of 1 KiB", "header", "Ds-Seq", p.message(n, "c", []byte("a"), frame.HeaderSeq, strings.Repeat("p", 1024)+":1"), false},
		{"a mark without Ds-Seq", "header", "a mark (empty Ds-Run) needs a Ds-Seq", p.message(n, "c", nil, frame.HeaderRun, ""), false},
		{"a mark with a body", "run", "the body has 1 bytes", p.message(n, "c", []byte("a"), frame.HeaderRun, "", frame.HeaderSeq, "a:0"), false},
	} {
		t.Run(x.name, func(t *testing.T) {
			st, before := p.submit(t, nc, n, "c", []byte("before"))
			refused := p.grows(t, "ds_mux_refused_total", x.counter)
			a := ask(t, nc, x.m)
			if !strings.Contains(a.Error, x.says) {
				t.Errorf("the answer is %q; it should say %q", a.Error, x.says)
			}
			refused(1)
			_, after := p.submit(t, nc, n, "c", []byte("after"))
			if after != before+1 {
				t.Errorf("what was refused with an answer spent %d positions", after-before-1)
			}
			beside.step(t)
			unseen := p.grows(t, "ds_mux_dropped_frames_total", "refused")
			x.m.Reply = ""
			publish(t, nc, x.m)
			flush(t, nc)
			refused(2)
			_, last := p.submit(t, nc, n, "c", []byte("last"))
			want := subjects.Position(1)
			if x.nameless || strings.HasPrefix(x.name, "a mark with a body") {
				want = 0 // a numbered loss shows in the producer's next number
			}
			unseen(uint64(want))
			if last != after+1+want {
				t.Errorf("what was refused unseen spent %d positions, not %d", last-after-1, want)
			}
			p.eventually(t, "the last frame is stored", st, func(l *life) bool { _, ok := l.frames[last]; return ok })
			beside.step(t)
		})
	}
	beside.complete(t)
}

// TestMaxFrameIsConfigured: a mux told a smaller max_frame refuses by it.
func TestMaxFrameIsConfigured(t *testing.T) {
	p, n := open(t, func(o *stack.Options) { o.Mux.MaxFrame = 100 }), node(t)
	nc := p.dial(t, server.Anonymous)
	refused := p.grows(t, "ds_mux_refused_total", "too_big")
	if a := ask(t, nc, p.message(n, "c", make([]byte, 101))); !strings.Contains(a.Error, "101 bytes, at most 100") {
		t.Errorf("the answer is %q", a.Error)
	}
	if a := ask(t, nc, p.message(n, "c", make([]byte, 101), frame.HeaderSeq, "paced:0")); !strings.Contains(a.Error, "101 bytes, at most 100") {
		t.Errorf("the answer is %q", a.Error)
	}
	refused(2)
	st, _ := p.submit(t, nc, n, "c", make([]byte, 100))
	p.one(t, n, "c", strings.Repeat("x", 101)) // in process: dropped and counted
	p.submit(t, nc, n, "c", nil)
	gapsAre(t, p.stored(t, st, 2), control.Range{From: 1, To: 1})
	if got := p.count(t, "ds_mux_dropped_frames_total", "too_big"); got != 1 {
		t.Errorf("%d frames were dropped as too big", got)
	}
}

// TestHostileNumbers: what Ds-Seq says spends exactly the positions that P4.2
// gives it, and never more than 2^20 at once.
func TestHostileNumbers(t *testing.T) {
	p, n := shared(t), node(t)
	nc, beside := p.dial(t, server.Anonymous), p.bystander(t)
	st, last := p.submit(t, nc, n, "c", []byte("start"))
	// expect sends a numbered frame and says how many positions it is to spend
	// before its own.
	expect := func(what, seq string, missing subjects.Position) {
		t.Helper()
		publish(t, nc, p.message(n, "c", []byte(seq), frame.HeaderSeq, seq))
		flush(t, nc)
		_, next := p.submit(t, nc, n, "c", []byte("next"))
		if got := next - last - 2; got != missing {
			t.Errorf("%s (%s) spent %d positions, not %d", what, seq, got, missing)
		}
		last = next
		beside.step(t)
	}
	expect("an unknown producer that begins at 0", "a:0", 0)
	expect("the next number", "a:1", 0)
	expect("a step", "a:5", 3)
	expect("going back", "a:2", 1)
	expect("a step of 2^20", "a:1048579", 1<<20)
	expect("a step of 2^21", "a:3145732", 1)
	expect("the last number", "a:18446744073709551615", 1)
	expect("a number after the last", "a:18446744073709551615", 0)
	expect("back to the start", "a:0", 1)
	expect("an unknown producer at the last number", "b:18446744073709551615", 1)
	expect("an unknown producer at 7", "c:7", 1)
	p.settled(t)
	p.eventually(t, "the last frame is stored", st, func(l *life) bool { _, ok := l.frames[last]; return ok })
	beside.complete(t)
}

// TestSeventyThousandProducers: the mux remembers those last heard, 65 536 of
// them; what it forgot is a new start.
func TestSeventyThousandProducers(t *testing.T) {
	p, n := shared(t), node(t)
	nc, beside := p.dial(t, server.Anonymous), p.bystander(t)
	number := func(seq string) { publish(t, nc, p.message(n, "c", []byte(seq), frame.HeaderSeq, seq)) }
	crowd := func(from, to int) {
		for i := from; i < to; i++ {
			publish(t, nc, p.message(n, "c", nil, frame.HeaderRun, "", frame.HeaderSeq, fmt.Sprintf("crowd-%d:0", i)))
			if i%5000 == 0 {
				beside.step(t) // its answer says that the mux keeps up
			}
		}
	}
	number("early:0")
	crowd(0, 35000)
	number("late:0")
	number("known:0")
	crowd(35000, 70000)
	number("known:3") // remembered: two are missing
	number("early:9") // forgotten: nobody knows how many
	flush(t, nc)
	st, next := p.submit(t, nc, n, "c", []byte("next"))
	if want := subjects.Position(5 + 2 + 1); next != want {
		t.Errorf("the next position is %v, not %v", next, want)
	}
	p.eventually(t, "the last frame is stored", st, func(l *life) bool { _, ok := l.frames[next]; return ok })
	beside.complete(t)
}

// TestNonsenseInDsAck: the frames are taken, and the answer says what it did
// not understand.
func TestNonsenseInDsAck(t *testing.T) {
	p, n := shared(t), node(t)
	nc := p.dial(t, server.Anonymous)
	for i, ack := range [][]string{{"stored"}, {"Committed"}, {"committed", "committed"}, {"\xff"}, {strings.Repeat("a", 5000)}} {
		m := p.message(n, "c", []byte("x"))
		m.Header[frame.HeaderAck] = ack
		a := ask(t, nc, m)
		if !strings.Contains(a.Error, "taken, but Ds-Ack") {
			t.Errorf("%.20q: the answer is %q", ack, a.Error)
		}
		_, next := p.submit(t, nc, n, "c", []byte("y"))
		if next != subjects.Position(2*i+1) {
			t.Errorf("%.20q: the next position is %v", ack, next)
		}
	}
	a := ask(t, nc, p.message(n, "c", []byte("z"), frame.HeaderAck, "")) // empty is absent
	if a.Error != "" {
		t.Errorf("an empty Ds-Ack: %q", a.Error)
	}
	l := p.stored(t, subjects.Stream{Node: n, Life: a.Life}, 11)
	gapsAre(t, l)
}

// TestForgedFrames: what a privileged but confused publisher sends under
// ds.frame is refused by its subject, its life or its headers, counted, and
// changes nothing.
func TestForgedFrames(t *testing.T) {
	p, n := open(t, nil), node(t)
	beside := p.bystander(t)
	p.watcher.tamper()
	f := p.invent(t, n)
	f.frame("c", 0, "0")
	head := "ds.frame." + string(n) + "."
	life, unknown := f.st.Life.String(), subjects.MintLife(time.Now()).String()
	pos := []string{frame.HeaderPos, "1"}
	for _, x := range []struct {
		name, counter, subject, payload string
		headers                         []string
	}{
		{"a life that nobody knows", "unknown_life", head + unknown + ".c", "x", pos},
		{"a life in lower case", "foreign", head + strings.ToLower(life) + ".c", "x", pos},
		{"no life", "foreign", head + "c.c", "x", pos},
		{"no channel", "foreign", head + life, "x", pos},
		{"a channel spelled otherwise", "foreign", head + life + ".%63", "x", pos},
		{"escapes in lower case", "foreign", head + life + ".%2a", "x", pos},
		{"a literal wildcard", "foreign", head + life + ".*", "x", pos},
		{"a stray percent", "foreign", head + life + ".50%", "x", pos},
		{"a node spelled otherwise", "foreign", "ds.frame.%6E." + life + ".c", "x", pos},
		{"a channel too long", "foreign", head + life + "." + strings.Repeat("c", 513), "x", pos},
		{"no position", "run", head + life + ".c", "x", nil},
		{"a position below 0", "run", head + life + ".c", "x", []string{frame.HeaderPos, "-1"}},
		{"two positions", "header", head + life + ".c", "x", []string{frame.HeaderPos, "1", frame.HeaderPos, "1"}},
		{"a position with zeros", "run", head + life + ".c", "x", []string{frame.HeaderPos, "01"}},
		{"lengths that do not sum", "run", head + life + ".c", "a\nbc", append([]string{frame.HeaderRun, "1,1"}, pos...)},
		{"a skip past the end", "run", head + life + ".c", "a\nb", append([]string{frame.HeaderRun, "1,1+18446744073709551614"}, pos...)},
		{"a mark", "run", head + life + ".c", "", append([]string{frame.HeaderRun, ""}, pos...)},
	} {
		refused := p.grows(t, "ds_ingest_refused_total", x.counter)
		f.raw(x.subject, x.payload, x.headers...)
		refused(1)
		beside.step(t)
		if t.Failed() {
			t.Fatal(x.name)
		}
	}
	f.frame("c", 1, "1")
	l := p.stored(t, f.st, 2)
	if gapsAre(t, l); len(l.frames) != 2 {
		t.Errorf("%d frames are stored", len(l.frames))
	}
	if got := len(p.archive.of(n)); got != 1 {
		t.Errorf("%d lives are stored", got)
	}
	beside.complete(t)
}

// TestForgedControl: beats that contradict themselves, announcements beyond
// what was assigned, and repair requests that are too much are refused or
// harmless, and the streams they speak of go on.
func TestForgedControl(t *testing.T) {
	p, n := open(t, nil), node(t)
	nc, beside := p.dial(t, server.Anonymous), p.bystander(t)
	p.watcher.tamper()
	muxd, ingest := p.dial(t, server.Muxd), p.dial(t, server.Ingestd)
	st, _ := p.submit(t, nc, n, "c", []byte("0"))
	p.stored(t, st, 1)
	p.settled(t)
	send := func(as *nats.Conn, subject, body, counter, reason string) {
		t.Helper()
		refused := p.grows(t, counter, reason)
		publish(t, as, &nats.Msg{Subject: subject, Data: []byte(body)})
		flush(t, as)
		refused(1)
		beside.step(t)
	}
	for _, body := range []string{
		`{"assigned":1,"drained":2}`, `{"assigned":5,"drained":3,"oldest":4}`, `{"assigned":1,"below":2}`, `{"assigned":1,"dropped":2}`,
		`{"assigned":-1}`, `{"assigned":18446744073709551616}`, `{"assigned":1.5}`, `[]`, `nonsense`, ``, `{"assigned":"1"}`,
		`{"instance":"` + strings.Repeat("i", 129) + `"}`, `{"x":"` + strings.Repeat("x", 5<<20) + `"}`,
	} {
		send(muxd, p.Space().Beat(st), body, "ds_ingest_refused_total", "control")
	}
	send(muxd, "ds.beat."+string(n)+"."+strings.ToLower(st.Life.String()), `{}`, "ds_ingest_refused_total", "foreign")
	send(muxd, "ds.beat.%6E."+st.Life.String(), `{}`, "ds_ingest_refused_total", "foreign")
	for _, body := range []string{
		`{"below":1,"lost":2}`, `{"below":-1}`, `{"gone":[[3,2]]}`, `{"gone":[[1,2],[2,3]]}`, `{"gone":[[1]]}`, `nonsense`,
		`{"gone":[` + strings.Repeat("[0,0],", 2000) + `[0,0]]}`,
	} {
		send(ingest, p.Space().Settled(st), body, "ds_mux_refused_total", "control")
	}
	for _, body := range []string{`{"below":999}`, `{"below":18446744073709551615,"lost":1}`, `{"below":0}`} { // beyond, or old: ignored
		publish(t, ingest, &nats.Msg{Subject: p.Space().Settled(st), Data: []byte(body)})
	}
	flush(t, ingest)
	for _, body := range []string{
		`{"ranges":[[2,1]]}`, `{"ranges":[[0,18446744073709551615]]}`, `{"ranges":[[5,6],[1,2]]}`, `{"ranges":[[0,0]` + strings.Repeat(",[0,0]", 2000) + `]}`,
		`{"ranges":[[0,0]` + strings.Repeat(" ", 5<<20) + `]}`, `nonsense`,
	} {
		refused := p.grows(t, "ds_mux_refused_total", "control")
		if err := ingest.PublishRequest(p.Space().Repair(st), ingest.NewInbox(), []byte(body)); err != nil {
			t.Fatal(err)
		}
		flush(t, ingest)
		refused(1)
		beside.step(t)
	}
	r, err := ingest.Request(p.Space().Repair(st), []byte(`{"ranges":[[0,18446744073709551614]]}`), harness.Patience)
	if err != nil {
		t.Fatal(err)
	}
	a, err := control.DecodeRepairAnswer(r.Data)
	if err != nil || len(a.Sent) > 0 || sum(a.Gone) != 1 || len(a.Pending) != 1 || a.Pending[0].From != 1 {
		t.Errorf("everything was asked for of a stream that is settled below 1: %s, %v", r.Data, err)
	}
	send(ingest, p.Space().Repair(st), `{}`, "ds_mux_refused_total", "reply")
	p.undisturbed(t, nc, st, 1)
	beside.complete(t)
}
