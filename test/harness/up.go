package harness

import (
	"fmt"
	"net"
	"testing"

	"github.com/nats-io/nats.go"
)

// A Stack is a running `ds up`.
type Stack struct {
	*Proc
	Dir string
	URL string
	// Args is what it was started with, to start it again.
	Args []string
}

// Up starts `ds up` in a new folder on a free port and waits until it is
// ready.
func Up(t testing.TB, args ...string) *Stack {
	t.Helper()
	addr := FreeAddr(t)
	dir := t.TempDir()
	s := &Stack{Dir: dir, URL: "nats://" + addr}
	s.Args = append([]string{"up", "--dir", dir, "--listen", addr, "--http", "off"}, args...)
	s.Start(t)
	return s
}

// Start starts the stack again, with the same folder and port.
func (s *Stack) Start(t testing.TB) {
	t.Helper()
	s.Proc = Spawn(t, nil, DS(t), s.Args...)
	s.WaitFor(t, "Ctrl-C stops it") // the last that it prints
}

// NATS runs the nats tool against the stack and returns its output. It fails
// the test when the tool fails.
func (s *Stack) NATS(t testing.TB, args ...string) string {
	t.Helper()
	return NATS(t, s.URL, args...)
}

// SpawnNATS starts the nats tool against the stack.
func (s *Stack) SpawnNATS(t testing.TB, args ...string) *Proc {
	t.Helper()
	return Command{Path: NATSTool(t), Args: args, Env: []string{"NATS_URL=" + s.URL}}.Spawn(t)
}

// Connect connects as anybody would.
func (s *Stack) Connect(t testing.TB, opts ...nats.Option) *nats.Conn {
	t.Helper()
	return connect(t, s.URL, opts...)
}

// NATS runs the nats tool against a server and returns its output. It fails
// the test when the tool fails.
func NATS(t testing.TB, url string, args ...string) string {
	t.Helper()
	p, code := Command{Path: NATSTool(t), Args: args, Env: []string{"NATS_URL=" + url}}.Run(t)
	if code != 0 {
		t.Fatalf("nats %v: exit %d\n%s%s", args, code, p.Stdout(), p.Stderr())
	}
	return p.Stdout()
}

func connect(t testing.TB, url string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, append([]nats.Option{nats.MaxReconnects(-1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// FreeAddr is a local address that was free a moment ago.
func FreeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr())
}
