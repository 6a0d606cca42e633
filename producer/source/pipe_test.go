package source_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	ingest "datastream/ingestd/run"
	"datastream/ingestd/store"
	mux "datastream/muxd/run"
	"datastream/producer/emit"
	"datastream/producer/source"
	"datastream/stack"
	"datastream/stack/server"
	"datastream/subjects"
)

const patience = 60 * time.Second

// TestFollowThroughThePipe is promise 9 with the real pipe: the file is followed
// while the mux ends and another begins, and every line is in the store.
func TestFollowThroughThePipe(t *testing.T) {
	const lines = 20_000
	o := stack.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Log: zerolog.Nop(), Mux: mux.Defaults(), Ingest: ingest.Defaults()}
	o.Ingest.MaxBytes = 64 << 20
	s, err := stack.Start(t.Context(), o)
	must(t, err)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, s.Ready(ctx))
	nc, err := s.Connect(server.Anonymous)
	must(t, err)
	defer nc.Close()
	operator, err := s.Connect(server.Operator)
	must(t, err)
	defer operator.Close()
	paced, err := emit.OpenPaced(nc, "n1")
	must(t, err)

	dir := t.TempDir()
	path := filepath.Join(dir, "app.log")
	f, err := source.NewFollow(paced, source.FollowConfig{
		Files: []source.FollowFile{{Path: path, Channel: "app"}}, State: filepath.Join(dir, "state.json"),
		Look: 10 * time.Millisecond, Grace: patience, OnNotice: func(s string) { t.Log(s) },
	})
	must(t, err)
	run, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- f.Run(run) }()
	w, err := os.Create(path)
	must(t, err)
	defer w.Close()
	for i := range lines {
		_, err = fmt.Fprintf(w, "line %d\n", i)
		must(t, err)
		if i == lines/2 {
			s.StopMux()
			must(t, s.StartMux(ctx))
		}
	}
	for f.Stats().Records < lines && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
	stop()
	must(t, <-done)
	report, err := paced.Close(ctx)
	t.Logf("%+v, %+v, %v", report, f.Stats(), err)

	got := map[string]bool{}
	_, _, err = store.Scan(ctx, operator, store.Config{Space: subjects.Default()}, 1, false, func(m store.Stored) error {
		for i := range m.Run.Len() {
			got[string(m.Run.Payload(i))] = true
		}
		return nil
	})
	must(t, err)
	for i := range lines {
		if !got[fmt.Sprintf("line %d", i)] {
			t.Fatalf("line %d of %d is not in the store, which has %d", i, lines, len(got))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
