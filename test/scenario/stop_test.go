package scenario

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/test/harness"
)

// place is where an answer says that a frame stands.
type place struct {
	life subjects.Life
	pos  subjects.Position
}

// load submits with requests, as many at a time as there are goroutines, and
// remembers what was answered.
type load struct {
	stop context.CancelFunc
	done sync.WaitGroup

	mu       sync.Mutex
	answered map[place]string
}

const (
	loadClients = 8
	loadEnough  = 400 // answers, for a test to call it load
)

// startLoad loads node n1 until it is stopped, or nobody answers any more, and
// returns once it flows.
func startLoad(t *testing.T, nc *nats.Conn) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{stop: cancel, answered: map[place]string{}}
	for i := range loadClients {
		l.done.Go(func() { l.client(ctx, nc, i) })
	}
	t.Cleanup(l.end)
	harness.Until(t, "the load flows", func() bool { return l.size() >= loadEnough })
	return l
}

func (l *load) client(ctx context.Context, nc *nats.Conn, i int) {
	for n := 0; ; n++ {
		payload := fmt.Sprintf("%d/%d", i, n)
		m, err := nc.RequestWithContext(ctx, "ds.submit.n1.load.x", []byte(payload))
		if err != nil {
			return
		}
		a, err := control.DecodeAnswer(m.Data)
		if err != nil || a.Error != "" {
			return
		}
		l.mu.Lock()
		l.answered[place{a.Life, a.Position}] = payload
		l.mu.Unlock()
	}
}

func (l *load) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answered)
}

func (l *load) end() {
	l.stop()
	l.done.Wait()
}

// missing lists what was answered and is not stored where the answer said.
func (l *load) missing(all []kept) (missing []string) {
	at := map[place]string{}
	for _, k := range all {
		at[place{k.stream.Life, k.pos}] = k.payload
	}
	for p, payload := range l.answered {
		if got, ok := at[p]; !ok || got != payload {
			missing = append(missing, fmt.Sprintf("%s at %v of %v (there: %q)", payload, p.pos, p.life, got))
		}
	}
	return missing
}

func (l *load) check(t *testing.T, nc *nats.Conn) {
	t.Helper()
	if m := l.missing(readStore(t, nc)); len(m) > 0 {
		t.Errorf("of %d answered frames %d are not stored, as %s", l.size(), len(m), m[0])
	}
}

// TestUpStopsInOrder: what was answered before SIGTERM is committed.
func TestUpStopsInOrder(t *testing.T) {
	up := harness.Up(t)
	l := startLoad(t, up.Connect(t))
	if code := up.Stop(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	l.end()
	up.Start(t)
	l.check(t, up.Connect(t))
}

// TestMuxdStopsInOrder: as TestUpStopsInOrder, with ingest going on.
func TestMuxdStopsInOrder(t *testing.T) {
	parts := harness.NewParts(t)
	mux, _ := parts.Pipe(t)
	nc := parts.Connect(t)
	l := startLoad(t, nc)
	if code := mux.Stop(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	l.end()
	l.check(t, nc) // its last act was to wait for settled
}

// TestIngestdStopsInOrder: what comes while ingest is away waits in the mux,
// and is repaired.
func TestIngestdStopsInOrder(t *testing.T) {
	parts := harness.NewParts(t)
	_, ingest := parts.Pipe(t)
	nc := parts.Connect(t)
	l := startLoad(t, nc)
	if code := ingest.Stop(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	before := l.size()
	harness.Until(t, "the mux goes on alone", func() bool { return l.size() > before+loadEnough })
	l.end()
	parts.Ingestd(t).Serving(t)
	harness.Until(t, "everything answered is stored", func() bool { return len(l.missing(readStore(t, nc))) == 0 })
}

// TestSecondSignalKills: a stop that takes long can be cut short.
func TestSecondSignalKills(t *testing.T) {
	parts := harness.NewParts(t)
	parts.StartServer(t)
	mux := parts.Muxd(t)
	mux.Serving(t)
	if _, err := ask(parts.Connect(t), "ds.submit.n1.app.log", "never settled"); err != nil {
		t.Fatal(err)
	}
	// In order it would wait some seconds for an ingest that is not there.
	// Signals that come close together are one: repeat.
	harness.Until(t, "the mux is killed", func() bool {
		mux.Signal(t, syscall.SIGTERM)
		return mux.Ended()
	})
	if code := mux.Wait(t); code != -1 {
		t.Errorf("exit %d, want death by the second signal", code)
	}
}

// TestKillNine: what was announced as settled survives kill -9 of everything,
// and the node begins a new life (P7.3, P1.1).
func TestKillNine(t *testing.T) {
	up := harness.Up(t)
	nc := up.Connect(t)
	settled := subscribe(t, nc, "ds.settled.>")
	l := startLoad(t, nc)
	emits := spawnSh(t, up.URL, "seq 1 1000000 | ds emit --node n2 load.y")
	harness.Until(t, "lines are stored", func() bool { return messages(t, nc) > 2*loadEnough })
	up.Kill()
	up.Wait(t)
	l.end()
	emits.Kill()

	announced := map[subjects.Stream]control.Settled{}
	for _, m := range drained(settled) {
		st, err := subjects.Default().ParseSettled(m.Subject)
		if err != nil {
			t.Fatal(err)
		}
		s, err := control.DecodeSettled(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		if s.Below < announced[st].Below || s.Lost < announced[st].Lost {
			t.Errorf("%v: %+v was announced after %+v", st, s, announced[st])
		}
		announced[st] = s
	}
	if len(announced) < 2 {
		t.Fatalf("settled was announced for %d streams, want n1's and n2's", len(announced))
	}
	up.Start(t)
	nc = up.Connect(t)
	all := readStore(t, nc)
	for st, s := range announced {
		n := uint64(0)
		for _, k := range all {
			if k.stream == st && k.pos < s.Below {
				n++
			}
		}
		if n < uint64(s.Below)-s.Lost {
			t.Errorf("%v: %d positions below %v were announced, %d of them lost; %d are stored", st, s.Below, s.Below, s.Lost, n)
		}
	}
	a := commit(t, nc, "ds.submit.n1.load.x", "fresh")
	if _, old := announced[subjects.Stream{Node: "n1", Life: a.Life}]; old || a.Position != 0 {
		t.Errorf("after kill -9 node n1 is at %v of life %v, want the start of a new one", a.Position, a.Life)
	}
}
