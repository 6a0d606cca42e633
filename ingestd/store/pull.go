package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// What a read has in flight: two pulls, each by bytes, for by count alone a
// reader of large messages is overrun. A message larger than a pull makes it
// grow; then one is in flight at a time, lest the server's bound on what a
// connection may owe is passed.
const (
	pullMessages = 4096
	pullBytes    = 2 << 20
	maxPullBytes = 64 << 20
)

// A waiting pull is told of each heartbeat that nothing came; a server that
// says nothing for pullSilence is taken to be gone.
const (
	pullExpires   = 30 * time.Second
	pullHeartbeat = time.Second
	pullSilence   = 10 * time.Second
)

// pull reads the raw messages of the stream in order, through an ephemeral
// consumer. It belongs to one goroutine and must be closed.
type pull struct {
	access
	consumer string
	inbox    string
	sub      *nats.Subscription
	msgs     chan *nats.Msg
	status   chan nats.Status
	silence  *time.Timer

	size    int    // bytes to pull
	pending int    // messages that the pulls in flight may still bring
	count   uint64 // messages delivered: the consumer's own numbering
	left    uint64 // messages that the consumer had yet to deliver, by the last one
}

// openPull begins a read at a sequence, which must not lie past the one that
// the stream gives out next. An empty filter means all subjects.
func (a access) openPull(ctx context.Context, from uint64, head bool, filter string) (*pull, error) {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	p := &pull{
		access: a, inbox: a.nc.NewInbox(), size: pullBytes, left: 1,
		msgs:    make(chan *nats.Msg, 2*pullMessages+64), // all that can be in flight, and statuses
		silence: time.NewTimer(pullSilence),
	}
	var err error
	if p.sub, err = a.nc.ChanSubscribe(p.inbox, p.msgs); err != nil {
		return nil, fmt.Errorf("subscribe to stored messages: %w", err)
	}
	p.status = a.nc.StatusChanged(nats.DISCONNECTED, nats.RECONNECTING, nats.CLOSED)
	c, err := a.js.CreateConsumer(ctx, a.cfg.Stream, jetstream.ConsumerConfig{
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       from,
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		HeadersOnly:       head,
		FilterSubject:     filter,
		InactiveThreshold: pullExpires,
	})
	if err == nil {
		p.consumer = c.CachedInfo().Name
		err = p.ask()
	}
	if err != nil {
		p.close()
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil, fmt.Errorf("%w: %s", ErrNoStream, a.cfg.Stream)
		}
		return nil, fmt.Errorf("begin to read stream %s: %w", a.cfg.Stream, err)
	}
	return p, nil
}

// close ends the read. The server would forget the consumer by itself; it is
// deleted to be gone at once, and not waited for.
func (p *pull) close() {
	p.silence.Stop()
	p.nc.RemoveStatusListener(p.status)
	_ = p.sub.Unsubscribe() // fails only with the connection
	if p.consumer != "" {
		_ = p.nc.Publish("$JS.API.CONSUMER.DELETE."+p.cfg.Stream+"."+p.consumer, nil)
	}
}

// ask keeps enough pulls in flight.
func (p *pull) ask() error {
	want := 2
	if p.size > pullBytes {
		want = 1
	}
	for p.pending <= (want-1)*pullMessages {
		req := fmt.Sprintf(`{"batch":%d,"max_bytes":%d,"expires":%d,"idle_heartbeat":%d}`,
			pullMessages, p.size, pullExpires, pullHeartbeat)
		subject := "$JS.API.CONSUMER.MSG.NEXT." + p.cfg.Stream + "." + p.consumer
		if err := p.nc.PublishRequest(subject, p.inbox, []byte(req)); err != nil {
			return err
		}
		p.pending += pullMessages
	}
	return nil
}

// next is the next message and its sequence, or nil when nothing came for a
// while.
func (p *pull) next(ctx context.Context) (*nats.Msg, uint64, error) {
	for {
		m, err := p.receive(ctx)
		if err != nil {
			return nil, 0, fmt.Errorf("read stream %s: %w", p.cfg.Stream, err)
		}
		// What the server says has no reply; a stored message always has one,
		// whatever its own headers claim.
		if m.Reply == "" {
			idle, err := p.told(m)
			if err != nil {
				return nil, 0, fmt.Errorf("read stream %s: %w", p.cfg.Stream, err)
			}
			if idle {
				return nil, 0, nil
			}
			continue
		}
		d, err := parseReply(m.Reply)
		if err != nil {
			return nil, 0, fmt.Errorf("read stream %s: %w", p.cfg.Stream, err)
		}
		if p.count++; p.count != d.count {
			return nil, 0, fmt.Errorf("%w: delivery %d of stream %s came, %d was due", ErrIncomplete, d.count, p.cfg.Stream, p.count)
		}
		p.left = d.left
		p.pending--
		if err := p.ask(); err != nil {
			return nil, 0, fmt.Errorf("read stream %s: %w", p.cfg.Stream, err)
		}
		return m, d.seq, nil
	}
}

// receive waits for what comes next on the inbox.
func (p *pull) receive(ctx context.Context) (*nats.Msg, error) {
	if p.count%64 == 0 && ctx.Err() != nil { // else a fast server would be read to the end
		return nil, context.Cause(ctx)
	}
	select {
	case m := <-p.msgs:
		return m, nil
	default:
	}
	p.silence.Reset(pullSilence)
	select {
	case m := <-p.msgs:
		return m, nil
	case s := <-p.status:
		return nil, fmt.Errorf("the connection is %v", s)
	case <-p.silence.C:
		return nil, fmt.Errorf("the server says nothing for %v", pullSilence)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// told reads a status of the server: a heartbeat, or that a pull has ended
// and what it did not bring.
func (p *pull) told(m *nats.Msg) (idle bool, err error) {
	code, text := m.Header.Get("Status"), m.Header.Get("Description")
	if code == "100" {
		return true, nil
	}
	left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
	if err != nil {
		return false, fmt.Errorf("the server says %s %s", code, text)
	}
	if left == pullMessages && strings.Contains(text, "MaxBytes") {
		if p.size *= 2; p.size > maxPullBytes {
			return false, fmt.Errorf("a message is larger than %d bytes", maxPullBytes)
		}
	}
	p.pending -= left
	return false, p.ask()
}

// A delivery is what the subject that would acknowledge a message says.
type delivery struct {
	seq   uint64 // in the stream
	count uint64 // the consumer's own numbering
	left  uint64 // messages that the consumer has yet to deliver
}

// parseReply reads it, in its short and its long form:
//
//	$JS.ACK.<stream>.<consumer>.<tries>.<seq>.<count>.<time>.<left>
//	$JS.ACK.<domain>.<account>.<stream>.<consumer>.<tries>.<seq>.<count>.<time>.<left>[.<token>]
func parseReply(reply string) (d delivery, err error) {
	skip := 5 // tokens before the stream's sequence
	if strings.Count(reply, ".") > 8 {
		skip = 7
	}
	rest := reply
	for range skip {
		_, rest, _ = strings.Cut(rest, ".")
	}
	for i, n := range []*uint64{&d.seq, &d.count, nil, &d.left} {
		var token string
		token, rest, _ = strings.Cut(rest, ".")
		if n == nil {
			continue
		}
		if *n, err = strconv.ParseUint(token, 10, 64); err != nil || i == 0 && !strings.HasPrefix(reply, "$JS.ACK.") {
			return delivery{}, fmt.Errorf("a delivery has the reply %.80q, not one of a consumer", reply)
		}
	}
	return d, nil
}
