package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"datastream/ingestd/store"
	"datastream/service"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

func environment(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

// TestParse: flags before the environment before the defaults.
func TestParse(t *testing.T) {
	c, err := Parse(nil, environment(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Prefix != "ds" || c.HTTP != DefaultHTTP || c.Init || c.MaxAge != 7*24*time.Hour || c.BatchMessages != 1000 ||
		c.BatchBytes != 4<<20 || c.Wait != 250*time.Millisecond || c.Replicas != 1 || c.NATS.URL != service.DefaultURL {
		t.Errorf("the defaults are %+v", c)
	}
	env := environment("DS_INIT", "true", "DS_STREAM", "ENV", "DS_BATCH_MESSAGES", "7", "NATS_URL", "nats://env:1", "DS_MAX_AGE", "1h")
	c, err = Parse([]string{"--stream", "FLAG", "--server", "nats://flag:1"}, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Init || c.Stream != "FLAG" || c.BatchMessages != 7 || c.NATS.URL != "nats://flag:1" || c.MaxAge != time.Hour {
		t.Errorf("flags and environment make %+v", c)
	}
}

// TestWrongUsage: what is wrong is named, and is exit 2.
func TestWrongUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		env  func(string) string
		says string
	}{
		"flag":        {args: []string{"--strem", "S"}, env: environment(), says: "--strem"},
		"argument":    {args: []string{"S"}, env: environment(), says: `"S"`},
		"value":       {args: []string{"--wait", "long"}, env: environment(), says: "wait"},
		"environment": {env: environment("DS_QUEUE_BYTES", "many"), says: "DS_QUEUE_BYTES"},
		"prefix":      {args: []string{"--prefix", "a b"}, env: environment(), says: "--prefix"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, stderr bytes.Buffer
			err := Main(t.Context(), c.args, c.env, &out, &stderr)
			if !errors.Is(err, service.ErrUsage) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, and is to say %q", err, c.says)
			}
		})
	}
}

// TestHelp names every flag with its variable, and is no failure.
func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if err := Main(t.Context(), []string{"--help"}, environment(), &out, nil); !errors.Is(err, service.ErrAnswered) {
		t.Fatalf("help ended with %v", err)
	}
	c := Defaults()
	fs := pflag.NewFlagSet("all", pflag.ContinueOnError)
	c.Flags(fs)
	c.NATS.Flags(fs)
	c.NATS.ServiceFlags(fs)
	c.Log.Flags(fs)
	fs.Bool("init", false, "")
	n := 0
	fs.VisitAll(func(f *pflag.Flag) {
		n++
		if v := service.Variable(f, service.EnvPrefix); !strings.Contains(out.String(), "--"+f.Name) || !strings.Contains(out.String(), "[$"+v+"]") {
			t.Errorf("help does not mention --%s and $%s", f.Name, v)
		}
	})
	if n < 20 {
		t.Errorf("only %d flags", n)
	}
}

