package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	ingest "datastream/ingestd/run"
	mux "datastream/muxd/run"
	"datastream/stack"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
)

const (
	startTimeout = time.Minute
	// storeBytes bounds the store: the oldest goes when more is measured.
	storeBytes = 4 << 30
)

// A rig is a stack to measure, with connections.
type rig struct {
	dir      string
	stack    *stack.Stack
	operator *nats.Conn // may publish anything
	peer     *nats.Conn // another of the operator's: what is not the pipe's crosses no account
	reader   *nats.Conn // as anybody
	js       jetstream.JetStream
	settled  map[subjects.Node]control.Settled // what was last heard of a node that plain clients submit for
}

// start makes a folder below dir and runs a stack in it.
func start(ctx context.Context, dir string, log zerolog.Logger) (_ *rig, err error) {
	r := &rig{settled: map[subjects.Node]control.Settled{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.dir, err = os.MkdirTemp(dir, "ds-bench-*"); err != nil {
		return nil, fmt.Errorf("make a folder for the data: %w", err)
	}
	o := stack.Options{Dir: filepath.Join(r.dir, "data"), Listen: "127.0.0.1:0", Log: log, Mux: mux.Defaults(), Ingest: ingest.Defaults()}
	o.Ingest.MaxBytes = storeBytes
	if r.stack, err = stack.Start(ctx, o); err != nil {
		return nil, err
	}
	ready, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := r.stack.Ready(ready); err != nil {
		return nil, err
	}
	if r.operator, err = r.stack.Connect(server.Operator, nats.Name("ds-bench")); err != nil {
		return nil, err
	}
	if r.peer, err = r.stack.Connect(server.Operator, nats.Name("ds-bench")); err != nil {
		return nil, err
	}
	if r.reader, err = r.stack.Connect(server.Anonymous, nats.Name("ds-bench")); err != nil {
		return nil, err
	}
	r.js, err = jetstream.New(r.operator, jetstream.WithDefaultTimeout(startTimeout))
	return r, err
}

// connect connects so many plain clients.
func (r *rig) connect(n int) (conns []*nats.Conn, hangUp func() error, err error) {
	hangUp = func() error {
		for _, nc := range conns {
			nc.Close()
		}
		return nil
	}
	for range n {
		nc, err := r.stack.Connect(server.Anonymous, nats.Name("ds-bench"))
		if err != nil {
			return nil, nil, errors.Join(err, hangUp())
		}
		conns = append(conns, nc)
	}
	return conns, hangUp, nil
}

// close stops everything and removes the folder.
func (r *rig) close() error {
	for _, nc := range []*nats.Conn{r.operator, r.peer, r.reader} {
		if nc != nil {
			nc.Close()
		}
	}
	if r.stack != nil {
		r.stack.Close()
	}
	if r.dir == "" {
		return nil
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return fmt.Errorf("remove the data: %w", err)
	}
	return nil
}
