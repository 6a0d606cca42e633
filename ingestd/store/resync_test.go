package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// producer commits the positions 0 … as ingest would: what failed is tried
// again, unless a Resync has reported it.
type producer struct {
	t    *testing.T
	w    *Writer
	todo []Message
	seen map[int]bool // positions known to be committed
	now  int64
	errs map[error]int
	heal func() // before a resync: what is broken works again
}

func newProducer(t *testing.T, w *Writer, msgs []Message) *producer {
	return &producer{t: t, w: w, todo: msgs, seen: make(map[int]bool), errs: make(map[error]int), heal: func() {}}
}

// step makes one commit of up to n messages, pipelined singles if each.
func (p *producer) step(n int, each bool) {
	p.t.Helper()
	p.now++
	n = min(n, len(p.todo))
	var done int
	var err error
	if each {
		done, err = p.w.CommitEach(p.t.Context(), p.now, p.todo[:min(n, EachMessages)])
	} else if err = p.w.Commit(p.t.Context(), p.now, p.todo[:n]); err == nil {
		done = n
	}
	p.todo = p.todo[done:]
	if err == nil {
		return
	}
	switch {
	case errors.Is(err, ErrUnclear):
		p.errs[ErrUnclear]++
	case errors.Is(err, ErrFence):
		p.errs[ErrFence]++
	default:
		p.t.Fatal(err)
	}
	p.resync()
}

func (p *producer) resync() {
	p.t.Helper()
	p.heal()
	for _, pos := range resync(p.t, p.w) {
		p.seen[pos] = true
	}
	p.todo = slices.DeleteFunc(slices.Clone(p.todo), func(m Message) bool { return p.seen[int(m.Run.First())] })
}

// wantOnce fails unless exactly the positions 0 … n-1 are stored, each once.
func wantOnce(t *testing.T, all []Stored, n int) {
	t.Helper()
	ps := positions(all)
	slices.Sort(ps)
	for i, p := range ps {
		if p != i {
			t.Fatalf("of the positions stored, sorted, number %d is %d", i, p)
		}
	}
	if len(ps) != n {
		t.Fatalf("%d positions are stored, want %d", len(ps), n)
	}
}

// Whatever is cut, whenever: each position is committed exactly once, in
// order, and every commit is whole (P7.3, P7.4).
func TestCutsCommitExactlyOnce(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	h := newHost(t, nil)
	through := newProxy(t, h.url()[len("nats://"):])
	cfg := Config{Init: true, Timeout: 250 * time.Millisecond}
	const total = 1500
	p := newProducer(t, openWriter(t, connect(t, through.url()), cfg), singles(0, total))
	p.heal = through.cut
	for round := 0; len(p.todo) > 0; round++ {
		if r.IntN(3) == 0 {
			through.cutAfter(r.IntN(20_000), r.IntN(4) == 0)
		}
		if round == 20 { // once, the server itself
			h.stop()
			h.start()
		}
		p.step(1+r.IntN(100), r.IntN(2) == 0)
	}
	direct := connect(t, h.url())
	all, foreign := contents(t, direct, cfg, false)
	t.Logf("%d commits failed unclear, %d at the fence", p.errs[ErrUnclear], p.errs[ErrFence])
	wantPositions(t, all, total)
	wantCommits(t, all)
	if p.errs[ErrUnclear] == 0 || foreign != 0 {
		t.Fatalf("%d unclear, %d foreign", p.errs[ErrUnclear], foreign)
	}
}