func start(t *testing.T) *server.Server {
	t.Helper()
	secrets := map[server.User]string{}
	for _, u := range server.Users() {
		secrets[u] = "pw"
	}
	s, err := server.Start(server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Space: subjects.Default(), Log: zerolog.Nop(), Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func settings(url string) Config {
	c := Defaults()
	c.MaxBytes = 64 << 20
	c.NATS = service.NATS{URL: url, User: "ingestd", Password: "pw", ServiceUser: "service", ServicePassword: "pw"}
	return c
}

// launch runs a daemon until the test ends, or until stop, and says how it
// ended.
func launch(t *testing.T, c Config) (d *Daemon, stop func() error) {
	t.Helper()
	d, err := New(c, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	return d, stop
}

func ready(t *testing.T, d *Daemon) {
	t.Helper()
	harness.Until(t, "ingest is ready", func() bool { return len(d.Health.Failing()) == 0 })
}

// A peer is a mux and a person: it may publish and administer everything.
type peer struct {
	t  *testing.T
	nc *nats.Conn
	js jetstream.JetStream
}

func newPeer(t *testing.T, s *server.Server) *peer {
	t.Helper()
	nc, err := nats.Connect(s.URL(), nats.UserInfo("operator", "pw"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return &peer{t: t, nc: nc, js: js}
}

// send beats and publishes the frames up to pos until they are settled.
func (p *peer) send(id subjects.Stream, pos subjects.Position) {
	p.t.Helper()
	space := subjects.Default()
	settled, err := p.nc.SubscribeSync(space.Settled(id))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = settled.Unsubscribe() }()
	harness.Until(p.t, "the frame is settled", func() bool {
		b := control.Beat{Assigned: pos + 1, Drained: pos + 1}
		if err := p.nc.Publish(space.Beat(id), b.Encode()); err != nil {
			p.t.Fatal(err)
		}
		for q := range pos + 1 {
			m := &nats.Msg{Subject: space.Frame(id, "a"), Data: []byte(q.String()), Header: nats.Header{}}
			m.Header[frame.HeaderPos] = []string{q.String()}
			if err := p.nc.PublishMsg(m); err != nil {
				p.t.Fatal(err)
			}
		}
		got, err := settled.NextMsg(50 * time.Millisecond)
		if err != nil {
			return false
		}
		s, err := control.DecodeSettled(got.Data)
		return err == nil && s.Below > pos
	})
}

// stored is what the store holds, as position=payload.
func (p *peer) stored() (out []string) {
	p.t.Helper()
	_, _, err := store.Scan(p.t.Context(), p.nc, store.Config{Space: subjects.Default()}, 1, false, func(s store.Stored) error {
		for i := range s.Run.Len() {
			out = append(out, fmt.Sprintf("%d=%s", s.Run.Pos(i), s.Run.Payload(i)))
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// TestStoreIsNotMadeUnasked: a store that is not there is reported, not ready
// and why; when somebody makes it, ingest serves (P8.4).
func TestStoreIsNotMadeUnasked(t *testing.T) {
	s := start(t)
	d, stop := launch(t, settings(s.URL()))
	harness.Until(t, "the reason", func() bool { return strings.Contains(fmt.Sprint(d.Health.Failing()), store.ErrNoStream.Error()) })
	p := newPeer(t, s)
	if _, err := p.js.Stream(t.Context(), "DATASTREAM"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Fatalf("the stream: %v", err)
	}
	if _, err := d.Gather(); err != nil {
		t.Errorf("metrics without a store: %v", err)
	}
	w, err := store.Open(t.Context(), p.nc, store.Config{Space: subjects.Default(), Init: true, MaxBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ready(t, d)
	p.send(subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}, 0)
	if err := stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestRestartReadsTheStore: what is committed is known to the next ingest, and
// is not committed again (P7.5).
func TestRestartReadsTheStore(t *testing.T) {
	s := start(t)
	c := settings(s.URL())
	c.Init = true
	p := newPeer(t, s)
	id := subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}
	for pos := range subjects.Position(3) {
		d, stop := launch(t, c)
		ready(t, d)
		p.send(id, pos)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		c.Init = false
	}
	if got := fmt.Sprint(p.stored()); got != "[0=0 1=1 2=2]" {
		t.Errorf("the store holds %s", got)
	}
}

// TestStoreMadeAnewIsReadFromItsStart: under a running ingest; nothing of the
// old one is believed any more (P8.4).
func TestStoreMadeAnewIsReadFromItsStart(t *testing.T) {
	s := start(t)
	c := settings(s.URL())
	c.Init = true
	d, _ := launch(t, c)
	ready(t, d)
	p := newPeer(t, s)
	id := subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}
	p.send(id, 0)
	stream, err := p.js.Stream(t.Context(), "DATASTREAM")
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	if err := p.js.DeleteStream(t.Context(), "DATASTREAM"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	p.send(id, 1) // its commit shows it; then position 0 is a new one
	harness.Until(t, "both are in the new store", func() bool { return len(p.stored()) == 2 })
	ready(t, d)
	if _, err := d.Gather(); err != nil {
		t.Errorf("metrics after another store: %v", err)
	}
}

// TestClosedForGoodEndsIt: a connection that the client library gives up is
// an error of the daemon, not a silent standstill (P6).
func TestClosedForGoodEndsIt(t *testing.T) {
	s := start(t)
	c := settings(s.URL())
	c.NATS.Password = "wrong"
	d, err := New(c, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ended without an error")
		}
	case <-time.After(harness.Patience):
		t.Error("it goes on with a connection that is closed for good")
	}
}

// TestUsersMakeConsumers: from when the daemon is ready everybody reads through
// a consumer of his own, and one that would write to the pipe is refused.
func TestUsersMakeConsumers(t *testing.T) {
	s := start(t)
	c := settings(s.URL())
	c.Init = true
	d, _ := launch(t, c)
	ready(t, d)
	p := newPeer(t, s)
	p.send(subjects.Stream{Node: "n1", Life: subjects.MintLife(time.Now())}, 0)
	nc, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	r, err := js.OrderedConsumer(t.Context(), "DATASTREAM", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := r.Next(jetstream.FetchMaxWait(harness.Patience)); err != nil || string(m.Data()) != "0" {
		t.Errorf("everybody reads %v, %v", m, err)
	}
	_, err = js.CreatePushConsumer(t.Context(), "DATASTREAM", jetstream.ConsumerConfig{DeliverSubject: "ds.settled.n1.x", IdleHeartbeat: time.Second})
	if err == nil || !strings.Contains(err.Error(), "_INBOX.") {
		t.Errorf("a consumer that writes to the pipe: %v", err)
	}
	all, err := d.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(all), "ds_gate_refused_total") {
		t.Error("the refusal is not on the metrics page")
	}
}
