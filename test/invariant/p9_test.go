package invariant

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"datastream/producer/emit"
	"datastream/stack"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// opaque are payloads that something would like to interpret.
func opaque() (out [][]byte) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
		out = append(out, []byte{byte(i)})
	}
	for _, s := range []string{
		"", "\n", "\n\n\n", "a\nb", "{\"a\":", "not-json{", "null", "\xde\xad\xbe\xef", "\xff\xfe\x00\x00", "Ds-Pos: 7\r\n\r\n",
		"+OK\r\n", "PUB ds.store.n1 2\r\nhi\r\n", strings.Repeat("\x00", 4096), "\x81\xa1a\xc1", "18446744073709551615",
	} {
		out = append(out, []byte(s))
	}
	return append(out, all, bytes.Repeat(all, 4096)) // 1 MiB: the largest
}

// TestP9_1_OpaquePayloads: whatever the bytes, they come out as they went in, on
// every way in: a plain publish, a run, both handles, and in process.
func TestP9_1_OpaquePayloads(t *testing.T) {
	p, n := shared(t), node(t)
	nc := p.dial(t, server.Anonymous)
	want := opaque()
	for _, b := range want {
		publish(t, nc, p.message(n, "plain", b))
	}
	flush(t, nc)
	small := want[:len(want)-1]
	run, lengths := bytes.Join(small, []byte("\n")), make([]string, len(small))
	for i, b := range small {
		lengths[i] = fmt.Sprint(len(b))
	}
	if a := ask(t, nc, p.message(n, "run", run, frame.HeaderRun, strings.Join(lengths, ","))); a.Error != "" || a.Count != len(small) {
		t.Fatalf("the run: %+v", a)
	}
	observer, err := emit.Open(nc, n)
	if err != nil {
		t.Fatal(err)
	}
	importer, err := emit.OpenPaced(nc, n)
	if err != nil {
		t.Fatal(err)
	}
	local := emit.InProcess(p.Mux(), n)
	for _, b := range want {
		observer.Submit("observer", b)
		local.Submit("local", b)
		if err := importer.Submit(within(t), "importer", b); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := observer.Close(within(t)); err != nil {
		t.Fatal(err, s)
	}
	if r, err := importer.Close(within(t)); err != nil {
		t.Fatal(err, r)
	}
	p.settled(t)
	p.archive.read(t)
	st := p.archive.one(t, n)
	l := p.archive.life(st)
	if g := l.gaps(); len(g) > 0 {
		t.Errorf("gaps %v", g)
	}
	for c, want := range map[subjects.Channel][][]byte{"plain": want, "run": small, "observer": want, "importer": want, "local": want} {
		got := l.payloads(c)
		if len(got) != len(want) {
			t.Errorf("channel %s has %d frames, not %d", c, len(got), len(want))
			continue
		}
		for i := range want {
			if got[i] != string(want[i]) {
				t.Errorf("channel %s, frame %d: %.40q was stored, %.40q was submitted", c, i, got[i], want[i])
			}
		}
	}
}

// TestP9_2_GapFreeNumbering: eight producers at once, each of 500 submissions:
// every position of 0 … 3999 is given once, and each producer's frames keep
// their order.
func TestP9_2_GapFreeNumbering(t *testing.T) {
	const producers, each = 8, 500
	p, n := shared(t), node(t)
	local := emit.InProcess(p.Mux(), n)
	var all sync.WaitGroup
	for i := range producers {
		channel := subjects.Channel(fmt.Sprintf("c.%d", i%3*producers+i))
		var h emit.Handle = local
		if i%2 == 1 {
			remote, err := emit.Open(p.dial(t, server.Anonymous), n)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = remote.Close(within(t)) }()
			h = remote
		}
		all.Go(func() {
			for k := range each {
				h.Submit(channel, fmt.Append(nil, k))
			}
		})
	}
	all.Wait()
	harness.Until(t, "everything has arrived", func() bool {
		p.archive.read(t)
		streams := p.archive.of(n)
		return len(streams) == 1 && len(p.archive.life(streams[0]).frames) >= producers*each
	})
	l := p.archive.life(p.archive.one(t, n))
	for i, pos := range l.positions() {
		if pos != subjects.Position(i) {
			t.Fatalf("the %d. position is %v", i, pos)
		}
	}
	if len(l.frames) != producers*each {
		t.Errorf("%d frames are stored, %d were submitted", len(l.frames), producers*each)
	}
	ascending(t, l)
	for i := range producers {
		for k, got := range l.payloads(subjects.Channel(fmt.Sprintf("c.%d", i%3*producers+i))) {
			if got != fmt.Sprint(k) {
				t.Fatalf("producer %d: frame %d is %q", i, k, got)
			}
		}
	}
}

