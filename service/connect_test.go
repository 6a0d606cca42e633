package service_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"datastream/service"
	"datastream/stack/server"
	"datastream/subjects"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// start runs a server; passwords are "pw" so that it can be started again.
func start(t *testing.T, dir, listen string) *server.Server {
	t.Helper()
	secrets := map[server.User]string{}
	for _, u := range server.Users() {
		secrets[u] = "pw"
	}
	s, err := server.Start(server.Options{Dir: dir, Listen: listen, Space: subjects.Default(), Log: zerolog.Nop(), Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// until waits for a state.
func until(t *testing.T, what string, state func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !state(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// A record is a log to look into while it is written.
type record struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

// metric is the value of a counter or gauge with these label values, -1 if
// there is none.
func metric(t *testing.T, reg prometheus.Gatherer, name string, labels ...string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if strings.Join(values, " ") == strings.Join(labels, " ") {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return -1
}

// freeAddr is an address on which nobody listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestReconnectsForEver is promise 3: a daemon starts before its server,
// outlives a server that goes away and comes back, keeps its subscriptions,
// and shows in logs, metrics and health where it stands. It buffers nothing.
func TestReconnectsForEver(t *testing.T) {
	dir, addr := t.TempDir(), freeAddr(t)
	var log record
	var h service.Health
	reg := prometheus.NewRegistry()
	downs := make(chan error, 16)
	c, err := service.Connect(t.Context(), service.NATS{URL: addr, User: "muxd", Password: "pw"}, service.Options{
		Name: "muxd", Log: zerolog.New(&log), Retry: true, Metrics: service.NewConnMetrics(reg), Health: &h,
		OnDisconnect: func(err error) { downs <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if name := c.Opts.Name; !strings.HasPrefix(name, "muxd/"+service.Version+" ") {
		t.Errorf("the connection is called %q", name)
	}
	if f := h.Failing(); len(f) != 1 || !strings.HasPrefix(f[0], "nats.muxd: not connected to nats://"+addr) {
		t.Errorf("before there is a server: %q", f)
	}
	heard, err := c.SubscribeSync("ds.submit.>")
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the reason in the log", func() bool { return strings.Contains(log.String(), "connection refused") })
	if err := c.Publish("ds.frame.x", nil); !errors.Is(err, nats.ErrReconnectBufExceeded) {
		t.Errorf("a publish while not connected: %v", err)
	}
	for round := 1.0; round <= 2; round++ {
		s := start(t, dir, addr)
		if err := c.WaitConnected(within(t)); err != nil {
			t.Fatal(err)
		}
		until(t, "health", func() bool { return len(h.Failing()) == 0 })
		if up, n := metric(t, reg, "ds_nats_up", "muxd"), metric(t, reg, "ds_nats_connects_total", "muxd"); up != 1 || n != round {
			t.Errorf("up is %v, connects %v, want 1 and %v", up, n, round)
		}
		if err := c.FlushWithContext(within(t)); err != nil {
			t.Fatal(err)
		}
		other, err := nats.Connect(addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(other.Publish("ds.submit.n1.a", nil), other.FlushTimeout(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := heard.NextMsg(patience); err != nil {
			t.Errorf("the subscription after connecting: %v", err)
		}
		other.Close()
		s.Close()
		if err := <-downs; err == nil {
			t.Error("a lost connection without a reason")
		}
		if up := metric(t, reg, "ds_nats_up", "muxd"); up != 0 {
			t.Errorf("up is %v without a server", up)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.WaitConnected(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting without a server: %v", err)
	}
	if err := c.Stop(within(t)); err != nil {
		t.Errorf("stop without a server: %v", err)
	}
	if err, ok := <-c.Closed(); ok || err != nil {
		t.Errorf("a stop that was asked for is reported: %v", err)
	}
}

// TestCommandFailsAtOnce: without Retry, and what it says to people.
func TestCommandFailsAtOnce(t *testing.T) {
	addr := freeAddr(t)
	_, err := service.Connect(t.Context(), service.NATS{URL: "nats://u:hunter2@" + addr}, service.Options{Name: "ds"})
	if !errors.Is(err, service.ErrUnreachable) {
		t.Fatalf("no server: %v", err)
	}
	for _, says := range []string{"cannot reach NATS at nats://" + addr, "refused", "`ds up`", "--server"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %q", err, says)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%q shows the password", err)
	}
	s := start(t, t.TempDir(), "127.0.0.1:0")
	n, err := resolve([]string{"--server", s.URL()}, map[string]string{"NATS_USER": "muxd", "NATS_PASSWORD": "hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.Connect(t.Context(), n, service.Options{Name: "ds"})
	if !errors.Is(err, service.ErrRefused) || !strings.Contains(err.Error(), "NATS_USER") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("wrong credentials: %v", err)
	}
	for name, n := range map[string]service.NATS{
		"creds": {URL: s.URL(), Creds: filepath.Join(t.TempDir(), "absent")},
		"nkey":  {URL: s.URL(), NKey: filepath.Join(t.TempDir(), "absent")},
		"ca":    {URL: s.URL(), CA: filepath.Join(t.TempDir(), "absent")},
	} {
		if _, err := service.Connect(t.Context(), n, service.Options{Name: "ds", Retry: true}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of a file that is not there: %v", name, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := service.Connect(ended, service.NATS{}, service.Options{Name: "ds"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestClosedForGood is the end of promise 3 (P6): credentials that are not
// taken twice end the connection, and its owner hears of it.
func TestClosedForGood(t *testing.T) {
	s := start(t, t.TempDir(), "127.0.0.1:0")
	c, err := service.Connect(t.Context(), service.NATS{URL: s.URL(), User: "muxd", Password: "wrong"},
		service.Options{Name: "muxd", Log: zerolog.Nop(), Retry: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	select {
	case err := <-c.Closed():
		if !errors.Is(err, service.ErrClosed) || !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("closed with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("not reported")
	}
	if err := c.WaitConnected(within(t)); !errors.Is(err, service.ErrClosed) {
		t.Errorf("waiting for a closed connection: %v", err)
	}
}

// TestPermissionErrors is promise 4: they are logged once a subject, with a
// bound on the subjects, and counted always.
func TestPermissionErrors(t *testing.T) {
	s := start(t, t.TempDir(), "127.0.0.1:0")
	var log record
	reg := prometheus.NewRegistry()
	c, err := service.Connect(t.Context(), service.NATS{URL: s.URL()},
		service.Options{Name: "x", Log: zerolog.New(&log), Metrics: service.NewConnMetrics(reg)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	const subjects, times = 300, 3
	for range times {
		for i := range subjects {
			if err := c.Publish("ds.frame.n"+string(rune('a'+i%26))+strings.Repeat("x", i/26), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := c.SubscribeSync("$SYS.>"); err != nil {
		t.Fatal(err)
	}
	until(t, "every refusal to be counted", func() bool {
		return metric(t, reg, "ds_nats_denied_total", "x", "publish") == subjects*times &&
			metric(t, reg, "ds_nats_denied_total", "x", "subscribe") == 1
	})
	text := log.String()
	if n := strings.Count(text, `"operation":"publish"`); n != 256 {
		t.Errorf("%d refusals are logged, want 256", n)
	}
	for _, says := range []string{`"subject":"ds.frame.na"`, `"further_subjects_only_counted":true`, "nats-server.conf"} {
		if !strings.Contains(text, says) {
			t.Errorf("the log does not say %s", says)
		}
	}
}

// TestSlowConsumers is promise 4: a subscription that drops is counted and
// handed to OnSlow with what it dropped.
func TestSlowConsumers(t *testing.T) {
	s := start(t, t.TempDir(), "127.0.0.1:0")
	reg := prometheus.NewRegistry()
	type slow struct {
		subject string
		dropped int
	}
	heard := make(chan slow, 1024)
	c, err := service.Connect(t.Context(), service.NATS{URL: s.URL()}, service.Options{
		Name: "x", Log: zerolog.Nop(), Metrics: service.NewConnMetrics(reg),
		OnSlow: func(sub *nats.Subscription, dropped int) { heard <- slow{sub.Subject, dropped} },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	sub, err := c.SubscribeSync("ds.submit.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.SetPendingLimits(1, -1); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := c.Publish("ds.submit.n1.a", nil); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case got := <-heard:
		if got.subject != "ds.submit.>" || got.dropped < 1 {
			t.Errorf("heard of %+v", got)
		}
	case <-time.After(patience):
		t.Fatal("OnSlow was not called")
	}
	if n := metric(t, reg, "ds_nats_errors_total", "x", "slow_consumer"); n < 1 {
		t.Errorf("counted %v episodes", n)
	}
}

// TestStopDrains: messages that have arrived are handled before the
// connection is closed, and a context that ends first cuts it short.
func TestStopDrains(t *testing.T) {
	s := start(t, t.TempDir(), "127.0.0.1:0")
	open := func() (*service.Conn, chan struct{}, chan struct{}) {
		c, err := service.Connect(t.Context(), service.NATS{URL: s.URL()}, service.Options{Name: "x", Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		entered, release := make(chan struct{}), make(chan struct{})
		_, err = c.Subscribe("ds.submit.>", func(*nats.Msg) { entered <- struct{}{}; <-release })
		if err := errors.Join(err, c.Publish("ds.submit.n1.a", nil)); err != nil {
			t.Fatal(err)
		}
		<-entered
		return c, entered, release
	}
	c, _, release := open()
	stopped := make(chan error, 1)
	go func() { stopped <- c.Stop(within(t)) }()
	until(t, "the drain to begin", c.IsDraining)
	select {
	case err := <-stopped:
		t.Fatalf("stopped with a message in hand: %v", err)
	default:
	}
	close(release)
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	c, _, release = open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Stop(ctx); !errors.Is(err, context.Canceled) || !c.IsClosed() {
		t.Errorf("stop cut short: %v, closed %v", err, c.IsClosed())
	}
	close(release)
}
