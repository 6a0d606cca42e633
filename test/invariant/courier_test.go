package invariant

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"datastream/muxd/bus"
)

// A courier stands between the mux and its connection and does to messages
// what a transport may (P6): its plan decides what becomes of each. Without a
// plan it passes everything on at once.
type courier struct {
	mu   sync.Mutex
	to   bus.Carrier
	plan plan
	shut chan struct{} // while not nil, nothing is taken until it is closed
}

// A plan decides about one message: it may send it now, later, often or never.
type plan interface {
	carry(m *nats.Msg, send func(*nats.Msg))
	// end sends what is held back; nothing is carried after.
	end(send func(*nats.Msg))
}

// wrap makes the courier the carrier of a mux; a mux that starts later takes
// it over.
func (c *courier) wrap(to bus.Carrier) bus.Carrier {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
	return c
}

// PublishMsg implements bus.Carrier.
func (c *courier) PublishMsg(m *nats.Msg) error {
	for {
		c.mu.Lock()
		shut := c.shut
		if shut == nil {
			break
		}
		c.mu.Unlock()
		<-shut
	}
	defer c.mu.Unlock()
	if c.plan == nil {
		return c.to.PublishMsg(m)
	}
	c.plan.carry(clone(m), c.send)
	return nil
}

// send passes a message on; one that the connection does not take is a drop.
func (c *courier) send(m *nats.Msg) { _ = c.to.PublishMsg(m) }

// clone copies a message, whose sender uses its memory again.
func clone(m *nats.Msg) *nats.Msg {
	n := &nats.Msg{Subject: m.Subject, Reply: m.Reply, Data: bytes.Clone(m.Data)}
	if m.Header != nil {
		n.Header = nats.Header{}
		for k, v := range maps.All(m.Header) {
			n.Header[k] = append([]string(nil), v...)
		}
	}
	return n
}

// follow begins a plan and ends the one before; nil passes everything on.
func (c *courier) follow(p plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plan != nil {
		c.plan.end(c.send)
	}
	c.plan = p
}

// close takes nothing any more: the mux's drain waits, and its buffer fills.
func (c *courier) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut == nil {
		c.shut = make(chan struct{})
	}
}

// open lets everything go on again.
func (c *courier) open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut != nil {
		close(c.shut)
		c.shut = nil
	}
}

// twice sends everything twice.
type twice struct{}

func (twice) carry(m *nats.Msg, send func(*nats.Msg)) { send(m); send(m) }
func (twice) end(func(*nats.Msg))                     {}

// backwards holds everything back and then sends it in reverse.
type backwards struct{ held []*nats.Msg }

func (b *backwards) carry(m *nats.Msg, _ func(*nats.Msg)) { b.held = append(b.held, m) }

func (b *backwards) end(send func(*nats.Msg)) {
	for i := len(b.held) - 1; i >= 0; i-- {
		send(b.held[i])
	}
}

// lossy drops the messages that a function names; it sees each in order.
type lossy func(m *nats.Msg) bool

func (l lossy) carry(m *nats.Msg, send func(*nats.Msg)) {
	if !l(m) {
		send(m)
	}
}
func (lossy) end(func(*nats.Msg)) {}

// isFrame reports whether a message carries frames.
func isFrame(m *nats.Msg) bool { return strings.Contains(m.Subject, ".frame.") }

// chaos does everything that is permitted at random. With once, a frame message
// is lost only the first time that it is sent, as a transport loses things.
type chaos struct {
	rng                *rand.Rand
	drop, repeat, hold float64 // probabilities
	once               bool
	lost               map[string]bool
	held               []delayed

	dropped, repeated, delayed int
}

// delayed is a message that waits until so many others have passed.
type delayed struct {
	msg   *nats.Msg
	after int
}

func (c *chaos) carry(m *nats.Msg, send func(*nats.Msg)) {
	kept := c.held[:0]
	var due []*nats.Msg
	for _, d := range c.held {
		if d.after--; d.after > 0 {
			kept = append(kept, d)
		} else {
			due = append(due, d.msg)
		}
	}
	c.held = kept
	if !c.loses(m) {
		n := 1
		if c.rng.Float64() < c.repeat {
			n++
			c.repeated++
		}
		for range n {
			if c.rng.Float64() < c.hold {
				c.delayed++
				c.held = append(c.held, delayed{m, 1 + c.rng.IntN(40)})
			} else {
				send(m)
			}
		}
	}
	for _, m := range due {
		send(m)
	}
}

func (c *chaos) loses(m *nats.Msg) bool {
	if c.rng.Float64() >= c.drop {
		return false
	}
	if c.once && isFrame(m) {
		key := m.Subject + " " + m.Header.Get("Ds-Pos")
		if c.lost[key] {
			return false
		}
		if c.lost == nil {
			c.lost = map[string]bool{}
		}
		c.lost[key] = true
	}
	c.dropped++
	return true
}

func (c *chaos) end(send func(*nats.Msg)) {
	c.rng.Shuffle(len(c.held), func(i, j int) { c.held[i], c.held[j] = c.held[j], c.held[i] })
	for _, d := range c.held {
		send(d.msg)
	}
	c.held = nil
}
