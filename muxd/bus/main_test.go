package bus

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// A rig is a bus on a real server, and somebody else on the same server who
// may publish anything and sees what the bus publishes, in its order.
type rig struct {
	t     *testing.T
	host  *host
	nc    *nats.Conn // the bus's
	other *nats.Conn
	bus   *Bus
	reg   *prometheus.Registry
	wire  chan *nats.Msg // frames, beats and answers to box
	box   string         // an inbox of other's
	pub   *publisher     // of a bus that does not run
	end   func()
}

// A host is a server that can be stopped and started again.
type host struct {
	opts server.Options
	s    *server.Server
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{opts: server.Options{
		Dir: t.TempDir(), Listen: harness.FreeAddr(t), Space: subjects.Default(), Log: zerolog.Nop(), Secrets: map[server.User]string{},
	}}
	for _, u := range server.Users() {
		h.opts.Secrets[u] = "pw"
	}
	h.start(t)
	t.Cleanup(func() { h.s.Close() })
	return h
}

func (h *host) start(t *testing.T) {
	t.Helper()
	s, err := server.Start(h.opts)
	if err != nil {
		t.Fatal(err)
	}
	h.s = s
}

// connect reconnects for ever, quickly, and buffers nothing, as a service does.
func (h *host) connect(t *testing.T, u server.User, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(h.opts.Listen, append([]nats.Option{
		nats.UserInfo(string(u), "pw"), nats.MaxReconnects(-1), nats.ReconnectWait(2 * time.Millisecond),
		nats.ReconnectJitter(time.Millisecond, time.Millisecond), nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// still is a bus that is subscribed and does not run: the test is its loops,
// and chooses the time.
func still(t *testing.T, cfg Config, opts ...nats.Option) *rig {
	t.Helper()
	r := newRig(t, cfg, opts...)
	if err := r.bus.subscribe(); err != nil {
		t.Fatal(err)
	}
	r.pub = newPublisher(r.bus)
	return r
}

// start lets the bus run until the test ends, or until r.end.
func (r *rig) start() *rig {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- r.bus.Run(ctx, func() { close(up) }) }()
	r.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("the bus ended with %v", err)
		}
		r.flush(r.nc)
		r.flush(r.other)
	})
	r.t.Cleanup(r.end)
	<-up
	return r
}

func newRig(t *testing.T, cfg Config, opts ...nats.Option) *rig {
	t.Helper()
	if cfg.StopWait == 0 {
		cfg.StopWait = 100 * time.Millisecond // nobody settles, unless a test does
	}
	r := &rig{t: t, host: newHost(t), reg: prometheus.NewRegistry(), wire: make(chan *nats.Msg, 1<<16)}
	r.other = r.host.connect(t, server.Operator)
	r.box = r.other.NewInbox()
	for _, subject := range []string{"ds.frame.>", "ds.beat.>", r.box, r.box + ".>"} {
		if _, err := r.other.ChanSubscribe(subject, r.wire); err != nil {
			t.Fatal(err)
		}
	}
	r.flush(r.other)
	r.nc = r.host.connect(t, server.Muxd, opts...)
	r.bus = New(r.nc, cfg, zerolog.Nop(), r.reg)
	return r
}

func (r *rig) flush(nc *nats.Conn) {
	r.t.Helper()
	if err := nc.FlushTimeout(harness.Patience); err != nil {
		r.t.Fatal(err)
	}
}

// publish sends as anybody else; header goes in pairs.
func (r *rig) publish(subject, reply, body string, header ...string) {
	r.t.Helper()
	m := &nats.Msg{Subject: subject, Reply: reply, Data: []byte(body), Header: nats.Header{}}
	for i := 0; i < len(header); i += 2 {
		m.Header[header[i]] = []string{header[i+1]}
	}
	if err := r.other.PublishMsg(m); err != nil {
		r.t.Fatal(err)
	}
}

// pump lets a still bus handle everything that was published, at an instant.
func (r *rig) pump(now time.Time) {
	r.t.Helper()
	r.flush(r.other)
	r.flush(r.nc)
	for len(r.bus.in) > 0 {
		r.bus.handle(<-r.bus.in, now)
	}
}

// drain is a still bus's drain loop, until it has nothing to do.
func (r *rig) drain() {
	for b := r.bus; ; {
		b.mu.Lock()
		round := b.dirty
		b.dirty = nil
		b.mu.Unlock()
		b.flush()
		if len(round) == 0 {
			return
		}
		for _, s := range round {
			b.drain(r.pub, s)
		}
	}
}

