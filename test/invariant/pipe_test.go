package invariant

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	ingest "datastream/ingestd/run"
	mux "datastream/muxd/run"
	"datastream/stack"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/test/harness"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests; 0 takes a new one")

// random is a source whose seed is in the test's log.
func random(t testing.TB) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d (repeat with -seed %d)", seed, seed)
	return rand.New(rand.NewPCG(seed, seed))
}

// A pipe is a running stack under observation.
type pipe struct {
	*stack.Stack
	operator *nats.Conn
	courier  *courier
	watcher  *watcher
	archive  *archive
}

// options are a stack's with the carrier under the test's hand.
func options(dir string) (stack.Options, *courier) {
	c := &courier{}
	o := stack.Options{
		Dir: dir, Listen: "127.0.0.1:0", Log: zerolog.Nop(),
		Mux: mux.Defaults(), Ingest: ingest.Defaults(),
	}
	o.Mux.Carrier = c.wrap
	return o, c
}

// open starts a stack of the test's own; change may be nil.
func open(t testing.TB, change func(*stack.Options)) *pipe {
	t.Helper()
	o, c := options(t.TempDir())
	if change != nil {
		change(&o)
	}
	p, err := start(o, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.open()
		p.close()
		p.watcher.verify(t)
	})
	return p
}

func start(o stack.Options, c *courier) (*pipe, error) {
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	s, err := stack.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	p := &pipe{Stack: s, courier: c}
	if err = s.Ready(ctx); err == nil {
		p.operator, err = s.Connect(server.Operator)
	}
	if err == nil {
		p.archive = newArchive(p.operator, s.Space())
		p.watcher, err = newWatcher(func() (*nats.Conn, error) { return s.Connect(server.Operator) }, s.Space())
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return p, nil
}

func (p *pipe) close() {
	p.archive.close()
	p.operator.Close()
	p.watcher.close()
	p.Stack.Close()
}

var common struct {
	sync.Mutex
	pipe *pipe
	dir  string
}

// shared is the pipe of the tests that do not tamper with one. Their nodes are
// their own (see node).
func shared(t testing.TB) *pipe {
	t.Helper()
	common.Lock()
	defer common.Unlock()
	if common.pipe == nil {
		dir, err := os.MkdirTemp("", "datastream-invariant-")
		if err != nil {
			t.Fatal(err)
		}
		common.dir = dir
		o, c := options(dir)
		if common.pipe, err = start(o, c); err != nil {
			t.Fatal(err)
		}
	}
	p := common.pipe
	t.Cleanup(func() { p.watcher.verify(t) })
	return p
}

// TestMain closes the shared pipe, and keeps properties over the real stack
// short unless more is asked for.
func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "25")
	code := m.Run()
	common.Lock()
	defer common.Unlock()
	if common.pipe != nil {
		common.pipe.close()
		_ = os.RemoveAll(common.dir)
	}
	os.Exit(code)
}

var nodes atomic.Uint64

// node is a name that no other test uses.
func node(t testing.TB) subjects.Node {
	name := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	return subjects.Node(fmt.Sprintf("%.100s-%d", name, nodes.Add(1)))
}

// dial connects as one of the users until the test ends.
func (p *pipe) dial(t testing.TB, u server.User, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := p.Connect(u, append([]nats.Option{nats.ReconnectBufSize(-1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// flush makes sure that the server has everything that was published.
func flush(t testing.TB, nc *nats.Conn) {
	t.Helper()
	if err := nc.FlushTimeout(harness.Patience); err != nil {
		t.Fatal(err)
	}
}

// message is a submission.
func (p *pipe) message(n subjects.Node, c subjects.Channel, payload []byte, headers ...string) *nats.Msg {
	m := &nats.Msg{Subject: p.Space().Submit(n, c), Data: payload, Header: nats.Header{}}
	for i := 0; i+1 < len(headers); i += 2 {
		m.Header[headers[i]] = append(m.Header[headers[i]], headers[i+1])
	}
	return m
}

// publish sends a message that nobody answers.
func publish(t testing.TB, nc *nats.Conn, m *nats.Msg) {
	t.Helper()
	if err := nc.PublishMsg(m); err != nil {
		t.Fatal(err)
	}
}

// ask sends a message and returns the mux's answer.
func ask(t testing.TB, nc *nats.Conn, m *nats.Msg) control.Answer {
	t.Helper()
	r, err := nc.RequestMsg(m, harness.Patience)
	if err != nil {
		t.Fatalf("ask %.80q: %v", m.Subject, err)
	}
	a, err := control.DecodeAnswer(r.Data)
	if err != nil {
		t.Fatalf("ask %.80q: %v", m.Subject, err)
	}
	return a
}

// submit submits one frame and returns where the mux put it.
func (p *pipe) submit(t testing.TB, nc *nats.Conn, n subjects.Node, c subjects.Channel, payload []byte) (subjects.Stream, subjects.Position) {
	t.Helper()
	a := ask(t, nc, p.message(n, c, payload))
	if a.Error != "" {
		t.Fatalf("submit to %q: %s", c, a.Error)
	}
	return subjects.Stream{Node: n, Life: a.Life}, a.Position
}

// count is a metric, summed over the label values that are not given.
func (p *pipe) count(t testing.TB, name string, labels ...string) uint64 {
	t.Helper()
	families, err := p.Metrics().Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	next:
		for _, m := range f.Metric {
			for _, want := range labels {
				found := false
				for _, l := range m.Label {
					found = found || l.GetValue() == want
				}
				if !found {
					continue next
				}
			}
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return uint64(sum)
}

// grows returns a function that waits until a metric has grown by n since now.
func (p *pipe) grows(t testing.TB, name string, labels ...string) func(n uint64) {
	t.Helper()
	before := p.count(t, name, labels...)
	return func(n uint64) {
		t.Helper()
		harness.Until(t, fmt.Sprintf("%s%v has grown by %d (it was %d and is %d)", name, labels, n, before, p.count(t, name, labels...)),
			func() bool { return p.count(t, name, labels...) >= before+n })
		if got := p.count(t, name, labels...) - before; got != n {
			t.Errorf("%s%v has grown by %d, not by %d", name, labels, got, n)
		}
	}
}

// within is a context that ends when nobody would wait any longer.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	t.Cleanup(cancel)
	return ctx
}

// settled waits until everything that any stream of the mux assigned is
// committed or given up.
func (p *pipe) settled(t testing.TB) {
	t.Helper()
	harness.Until(t, "all positions are settled", func() bool {
		return p.count(t, "ds_mux_unsettled_positions") == 0 && p.count(t, "ds_mux_buffered_frames") == 0
	})
}

// eventually waits until the archive satisfies a condition, and explains what
// it held when it never does.
func (p *pipe) eventually(t testing.TB, what string, st subjects.Stream, ok func(*life) bool) *life {
	t.Helper()
	deadline := time.Now().Add(harness.Patience)
	for {
		p.archive.read(t)
		l := p.archive.life(st)
		if ok(l) {
			return l
		}
		if time.Now().After(deadline) {
			t.Fatalf("gave up waiting until %s; %v has %d frames, gaps %v", what, st, len(l.frames), l.gaps())
		}
		time.Sleep(5 * time.Millisecond) // between two looks at a state
	}
}

// stored waits until a stream has so many frames.
func (p *pipe) stored(t testing.TB, st subjects.Stream, frames int) *life {
	t.Helper()
	return p.eventually(t, fmt.Sprintf("%d frames are stored", frames), st, func(l *life) bool { return len(l.frames) >= frames })
}
