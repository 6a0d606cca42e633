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
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

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
	d := Defaults()
	if c.Node != Gateway || c.Prefix != "ds" || c.HTTP != DefaultHTTP || c.RingBytes != 64<<20 || c.PacedBytes != 8<<20 ||
		c.BufferFrames != d.BufferFrames || c.Idle != time.Hour || c.NATS.URL != service.DefaultURL {
		t.Errorf("the defaults are %+v", c)
	}
	env := environment("DS_NODE", "n1", "DS_PREFIX", "env", "DS_RING_BYTES", "1000", "NATS_URL", "nats://env:1", "DS_IDLE", "2m")
	c, err = Parse([]string{"--node", "n2", "--server", "nats://flag:1"}, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Node != "n2" || c.Prefix != "env" || c.RingBytes != 1000 || c.NATS.URL != "nats://flag:1" || c.Idle != 2*time.Minute {
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
		"flag":        {args: []string{"--nod", "n1"}, says: "--nod"},
		"argument":    {args: []string{"n1"}, says: `"n1"`},
		"value":       {args: []string{"--ring-bytes", "many"}, says: "ring-bytes"},
		"environment": {env: environment("DS_STREAMS", "many"), says: "DS_STREAMS"},
		"prefix":      {args: []string{"--prefix", "a b"}, says: "--prefix"},
		"node":        {args: []string{"--node", strings.Repeat("n", subjects.MaxNode+1)}, says: "--node"},
		"empty node":  {args: []string{"--node", ""}, says: "--node"},
		"max frame":   {args: []string{"--max-frame", "8000000"}, says: "--max-frame"},
	} {
		t.Run(name, func(t *testing.T) {
			env := c.env
			if env == nil {
				env = environment()
			}
			var out, stderr bytes.Buffer
			err := Main(t.Context(), c.args, env, &out, &stderr)
			if !errors.Is(err, service.ErrUsage) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, and is to say %q", err, c.says)
			}
			if out.Len() > 0 {
				t.Errorf("on standard output: %s", &out)
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

func start(t *testing.T, listen string) *server.Server {
	t.Helper()
	secrets := map[server.User]string{}
	for _, u := range server.Users() {
		secrets[u] = "pw"
	}
	s, err := server.Start(server.Options{Dir: t.TempDir(), Listen: listen, Space: subjects.Default(), Log: zerolog.Nop(), Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// settings are those of a mux on a server.
func settings(url, node string) Config {
	c := Defaults()
	c.Node = node
	c.NATS = service.NATS{URL: url, User: "muxd", Password: "pw", ServiceUser: "service", ServicePassword: "pw"}
	return c
}

// launch runs a daemon until the test ends, or until stop, and says how it
// ended. Nobody settles in these tests: nothing may be unsettled at the end,
// or stopping takes its time.
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
	t.Cleanup(func() { _ = stop() })
	return d, stop
}

func ready(t *testing.T, d *Daemon) {
	t.Helper()
	harness.Until(t, "the mux is ready", func() bool { return len(d.Health.Failing()) == 0 })
}

func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.UserInfo("operator", "pw"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// TestServes: it says that it is not ready before its server is there, then
// takes submissions, in process and over NATS, and stops in order without an
// error.
func TestServes(t *testing.T) {
	addr := harness.FreeAddr(t)
	d, stop := launch(t, settings("nats://"+addr, "n1"))
	run := frame.Single("a", 0, []byte("in process"))
	if d.Submit("n1", run) {
		t.Error("a submission was taken before it serves")
	}
	harness.Until(t, "the reasons", func() bool { return strings.Contains(fmt.Sprint(d.Health.Failing()), "not connected") })
	if f := fmt.Sprint(d.Health.Failing()); !strings.Contains(f, "mux: starting") {
		t.Errorf("before its server is there: %s", f)
	}
	s := start(t, addr)
	ready(t, d)
	nc := connect(t, s.URL())
	closing := make(chan control.Beat, 1)
	if _, err := nc.Subscribe("ds.beat.n1.*", func(m *nats.Msg) {
		b, err := control.DecodeBeat(m.Data)
		if err != nil {
			t.Error(err)
		}
		if b.Closed {
			closing <- b
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !d.Submit("n1", run) {
		t.Error("a submission in process was not taken")
	}
	m, err := nc.Request("ds.submit.n1.a", []byte("x"), harness.Patience)
	if err != nil {
		t.Fatal(err)
	}
	a, err := control.DecodeAnswer(m.Data)
	if err != nil || a.Error != "" || a.Position != 1 {
		t.Fatalf("the answer is %s", m.Data)
	}
	id := subjects.Stream{Node: "n1", Life: a.Life}
	if err := nc.Publish(subjects.Default().Settled(id), control.Settled{Below: 2}.Encode()); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Errorf("stopped with %v", err)
	}
	select {
	case b := <-closing:
		if b.Below != 2 {
			t.Errorf("the closing beat is %+v", b)
		}
	case <-time.After(harness.Patience):
		t.Error("there was no closing beat")
	}
	if d.Submit("n1", run) {
		t.Error("a submission was taken after the end")
	}
}

// TestSecondMuxOfANodeIsRefused: the error names the first; another node, a
// gateway or another prefix is none of its business (P5.5).
func TestSecondMuxOfANodeIsRefused(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	first, _ := launch(t, settings(s.URL(), "n1"))
	ready(t, first)
	second, err := New(settings(s.URL(), "n1"), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	err = second.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), `another muxd serves --node "n1"`) || !strings.Contains(err.Error(), "its id is ") {
		t.Errorf("the second mux ended with %v", err)
	}
	for _, node := range []string{"n2", Gateway} {
		d, _ := launch(t, settings(s.URL(), node))
		ready(t, d)
	}
	if d, err := New(settings(s.URL(), Gateway), zerolog.Nop()); err != nil {
		t.Fatal(err)
	} else if err := d.Run(t.Context()); err == nil || !strings.Contains(err.Error(), `--node "*"`) {
		t.Errorf("the second gateway ended with %v", err)
	}
}

// TestClosedForGoodEndsIt: a connection that the client library gives up is
// an error of the daemon, not a silent standstill (P6).
func TestClosedForGoodEndsIt(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	c := settings(s.URL(), "n1")
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