// An ack that is lost: the commit landed, Resync says so.
func TestLostAckIsFound(t *testing.T) {
	for _, each := range []bool{false, true} {
		t.Run(fmt.Sprintf("each=%v", each), func(t *testing.T) {
			h := newHost(t, nil)
			through := newProxy(t, h.url()[len("nats://"):])
			w := openWriter(t, connect(t, through.url()), quickly())
			through.cutAfter(1<<20, true) // all goes up, nothing comes down
			var n int
			var err error
			if each {
				n, err = w.CommitEach(t.Context(), 1, singles(0, 5))
			} else {
				err = w.Commit(t.Context(), 1, singles(0, 5))
			}
			wantError(t, err, ErrUnclear, "300ms")
			through.cut()
			if got := resync(t, w); n != 0 || fmt.Sprint(got) != "[0 1 2 3 4]" {
				t.Fatalf("%d certain, resync reports %v", n, got)
			}
			if err := w.Commit(t.Context(), 2, singles(5, 1)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A batch that breaks off is never seen, not even in part (P7.3).
func TestBrokenBatchIsNeverSeen(t *testing.T) {
	h := newHost(t, nil)
	through := newProxy(t, h.url()[len("nats://"):])
	w := openWriter(t, connect(t, through.url()), quickly())
	for range 5 {
		through.cutAfter(10_000, false)
		wantError(t, w.Commit(t.Context(), 1, singles(0, 500)), ErrUnclear)
		if got := resync(t, w); len(got) != 0 || w.LastSeq() != 0 {
			t.Fatalf("resync reports %v, last sequence %d", got, w.LastSeq())
		}
	}
	if err := w.Commit(t.Context(), 1, singles(0, 500)); err != nil {
		t.Fatal(err)
	}
	all, _ := contents(t, connect(t, h.url()), Config{}, true)
	wantPositions(t, all, 500)
	wantCommits(t, all)
}

// A write that is delayed past the Resync is caught by the next fence (P7.4).
func TestDelayedWriteIsFenced(t *testing.T) {
	for _, each := range []bool{false, true} {
		t.Run(fmt.Sprintf("each=%v", each), func(t *testing.T) {
			h := newHost(t, nil)
			through := newProxy(t, h.url()[len("nats://"):])
			slow := connect(t, through.url())
			w := openWriter(t, slow, quickly())
			through.freeze()
			if each {
				_, err := w.CommitEach(t.Context(), 1, singles(0, 5))
				wantError(t, err, ErrUnclear)
			} else {
				wantError(t, w.Commit(t.Context(), 1, singles(0, 5)), ErrUnclear)
			}
			// The Writer goes on over another connection, the write is still
			// under way.
			fresh := connect(t, h.url())
			next := openWriter(t, fresh, Config{})
			if next.LastSeq() != 0 {
				t.Fatal("the write is not delayed")
			}
			through.thaw()
			eventually(t, "the delayed write lands", func() bool {
				return streamInfo(t, fresh, "DATASTREAM").State.LastSeq == 5
			})
			wantError(t, next.Commit(t.Context(), 2, singles(0, 5)), ErrFence)
			if got := resync(t, next); fmt.Sprint(got) != "[0 1 2 3 4]" {
				t.Fatalf("resync reports %v", got)
			}
			all, _ := contents(t, fresh, Config{}, false)
			wantPositions(t, all, 5)
		})
	}
}

// Two writers alternate by commits; between them nothing is lost or repeated
// though each has everything to commit (P7.4). With batches alone the instants
// do not fall either; a pipelined single may overtake (see CommitEach).
func TestTwoWritersAlternate(t *testing.T) {
	for _, singly := range []bool{false, true} {
		t.Run(fmt.Sprintf("singles=%v", singly), func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 2))
			h := newHost(t, nil)
			const total = 600
			cfg := Config{Init: true}
			ps := []*producer{
				newProducer(t, openWriter(t, connect(t, h.url()), cfg), singles(0, total)),
				newProducer(t, openWriter(t, connect(t, h.url()), cfg), singles(0, total)),
			}
			for len(ps[0].todo)+len(ps[1].todo) > 0 {
				ps[r.IntN(2)].step(1+r.IntN(30), singly && r.IntN(2) == 0)
			}
			all, _ := contents(t, connect(t, h.url()), cfg, false)
			wantOnce(t, all, total)
			wantCommits(t, all)
			if !singly {
				wantInstants(t, all)
				wantPositions(t, all, total)
			}
			if ps[0].errs[ErrFence]+ps[1].errs[ErrFence] == 0 {
				t.Fatal("the writers never met")
			}
		})
	}
}

// A standby follows by Resync alone, and can take over at once.
func TestStandbyFollows(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	leader, standby := openWriter(t, nc, Config{Init: true}), openWriter(t, nc, Config{})
	for i := range 4 {
		if err := leader.Commit(t.Context(), int64(10+i), singles(3*i, 3)); err != nil {
			t.Fatal(err)
		}
		if got := resync(t, standby); fmt.Sprint(got) != fmt.Sprint([]int{3 * i, 3*i + 1, 3*i + 2}) {
			t.Fatalf("resync %d reports %v", i, got)
		}
	}
	if err := standby.Commit(t.Context(), 1, singles(12, 3)); err != nil {
		t.Fatal(err)
	}
	all, _ := contents(t, nc, Config{}, true)
	wantPositions(t, all, 15)
	wantCommits(t, all)
}

// Foreign messages are counted and passed over, and the fence moves past
// them (P8.4).
func TestResyncPassesForeignMessages(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	for range 200 {
		if err := nc.Publish("ds.store.x", nil); err != nil {
			t.Fatal(err)
		}
	}
	p := newProducer(t, w, singles(0, 30))
	for len(p.todo) > 0 {
		p.step(10, false)
	}
	all, foreign := contents(t, nc, Config{}, false)
	wantPositions(t, all, 30)
	wantCommits(t, all)
	if foreign != 200 || w.Foreign() > 200 {
		t.Fatalf("a scan finds %d foreign messages, resync found %d", foreign, w.Foreign())
	}
}