// repair is a still bus's repair loop, until it has nothing to do.
func (r *rig) repair() {
	for len(r.bus.repairs) > 0 {
		r.bus.serveRepair(r.t.Context(), r.pub, rate.NewLimiter(rate.Inf, 0), <-r.bus.repairs)
	}
}

// step is pump, drain and repair.
func (r *rig) step(now time.Time) {
	r.t.Helper()
	r.pump(now)
	r.drain()
	r.repair()
}

// submit publishes a submission.
func (r *rig) submit(node, channel, body string, header ...string) {
	r.t.Helper()
	r.publish("ds.submit."+node+"."+channel, "", body, header...)
}

// settle says how far a stream is settled.
func (r *rig) settle(id subjects.Stream, s control.Settled) {
	r.t.Helper()
	r.publish(subjects.Default().Settled(id), "", string(s.Encode()))
}

// stream is the open stream of a node.
func (r *rig) stream(node subjects.Node) *stream {
	r.t.Helper()
	r.bus.mu.Lock()
	defer r.bus.mu.Unlock()
	for _, s := range r.bus.streams {
		if s.id.Node == node && !s.mux.Closed() {
			return s
		}
	}
	r.t.Fatalf("node %q has no open stream", node)
	return nil
}

// An event is one message that the bus published.
type event struct {
	id     subjects.Stream
	beat   *control.Beat
	run    frame.Run
	answer []byte // to box
	to     string // the subject
}

func (r *rig) read(m *nats.Msg) (e event) {
	r.t.Helper()
	var err error
	e.to = m.Subject
	switch {
	case strings.HasPrefix(m.Subject, r.box):
		e.answer = m.Data
		return e
	case strings.HasPrefix(m.Subject, "ds.beat."):
		var b control.Beat
		if e.id, err = subjects.Default().ParseBeat(m.Subject); err == nil {
			b, err = control.DecodeBeat(m.Data)
			e.beat = &b
		}
	default:
		var c subjects.Channel
		if e.id, c, err = subjects.Default().ParseFrame(m.Subject); err == nil {
			e.run, err = frame.Decode(c, m.Header, m.Data)
		}
	}
	if err != nil {
		r.t.Fatalf("the bus published %q on %s: %v", m.Data, m.Subject, err)
	}
	return e
}

// until reads what the bus publishes up to the event that is waited for.
func (r *rig) until(what string, ok func(event) bool) (seen []event) {
	r.t.Helper()
	deadline := time.After(harness.Patience)
	for {
		select {
		case m := <-r.wire:
			e := r.read(m)
			if seen = append(seen, e); ok(e) {
				return seen
			}
		case <-deadline:
			r.t.Fatalf("gave up waiting for %s", what)
		}
	}
}

// sofar is everything that a still bus has published.
func (r *rig) sofar() (seen []event) {
	r.t.Helper()
	r.flush(r.nc)
	r.flush(r.other)
	for len(r.wire) > 0 {
		seen = append(seen, r.read(<-r.wire))
	}
	return seen
}

// closing is the closing beat of a node.
func closing(node subjects.Node) func(event) bool {
	return func(e event) bool { return e.id.Node == node && e.beat != nil && e.beat.Closed }
}

// answers are the answers among events, in their order.
func (r *rig) answers(seen []event) (out []control.Answer) {
	r.t.Helper()
	for _, e := range seen {
		if e.answer == nil {
			continue
		}
		a, err := control.DecodeAnswer(e.answer)
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// payloads are the frames of a node among events, as position=payload, in
// their order.
func payloads(seen []event, node subjects.Node) (out []string) {
	for _, e := range seen {
		if e.id.Node != node {
			continue
		}
		for i := range e.run.Len() {
			out = append(out, fmt.Sprintf("%d=%s", e.run.Pos(i), e.run.Payload(i)))
		}
	}
	return out
}

func beats(seen []event, node subjects.Node) (out []control.Beat) {
	for _, e := range seen {
		if e.beat != nil && e.id.Node == node {
			out = append(out, *e.beat)
		}
	}
	return out
}

// counts gathers every metric of a family that has one label, by its value;
// one without is under "".
func (r *rig) counts(name string) map[string]float64 {
	r.t.Helper()
	families, err := r.reg.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "ds_mux_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			label := ""
			if l := m.GetLabel(); len(l) > 0 {
				label = l[0].GetValue()
			}
			if v := m.GetCounter().GetValue() + m.GetGauge().GetValue(); v != 0 {
				out[label] = v
			}
		}
	}
	return out
}

// wantCounts fails unless just these are not zero.
func (r *rig) wantCounts(name string, want map[string]float64) {
	r.t.Helper()
	if got := r.counts(name); !maps.Equal(got, want) {
		r.t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func wantEqual[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
