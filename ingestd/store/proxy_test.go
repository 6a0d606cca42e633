package store

import (
	"net"
	"sync"
	"testing"
)

// proxy stands between a client and the server and can lose what passes.
type proxy struct {
	l      net.Listener
	target string
	wg     sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]bool
	left   int           // bytes up to the server until all is cut; below 0 there is no end
	mute   bool          // nothing comes down any more
	frozen chan struct{} // while it is not nil, nothing goes up until it is closed
	done   bool
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l: l, target: target, conns: make(map[net.Conn]bool), left: -1}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		p.thaw()
		p.mu.Lock()
		p.done = true
		p.mu.Unlock()
		_ = l.Close()
		p.cut()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) url() string { return "nats://" + p.l.Addr().String() }

// cut breaks every connection; new ones pass everything.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.mute = -1, false
	for c := range p.conns {
		_ = c.Close()
	}
}

// cutAfter breaks all connections once n more bytes went up. With mute,
// nothing comes down from now on.
func (p *proxy) cutAfter(n int, mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.mute = n, mute
}

// freeze lets nothing go up until thaw.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = make(chan struct{})
}

func (p *proxy) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen != nil {
		close(p.frozen)
		p.frozen = nil
	}
}

func (p *proxy) accept() {
	for {
		down, err := p.l.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = down.Close()
			continue
		}
		p.mu.Lock()
		p.conns[down], p.conns[up] = true, true
		over := p.done
		p.mu.Unlock()
		if over {
			_, _ = down.Close(), up.Close()
		}
		p.wg.Go(func() { p.carry(up, down, true) })
		p.wg.Go(func() { p.carry(down, up, false) })
	}
}

func (p *proxy) carry(to, from net.Conn, upwards bool) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		n, end := p.pass(n, upwards)
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				err = werr
			}
		}
		if end {
			p.cut()
		}
		if err != nil || end {
			break
		}
	}
	_, _ = from.Close(), to.Close()
	p.mu.Lock()
	delete(p.conns, from)
	delete(p.conns, to)
	p.mu.Unlock()
}

// pass says how many of n bytes go on, and whether then all is cut.
func (p *proxy) pass(n int, upwards bool) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for upwards && p.frozen != nil {
		wait := p.frozen
		p.mu.Unlock()
		<-wait
		p.mu.Lock()
	}
	switch {
	case !upwards && p.mute:
		return 0, false
	case !upwards || p.left < 0:
		return n, false
	case p.left <= n:
		n = p.left
		return n, true
	}
	p.left -= n
	return n, false
}
