package invariant

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
)

// A proxy stands between a client and the server: it can cut the connection
// and stay away.
type proxy struct {
	listener net.Listener
	target   string
	all      sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	away  bool
}

// proxy stands before the pipe's server until the test ends.
func (p *pipe) proxy(t testing.TB) *proxy {
	t.Helper()
	u, err := url.Parse(p.URL())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := &proxy{listener: l, target: u.Host, conns: map[net.Conn]bool{}}
	x.all.Go(x.accept)
	t.Cleanup(func() {
		_ = l.Close()
		x.cut()
		x.all.Wait()
	})
	return x
}

// dial connects through the proxy, as a producer does.
func (x *proxy) dial(t testing.TB) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("nats://"+x.listener.Addr().String(), nats.ReconnectBufSize(-1), nats.MaxReconnects(-1),
		nats.ReconnectWait(1), nats.ReconnectJitter(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// cut breaks every connection and lets none through until mend.
func (x *proxy) cut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.away = true
	for c := range x.conns {
		_ = c.Close()
	}
}

func (x *proxy) mend() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.away = false
}

func (x *proxy) accept() {
	for {
		down, err := x.listener.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", x.target)
		if err != nil {
			_ = down.Close()
			continue
		}
		if !x.keep(down, up) {
			_, _ = down.Close(), up.Close()
			continue
		}
		x.all.Go(func() { x.carry(up, down) })
		x.all.Go(func() { x.carry(down, up) })
	}
}

func (x *proxy) keep(conns ...net.Conn) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range conns {
		if !x.away {
			x.conns[c] = true
		}
	}
	return !x.away
}

func (x *proxy) carry(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = to.Close(), from.Close()
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.conns, from)
	delete(x.conns, to)
}
