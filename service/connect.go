package service

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

const (
	pingInterval   = 20 * time.Second
	dialTimeout    = 2 * time.Second
	flushTimeout   = 5 * time.Second        // a server that stops reading blocks a writer this long
	firstReconnect = 100 * time.Millisecond // doubled at each round of servers
	lastReconnect  = 2 * time.Second
	repeatReason   = 30 * time.Second // an unchanged reason is logged this often
)

// Options say how a connection behaves. Only Name is required. The hooks are
// called from the connection's own goroutine, one at a time, and must not
// wait for the connection.
type Options struct {
	Name         string // of the service, as "muxd"
	Log          zerolog.Logger
	Retry        bool                                      // a daemon's: Connect does not fail for want of a server
	OnConnect    func()                                    // the first time and each time again
	OnDisconnect func(error)                               // not called for a close of our own
	OnSlow       func(sub *nats.Subscription, dropped int) // dropped so far by that subscription
	Metrics      *ConnMetrics                              // may be shared by connections
	Health       *Health                                   // has the check "nats.<Name>" set
}

// A Conn is a connection to NATS that reconnects for ever.
type Conn struct {
	*nats.Conn
	events *events
	dialer *dialer
	asked  atomic.Bool // closing is our own wish
	closed chan error
	done   chan struct{}
}

// Connect opens a connection. With Retry it returns at once and goes on
// trying, with a line in the log for each new reason; otherwise no answer is
// an error that wraps ErrUnreachable or ErrRefused. The extra options come
// last: their handlers replace those of this package.
func Connect(ctx context.Context, n NATS, o Options, extra ...nats.Option) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	own, err := n.options()
	if err != nil {
		return nil, err
	}
	c := &Conn{
		dialer: &dialer{Dialer: net.Dialer{Timeout: dialTimeout}},
		closed: make(chan error, 1), done: make(chan struct{}),
	}
	c.events = newEvents(o, n.Redacted())
	c.events.down(nil)
	all := append(c.standing(o), own...)
	nc, err := nats.Connect(orDefault(n.URL), append(all, extra...)...)
	if err != nil {
		return nil, c.explain(n, err)
	}
	c.Conn = nc
	return c, nil
}

func orDefault(u string) string {
	if u == "" {
		return DefaultURL
	}
	return u
}

// standing are the options that every connection has (P6).
func (c *Conn) standing(o Options) []nats.Option {
	host, _ := os.Hostname()
	retry := &retries{log: o.Log, dialer: c.dialer}
	return []nats.Option{
		nats.Name(o.Name + "/" + Version + " " + host),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(o.Retry),
		nats.CustomReconnectDelay(retry.delay),
		nats.PingInterval(pingInterval),
		nats.ReconnectBufSize(-1),
		nats.FlusherTimeout(flushTimeout),
		nats.SetCustomDialer(c.dialer),
		nats.ConnectHandler(func(nc *nats.Conn) { c.events.up(nc) }),
		nats.ReconnectHandler(func(nc *nats.Conn) { c.events.up(nc) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.lost(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) { c.events.async(sub, err) }),
		nats.ClosedHandler(func(nc *nats.Conn) { c.ended(nc.LastError()) }),
	}
}

func (c *Conn) lost(err error) {
	if err == nil && !c.asked.Load() {
		err = nats.ErrConnectionClosed
	}
	c.dialer.note(err)
	c.events.down(err)
}

func (c *Conn) ended(err error) {
	if c.asked.Load() {
		close(c.closed)
	} else {
		if err == nil {
			err = nats.ErrConnectionClosed
		}
		c.events.down(err)
		c.closed <- fmt.Errorf("%w: %w", ErrClosed, err)
	}
	close(c.done)
}

// Closed yields one error if the client library closes the connection for
// good, which is for its owner to end the process with (P6); it is closed
// without one after Close, Drain or Stop.
func (c *Conn) Closed() <-chan error { return c.closed }

// Close closes the connection at once.
func (c *Conn) Close() {
	c.asked.Store(true)
	c.Conn.Close()
}

// Drain lets subscriptions finish what they have and then closes, without
// waiting for it.
func (c *Conn) Drain() error {
	c.asked.Store(true)
	return c.Conn.Drain()
}

// Stop drains and waits until the connection is closed, or closes it when the
// context ends first.
func (c *Conn) Stop(ctx context.Context) error {
	err := c.Drain()
	if err != nil {
		c.Conn.Close()
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		c.Conn.Close()
		return fmt.Errorf("drain the connection to NATS: %w", ctx.Err())
	}
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrConnectionReconnecting) {
		return nil // nothing to drain
	}
	return err
}

// WaitConnected waits until the connection is up for the first time or again.
func (c *Conn) WaitConnected(ctx context.Context) error {
	changed := c.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer c.RemoveStatusListener(changed)
	for !c.IsConnected() {
		if c.IsClosed() {
			return fmt.Errorf("wait for NATS: %w", ErrClosed)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for NATS: %w (%s)", ctx.Err(), c.dialer.reason())
		case <-changed:
		}
	}
	return nil
}

// explain says for people why the first connect failed.
func (c *Conn) explain(n NATS, err error) error {
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) {
		return fmt.Errorf("%w at %s: %w; they are %s", ErrRefused, n.Redacted(), err, n.credentials())
	}
	if last := c.dialer.last(); last != nil && errors.Is(err, nats.ErrNoServers) {
		err = last
	}
	return fmt.Errorf("%w at %s: %w; start one with `ds up`, or say where with --server", ErrUnreachable, n.Redacted(), err)
}

// credentials says which credentials were used, and where they came from.
func (n *NATS) credentials() string {
	for _, flag := range identities {
		if from := n.from[flag]; from != "" {
			return "the " + flag + " from " + from
		}
	}
	if n.Creds == "" && n.User == "" && n.Token == "" && n.NKey == "" {
		return "none: give some with --user or --creds"
	}
	return "those it was given"
}

// A dialer is the net package's, and remembers why it last failed: nats.go
// says only that there is no server.
type dialer struct {
	net.Dialer
	mu  sync.Mutex
	err error
}

// Dial opens the socket.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	c, err := d.Dialer.Dial(network, address)
	d.note(err)
	return c, err
}

func (d *dialer) note(err error) {
	d.mu.Lock()
	d.err = err
	d.mu.Unlock()
}

func (d *dialer) last() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *dialer) reason() string {
	if err := d.last(); err != nil {
		return err.Error()
	}
	return "the server closed the connection, or did not answer"
}

// retries paces reconnecting and logs its reasons. It is called by one
// goroutine at a time, that of nats.go's reconnect loop.
type retries struct {
	log    zerolog.Logger
	dialer *dialer
	said   string
	at     time.Time
}

// delay is how long to wait before the servers are tried again.
func (r *retries) delay(round int) time.Duration {
	d := lastReconnect
	if shift := round - 1; shift < 5 {
		d = min(d, firstReconnect<<max(shift, 0))
	}
	d = d/2 + rand.N(d/2)
	if reason, now := r.dialer.reason(), time.Now(); reason != r.said || now.Sub(r.at) >= repeatReason {
		r.said, r.at = reason, now
		r.log.Warn().Int("attempt", round).Str("reason", reason).Msg("not connected to NATS; trying again")
	}
	return d
}
