package stack_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	ingest "datastream/ingestd/run"
	"datastream/ingestd/store"
	mux "datastream/muxd/run"
	"datastream/service"
	"datastream/stack"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

func options(dir string) stack.Options {
	o := stack.Options{Dir: dir, Listen: "127.0.0.1:0", Log: zerolog.Nop(), Mux: mux.Defaults(), Ingest: ingest.Defaults()}
	o.Ingest.MaxBytes = 64 << 20
	return o
}

func start(t *testing.T, o stack.Options) *stack.Stack {
	t.Helper()
	s, err := stack.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func ready(t *testing.T, s *stack.Stack) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

func connect(t *testing.T, s *stack.Stack, u server.User) *nats.Conn {
	t.Helper()
	nc, err := s.Connect(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// committed submits one payload and waits for its commit.
func committed(t *testing.T, nc *nats.Conn, body string) control.Answer {
	t.Helper()
	m := &nats.Msg{Subject: "ds.submit.n1.a", Data: []byte(body), Header: nats.Header{frame.HeaderAck: {frame.AckCommitted}}}
	got, err := nc.RequestMsg(m, harness.Patience)
	if err != nil {
		t.Fatal(err)
	}
	a, err := control.DecodeAnswer(got.Data)
	if err != nil || a.Error != "" {
		t.Fatalf("the answer is %s, %v", got.Data, err)
	}
	return a
}

// stored is how many frames are committed.
func stored(t *testing.T, nc *nats.Conn) (n int) {
	t.Helper()
	_, _, err := store.Scan(t.Context(), nc, store.Config{Space: subjects.Default()}, 1, true, func(m store.Stored) error {
		n += m.Run.Len()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAFreshFolderGetsAStore, and one that has a store keeps it: promise 2.
func TestAFreshFolderGetsAStore(t *testing.T) {
	o := options(t.TempDir())
	for round := range 2 {
		s := start(t, o)
		ready(t, s)
		nc := connect(t, s, server.Anonymous)
		committed(t, nc, "x")
		if n := stored(t, nc); n != round+1 {
			t.Errorf("the store holds %d frames in round %d", n, round)
		}
		nc.Close()
		s.Close()
		s.Close() // it may be closed again
	}
}

// TestAStoreThatIsGoneIsNotMadeAnew is promise 2 (P8.4): not at the next
// start, and not under a running stack.
func TestAStoreThatIsGoneIsNotMadeAnew(t *testing.T) {
	o := options(t.TempDir())
	s := start(t, o)
	ready(t, s)
	nc := connect(t, s, server.Operator)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), "DATASTREAM"); err != nil {
		t.Fatal(err)
	}
	s.StopIngest()
	if err := s.StartIngest(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := func(s *stack.Stack) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
		defer cancel()
		if err := s.Ready(ctx); !errors.Is(err, stack.ErrStoreGone) || !strings.Contains(err.Error(), o.Dir) {
			t.Errorf("ready: %v", err)
		}
	}
	gone(s)
	s.Close()
	s = start(t, o)
	gone(s)
	js, err = jetstream.New(connect(t, s, server.Operator))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Stream(t.Context(), "DATASTREAM"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("the stream: %v", err)
	}
}

// TestPartsStopAndStart: a mux that is started again has a new life; an
// ingest that is started again knows what is stored, and gets what it missed.
func TestPartsStopAndStart(t *testing.T) {
	s := start(t, options(t.TempDir()))
	ready(t, s)
	nc := connect(t, s, server.Anonymous)
	first := committed(t, nc, "first")
	s.StopIngest()
	s.StopIngest() // it may be stopped again
	if f := s.Failing(); len(f) != 0 {
		t.Errorf("a part that is stopped does not fail: %v", f)
	}
	got, err := nc.Request("ds.submit.n1.a", []byte("while it is stopped"), harness.Patience)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := control.DecodeAnswer(got.Data); err != nil || a.Life != first.Life || a.Position != 1 {
		t.Errorf("without ingest the answer is %s", got.Data)
	}
	if err := s.StartIngest(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready(t, s)
	if a := committed(t, nc, "third"); a.Life != first.Life || a.Position != 2 {
		t.Errorf("the third is %+v", a)
	}
	s.StopMux()
	if s.Mux().Submit("n1", frame.Single("a", 0, []byte("x"))) {
		t.Error("a mux that is stopped took a submission")
	}
	if err := s.StartMux(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready(t, s)
	if a := committed(t, nc, "fourth"); a.Life == first.Life || a.Position != 0 {
		t.Errorf("after a restart of the mux: %+v", a)
	}
	if n := stored(t, nc); n != 4 {
		t.Errorf("%d frames are stored, want 4", n)
	}
}

// TestPartsMayBeLeftOut until they are started.
func TestPartsMayBeLeftOut(t *testing.T) {
	o := options(t.TempDir())
	o.WithoutMux, o.WithoutIngest = true, true
	s := start(t, o)
	ready(t, s)
	nc := connect(t, s, server.Anonymous)
	if _, err := nc.Request("ds.submit.n1.a", nil, harness.Patience); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a request without a mux: %v", err)
	}
	if err := errors.Join(s.StartIngest(t.Context()), s.StartMux(t.Context())); err != nil {
		t.Fatal(err)
	}
	ready(t, s)
	committed(t, nc, "x")
}

// TestDaemonsAreNoSpecialCase is promise 1: they may what their users may,
// and everybody else only what the server lets anybody do (P2.3).
func TestDaemonsAreNoSpecialCase(t *testing.T) {
	s := start(t, options(t.TempDir()))
	ready(t, s)
	refused := make(chan error, 1)
	nc, err := s.Connect(server.Anonymous, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		select {
		case refused <- err:
		default:
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := errors.Join(nc.Publish("ds.store.n1.x.a", nil), nc.FlushTimeout(harness.Patience)); err != nil {
		t.Fatal(err)
	}
	if err := <-refused; !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("a forged commit: %v", err)
	}
}

// TestMetricsAreOnePage: every family once, and no sample twice, though the
// parts count the same things.
func TestMetricsAreOnePage(t *testing.T) {
	s := start(t, options(t.TempDir()))
	ready(t, s)
	committed(t, connect(t, s, server.Anonymous), "x")
	families, err := s.Metrics().Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen, services := map[string]bool{}, map[string]bool{}
	for _, f := range families {
		if seen[f.GetName()] {
			t.Errorf("family %s stands twice", f.GetName())
		}
		seen[f.GetName()] = true
		samples := map[string]bool{}
		for _, m := range f.Metric {
			key := ""
			for _, l := range m.Label {
				key += fmt.Sprintf("%s=%q ", l.GetName(), l.GetValue())
				if l.GetName() == "service" {
					services[l.GetValue()] = true
				}
			}
			if samples[key] {
				t.Errorf("%s{%s} stands twice", f.GetName(), key)
			}
			if samples[key] = true; !strings.Contains(key, "service=") {
				t.Errorf("%s{%s} does not say whose it is", f.GetName(), key)
			}
		}
	}
	for _, name := range []string{"ds_mux_positions_total", "ds_ingest_committed_frames_total", "ds_nats_up"} {
		if !seen[name] {
			t.Errorf("%s is not on the page", name)
		}
	}
	if !services["muxd"] || !services["ingestd"] {
		t.Errorf("the services are %v", services)
	}
}

// TestStartSaysWhatIsWrong, and leaves nothing behind.
func TestStartSaysWhatIsWrong(t *testing.T) {
	o := options(t.TempDir())
	o.Mux.Prefix = "not a prefix"
	if _, err := stack.Start(t.Context(), o); !errors.Is(err, service.ErrUsage) {
		t.Errorf("a bad prefix: %v", err)
	}
	o = options(t.TempDir())
	o.Mux.Node = strings.Repeat("n", subjects.MaxNode+1)
	if _, err := stack.Start(t.Context(), o); !errors.Is(err, service.ErrUsage) {
		t.Errorf("a bad node: %v", err)
	}
	o.Mux.Node = mux.Gateway // the folder is free again
	s := start(t, o)
	o.Listen = strings.TrimPrefix(s.URL(), "nats://")
	o.Dir = t.TempDir()
	if _, err := stack.Start(t.Context(), o); !errors.Is(err, server.ErrPortInUse) {
		t.Errorf("a port in use: %v", err)
	}
}
