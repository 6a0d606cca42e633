package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// server is what a test may change of a server.
type server = natsserver.Options

// host is a real server with JetStream in a folder of its own. It can be
// stopped and started again on the same port.
type host struct {
	t    *testing.T
	opts server
	s    *natsserver.Server
}

func newHost(t *testing.T, change func(*server)) *host {
	t.Helper()
	h := &host{t: t, opts: server{
		Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, MaxPayload: 8 << 20,
	}}
	if change != nil {
		change(&h.opts)
	}
	h.start()
	t.Cleanup(h.stop)
	return h
}

func (h *host) start() {
	h.t.Helper()
	opts := h.opts
	s, err := natsserver.NewServer(&opts)
	if err != nil {
		h.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		h.t.Fatal("the server does not become ready")
	}
	h.s, h.opts.Port = s, opts.Port
}

func (h *host) stop() {
	h.s.Shutdown()
	h.s.WaitForShutdown()
}

func (h *host) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", h.opts.Port) }

// connect connects for ever, quickly, as a service does.
func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(2*time.Millisecond),
		nats.ReconnectJitter(time.Millisecond, time.Millisecond), nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func openWriter(t *testing.T, nc *nats.Conn, cfg Config) *Writer {
	t.Helper()
	w, err := Open(t.Context(), nc, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// quickly is a Config for tests that run into the timeout.
func quickly() Config { return Config{Init: true, Timeout: 300 * time.Millisecond} }

var (
	life   = subjects.MintLife(time.UnixMilli(1_700_000_000_000))
	stream = subjects.Stream{Node: "n1", Life: life}
)

// run makes a run of channel c with the payloads at consecutive positions.
func run(c subjects.Channel, first uint64, payloads ...string) frame.Run {
	var cut frame.Cutter
	for i, p := range payloads {
		cut.Add(frame.Single(c, subjects.Position(first+uint64(i)), []byte(p)), false)
	}
	runs := cut.Runs(nil)
	if len(runs) != 1 {
		panic("the payloads do not make one run")
	}
	return runs[0].Run
}

// singles makes n single-frame messages at positions from first on.
func singles(first, n int) []Message {
	msgs := make([]Message, n)
	for i := range msgs {
		c := subjects.Channel(fmt.Sprintf("c.%d", (first+i)%7))
		msgs[i] = Message{stream, run(c, uint64(first+i), fmt.Sprintf("payload %d", first+i))}
	}
	return msgs
}

// contents reads the whole store.
func contents(t *testing.T, nc *nats.Conn, cfg Config, head bool) (all []Stored, foreign uint64) {
	t.Helper()
	_, foreign, err := Scan(t.Context(), nc, cfg, 0, head, func(s Stored) error {
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, foreign
}

// positions lists the positions stored, in the order of the store.
func positions(all []Stored) (ps []int) {
	for _, s := range all {
		for i := range s.Run.Len() {
			ps = append(ps, int(s.Run.Pos(i)))
		}
	}
	return ps
}

// wantPositions fails unless exactly 0 … n-1 are stored, in order.
func wantPositions(t *testing.T, all []Stored, n int) {
	t.Helper()
	ps := positions(all)
	for i, p := range ps {
		if p != i {
			t.Fatalf("position %d is stored as number %d of %d", p, i, len(ps))
		}
	}
	if len(ps) != n {
		t.Fatalf("%d positions are stored, want %d", len(ps), n)
	}
}

// wantCommits fails unless the messages make whole commits (P8.2).
func wantCommits(t *testing.T, all []Stored) {
	t.Helper()
	var last frame.Commit
	for _, s := range all {
		if s.Seq > last.Last() || last.Count == 0 {
			if s.Seq != s.Commit.First {
				t.Fatalf("sequence %d begins in the middle of the commit %v", s.Seq, s.Commit)
			}
			last = s.Commit
		}
		if s.Commit != last {
			t.Fatalf("sequence %d says commit %v inside of %v", s.Seq, s.Commit, last)
		}
	}
	if n := len(all); n > 0 && all[n-1].Seq != last.Last() {
		t.Fatalf("the last commit %v ends at %d", last, all[n-1].Seq)
	}
}

// wantInstants fails if an instant falls (P8.1).
func wantInstants(t *testing.T, all []Stored) {
	t.Helper()
	for i := 1; i < len(all); i++ {
		if all[i].Commit.Instant < all[i-1].Commit.Instant {
			t.Fatalf("the instant falls from %v to %v", all[i-1].Commit, all[i].Commit)
		}
	}
}

func wantError(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that wraps %q", err, want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Fatalf("the error %q does not say %q", err, w)
		}
	}
}

// eventually waits until ok, or fails.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// resync resyncs until the server answers, and lists the positions reported.
func resync(t *testing.T, w *Writer) (ps []int) {
	t.Helper()
	eventually(t, "resync succeeds", func() bool {
		var seen []Stored
		err := w.Resync(t.Context(), func(s Stored) error { seen = append(seen, s); return nil })
		if sentinel := cmp.Or(errors.Is(err, ErrNoStream), errors.Is(err, ErrRecreated), errors.Is(err, ErrConfig)); sentinel {
			t.Fatal(err)
		}
		if err == nil {
			ps = positions(seen)
		}
		return err == nil
	})
	return ps
}