// TestP9_3_DropsAreDetectable: behind the mux whatever its buffer drops, before
// it whatever a numbered or a requested submission lost, is known exactly.
func TestP9_3_DropsAreDetectable(t *testing.T) {
	p := open(t, func(o *stack.Options) { o.Mux.BufferFrames = 2 })
	nc, n := p.dial(t, server.Anonymous), node(t)
	st, _ := p.submit(t, nc, n, "c", []byte("first"))
	p.stored(t, st, 1)
	dropped := p.grows(t, "ds_mux_dropped_frames_total", "buffer")
	missing := p.grows(t, "ds_mux_dropped_frames_total", "producer")

	p.courier.close()
	errors, kept := 0, 0
	for range 40 {
		if a := ask(t, nc, p.message(n, "c", []byte("x"))); a.Error != "" {
			errors++
		} else {
			kept++
		}
	}
	dropped(uint64(errors))
	p.courier.open()
	p.stored(t, st, 1+kept)
	p.settled(t)

	// A numbered producer: 0, 1, then 4 and 5 as a run, then 9 is said by a mark.
	publish(t, nc, p.message(n, "numbered", []byte("0"), frame.HeaderSeq, "me:0"))
	publish(t, nc, p.message(n, "numbered", []byte("1"), frame.HeaderSeq, "me:1"))
	flush(t, nc)
	p.stored(t, st, 1+kept+2)
	publish(t, nc, p.message(n, "numbered", []byte("4\n5"), frame.HeaderSeq, "me:4", frame.HeaderRun, "1,1"))
	flush(t, nc)
	p.stored(t, st, 1+kept+4)
	publish(t, nc, p.message(n, "numbered", nil, frame.HeaderSeq, "me:9", frame.HeaderRun, ""))
	flush(t, nc)
	missing(2 + 3)
	p.settled(t)
	p.StopMux() // with its last beat the life is over
	harness.Until(t, "ingest has closed the life", func() bool { _, s := p.watcher.account(st); return s.Closed })
	p.archive.read(t)
	beat, settled := p.watcher.account(st)
	l := p.archive.life(st)
	lost := uint64(errors) + 5
	switch gaps := sum(l.gapsTo(beat.Assigned)); {
	case beat.Assigned != subjects.Position(1+40+2+2+2+3):
		t.Errorf("%v positions were assigned", beat.Assigned)
	case gaps != lost, settled.Lost != lost, beat.Dropped != lost:
		t.Errorf("lost %d; the store's gaps say %d, ingest %d, the mux %d", lost, gaps, settled.Lost, beat.Dropped)
	case uint64(beat.Assigned) != uint64(len(l.frames))+gaps:
		t.Errorf("assigned %v, committed %d, gaps %d", beat.Assigned, len(l.frames), gaps)
	}
}

