package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"datastream/ingestd/gate"
	"datastream/stack/server"
	"datastream/subjects"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// start runs a server on a free port and a fresh folder.
func start(t *testing.T) *server.Server {
	t.Helper()
	return startIn(t, t.TempDir())
}

func startIn(t *testing.T, dir string) *server.Server {
	t.Helper()
	s, err := server.Start(server.Options{
		Dir: dir, Listen: "127.0.0.1:0", Space: subjects.Default(), Log: zerolog.New(zerolog.NewTestWriter(t)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A client is a connection whose permission errors can be waited for.
type client struct {
	*nats.Conn
	denied chan error
}

func dial(t *testing.T, s *server.Server, u server.User, opts ...nats.Option) client {
	t.Helper()
	c := client{denied: make(chan error, 64)}
	opts = append(opts, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.denied <- err }))
	if u != server.Anonymous {
		opts = append(opts, nats.UserInfo(s.Credentials(u)))
	}
	var err error
	if c.Conn, err = nats.Connect(s.URL(), opts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// openGate serves users who make consumers, as ingestd does.
func openGate(t *testing.T, s *server.Server) {
	t.Helper()
	nc := dial(t, s, server.Ingestd, nats.CustomInboxPrefix(server.InboxPrefix))
	g, err := gate.Start(nc.Conn, gate.Config{Space: subjects.Default()}, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
}

// makeStream makes the stream that stores frames, as ingestd.
func makeStream(t *testing.T, ctx context.Context, s *server.Server) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(dial(t, s, server.Ingestd).Conn)
	if err != nil {
		t.Fatal(err)
	}
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "DATASTREAM", Subjects: []string{subjects.Default().AllStored()}, Storage: jetstream.FileStorage,
		AllowAtomicPublish: true, AllowDirect: true, DenyDelete: true, DenyPurge: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// within is a context with the tests' patience.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
