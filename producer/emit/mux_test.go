package emit

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// node is one whose name a token cannot carry as it is.
const node subjects.Node = "n1.example"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startServer runs a NATS server for the length of a test.
func startServer(t testing.TB) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, MaxPayload: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server did not start")
	}
	return s
}

// A gate is the dialer of a connection: it can refuse, and cut what it dialed.
type gate struct {
	mu    sync.Mutex
	open  bool
	conns []net.Conn
}

func (g *gate) Dial(network, address string) (net.Conn, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		return nil, errors.New("the gate is shut")
	}
	c, err := net.DialTimeout(network, address, 5*time.Second)
	if err == nil {
		g.conns = append(g.conns, c)
	}
	return c, err
}

func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = open
}

// cut breaks the connection; it may be dialed again if the gate is open.
func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		c.Close()
	}
	g.conns = nil
}

// connect makes a connection as the daemons do, through a gate.
func connect(t testing.TB, s *server.Server, open bool) (*nats.Conn, *gate) {
	t.Helper()
	g := &gate{open: open}
	nc, err := nats.Connect(s.ClientURL(), nats.SetCustomDialer(g), nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1), nats.ReconnectWait(5*time.Millisecond), nats.ReconnectJitter(0, 0),
		nats.ReconnectBufSize(-1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, g
}

func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// A testMux is a mux of one life, as P4.2 and P4.3 describe it, with an ingest
// that commits at once. Its fields may be read under its mutex.
type testMux struct {
	t   testing.TB
	nc  *nats.Conn
	sub *nats.Subscription

	mu        sync.Mutex
	life      subjects.Life
	producers map[string]uint64
	answers   map[string]control.Answer // by Ds-Seq
	position  subjects.Position
	got       map[subjects.Channel][]string // unpaced and paced frames, in order
	frames    uint64
	missing   uint64
	messages  int
	marks     []uint64
	lost      uint64

	// What it does with a paced run: false makes it deaf to the message.
	hear func(n int) bool
	// Whether a frame is given up rather than committed.
	giveUp func(payload string) bool
	// A final error for a run, if not empty.
	reject func(payload string) string
	mute   bool // no announcements
}

func startMux(t testing.TB, s *server.Server) *testMux {
	t.Helper()
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	m := &testMux{
		t: t, nc: nc, life: subjects.MintLife(time.Now()),
		producers: map[string]uint64{}, answers: map[string]control.Answer{},
		got:    map[subjects.Channel][]string{},
		hear:   func(int) bool { return true },
		giveUp: func(string) bool { return false },
		reject: func(string) string { return "" },
	}
	m.listen()
	return m
}

func (m *testMux) listen() {
	sub, err := m.nc.Subscribe(subjects.Default().AllSubmits(), m.handle)
	if err != nil {
		m.t.Fatal(err)
	}
	_ = sub.SetPendingLimits(-1, -1)
	if err := m.nc.Flush(); err != nil {
		m.t.Fatal(err)
	}
	m.sub = sub
}

func (m *testMux) handle(msg *nats.Msg) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, c, err := subjects.Default().ParseSubmit(msg.Subject)
	if err != nil || n != node || subjects.Default().Submit(n, c) != msg.Subject {
		m.t.Errorf("submission on %q: %v", msg.Subject, err)
		return
	}
	r, err := frame.DecodeSubmission(c, msg.Header, msg.Data)
	if err != nil {
		m.t.Errorf("submission on %q: %v", msg.Subject, err)
		return
	}
	q, err := frame.ParseSeq(msg.Header.Get(frame.HeaderSeq))
	if err != nil {
		m.t.Errorf("submission on %q: %v", msg.Subject, err)
		return
	}
	if msg.Reply == "" {
		m.take(r, q)
		return
	}
	m.messages++
	if !m.hear(m.messages) {
		return
	}
	a := m.paced(r, q)
	a.Node, a.Life = subjects.EncodeNode(n), m.life
	_ = m.nc.Publish(msg.Reply, a.Encode())
	if a.Error == "" && !m.mute {
		m.commit(r)
	}
}

// take is the unpaced half: a step of numbers is a loss.
func (m *testMux) take(r frame.Run, q frame.Seq) {
	expected, known := m.producers[q.Producer]
	switch {
	case known && q.N < expected:
		m.t.Errorf("number %d came after %d", q.N, expected)
	case known && q.N-expected > 1<<20:
		m.missing++
	case known:
		m.missing += q.N - expected
	}
	if r.Len() == 0 {
		m.marks = append(m.marks, q.N)
	} else {
		m.messages++
	}
	m.producers[q.Producer] = q.N + uint64(r.Len())
	m.keep(r)
}

func (m *testMux) keep(r frame.Run) {
	for i := range r.Len() {
		m.got[r.Channel] = append(m.got[r.Channel], string(r.Payload(i)))
		m.frames++
	}
}

func (m *testMux) paced(r frame.Run, q frame.Seq) control.Answer {
	expected := m.producers[q.Producer]
	switch {
	case q.N > expected:
		return control.Answer{Error: control.ErrorOrder, Next: expected}
	case q.N < expected:
		return m.answers[q.String()]
	}
	if text := m.reject(string(r.Payload(0))); text != "" {
		return control.Answer{Error: text}
	}
	a := control.Answer{Position: m.position, Count: r.Len()}
	m.position += subjects.Position(r.Len())
	m.producers[q.Producer] = expected + uint64(r.Len())
	m.answers[q.String()] = a
	m.keep(r)
	return a
}

// commit announces everything below the next position.
func (m *testMux) commit(r frame.Run) {
	var gone []control.Range
	first := m.position - subjects.Position(r.Len())
	for i := range r.Len() {
		if m.giveUp(string(r.Payload(i))) {
			p := first + subjects.Position(i)
			gone = append(gone, control.Range{From: p, To: p})
			m.lost++
		}
	}
	m.announce(control.Settled{Below: m.position, Lost: m.lost, Gone: gone})
}

func (m *testMux) announce(s control.Settled) {
	_ = m.nc.Publish(subjects.Default().Settled(subjects.Stream{Node: node, Life: m.life}), s.Encode())
}

// restart begins a new life that knows no producer, and closes the old one.
func (m *testMux) restart(announced subjects.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.announce(control.Settled{Below: announced, Lost: m.lost, Closed: true})
	m.life = subjects.MintLife(time.Now())
	m.producers, m.answers = map[string]uint64{}, map[string]control.Answer{}
	m.position, m.lost = 0, 0
}

// heard is how many submissions are accounted for.
func (m *testMux) heard() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.frames + m.missing
}

func (m *testMux) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}