// TestP9_4_NoBackPressureOnObservers: with ingest stopped and the mux's way out
// shut, observers go on: every Submit returns, in process and over NATS, and
// what found no room is counted. Would one wait, this test never ended.
func TestP9_4_NoBackPressureOnObservers(t *testing.T) {
	const calls = 1000
	p := open(t, func(o *stack.Options) { o.Mux.BufferFrames = 10 })
	n := node(t)
	local := emit.InProcess(p.Mux(), n)
	remote, err := emit.Open(p.dial(t, server.Anonymous), n, emit.WithBuffer(10, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	p.StopIngest()
	p.courier.close()
	for range calls {
		local.Submit("c", []byte("local"))
		remote.Submit("c", []byte("remote"))
	}
	if s, err := remote.Close(within(t)); err != nil {
		t.Fatalf("%v: %+v", err, s)
	}
	harness.Until(t, "the mux has heard of every submission", func() bool { return p.count(t, "ds_mux_positions_total") == 2*calls })
	dropped := p.count(t, "ds_mux_dropped_frames_total")
	p.courier.open()
	if err := p.StartIngest(within(t)); err != nil {
		t.Fatal(err)
	}
	p.settled(t)
	p.archive.read(t)
	// The buffer holds ten, and a slice of as many may have been on its way out.
	l := p.archive.life(p.archive.one(t, n))
	if kept := uint64(len(l.frames)); kept < 10 || kept > 20 || kept+dropped != 2*calls || sum(l.gapsTo(2*calls)) != dropped {
		t.Errorf("of %d frames %d are stored and %d were counted as dropped; gaps %v", 2*calls, kept, dropped, l.gapsTo(2*calls))
	}
}

// TestP9_5_LivesNeverMerge: a mux that starts again gives its node a new life;
// positions begin at 0, and both lives are stored, each complete.
func TestP9_5_LivesNeverMerge(t *testing.T) {
	p := open(t, nil)
	nc, n := p.dial(t, server.Anonymous), node(t)
	var lives []subjects.Stream
	for round := range 3 {
		for i := range 20 {
			st, pos := p.submit(t, nc, n, "c", fmt.Appendf(nil, "%d/%d", round, i))
			if i == 0 {
				lives = append(lives, st)
			}
			if st != lives[round] || pos != subjects.Position(i) {
				t.Fatalf("round %d: frame %d has position %v of %v", round, i, pos, st)
			}
		}
		p.StopMux()
		if err := p.StartMux(within(t)); err != nil {
			t.Fatal(err)
		}
		if err := p.Ready(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	p.archive.read(t)
	if got := len(p.archive.of(n)); got != 3 {
		t.Fatalf("%d lives are stored, not 3", got)
	}
	for round, st := range lives {
		l := p.stored(t, st, 20)
		for i, got := range l.payloads("c") {
			if want := fmt.Sprintf("%d/%d", round, i); got != want {
				t.Errorf("%v: position %d is %q, not %q", st, i, got, want)
			}
		}
	}
}

// TestP9_6_IdempotentIngest: everything twice on the way, then ingest starts
// anew and is sent everything again: each position is stored once, as it was
// first.
func TestP9_6_IdempotentIngest(t *testing.T) {
	p := open(t, nil)
	nc := p.dial(t, server.Anonymous)
	p.courier.follow(twice{})
	n := node(t)
	st, _ := p.submit(t, nc, n, "c", []byte("0"))
	for i := 1; i < 50; i++ {
		p.submit(t, nc, n, "c", fmt.Append(nil, i))
	}
	p.stored(t, st, 50)
	p.settled(t)
	p.StopIngest()
	if err := p.StartIngest(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(within(t)); err != nil {
		t.Fatal(err)
	}
	again := p.grows(t, "ds_ingest_duplicate_frames_total")
	f := p.forge(t, st)
	for i := range 50 {
		f.frame("c", subjects.Position(i), "not the first")
	}
	again(50)
	p.submit(t, nc, n, "c", []byte("50"))
	l := p.stored(t, st, 51)
	for i, got := range l.payloads("c") {
		if got != fmt.Sprint(i) {
			t.Errorf("position %d is %q", i, got)
		}
	}
	if len(l.frames) != 51 || len(l.gaps()) > 0 {
		t.Errorf("%d frames, gaps %v", len(l.frames), l.gaps())
	}
}

// TestP9_8_UnknownChannelsSurvive: nobody has ever heard of these channels, and
// they exist from their first frame on.
func TestP9_8_UnknownChannelsSurvive(t *testing.T) {
	p, n := shared(t), node(t)
	nc := p.dial(t, server.Anonymous)
	names := []subjects.Channel{
		"x", "no.such.family", "..", ".", "a..b", "a.", ".a", "%", "%.%", "*", ">", "a.*.>", "a b\tc\r\n", "\x00", "\xff\xfe", "é", "\u0085",
		subjects.Channel(strings.Repeat("\x00", subjects.MaxChannel)), subjects.Channel(strings.Repeat(".", subjects.MaxChannel)),
	}
	deadbeef := []byte{0xde, 0xad, 0xbe, 0xef}
	var st subjects.Stream
	for _, c := range names {
		st, _ = p.submit(t, nc, n, c, deadbeef)
	}
	l := p.stored(t, st, len(names))
	for _, c := range names {
		if got := l.payloads(c); len(got) != 1 || got[0] != string(deadbeef) {
			t.Errorf("channel %.40q holds %q", c, got)
		}
	}
	if g := l.gaps(); len(g) > 0 {
		t.Errorf("gaps %v", g)
	}
}

// ascending holds the commits of a life that nothing disturbed to their order:
// each lies above the one before (P7.3).
func ascending(t *testing.T, l *life) {
	t.Helper()
	for i := 1; i < len(l.commits); i++ {
		if a, b := l.commits[i-1], l.commits[i]; b.From <= a.To {
			t.Errorf("commit %d holds %v, the one before %v", i, b, a)
		}
	}
}

// gapsAre compares the gaps of a life.
func gapsAre(t *testing.T, l *life, want ...control.Range) {
	t.Helper()
	if got := l.gaps(); !slices.Equal(got, want) {
		t.Errorf("gaps %v, not %v", got, want)
	}
}
