package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"datastream/subjects"
)

const (
	waiting = 1024 // messages between the connection and the gate
	abreast = 64   // requests under way
	// answerWithin bounds a request to JetStream: less than the 5 s that the
	// clients of users wait.
	answerWithin = 4 * time.Second
	// closeWithin bounds what is under way when the gate closes.
	closeWithin = time.Second
	// group shares the requests between the gates of a pipe.
	group = "gate"
)

// Config says which stream the gate is of.
type Config struct {
	Space  subjects.Space
	Stream string // its name; empty is Space.StreamName()
}

// A Gate serves from Start until Close.
type Gate struct {
	nc      *nats.Conn
	stream  string
	inside  string
	in      chan *nats.Msg
	subs    []*nats.Subscription
	slots   chan struct{}
	metrics *metrics

	ctx    context.Context // of what is under way
	cancel context.CancelFunc
	stop   chan struct{} // closed when nothing more arrives
	done   chan struct{}
	once   sync.Once
}

// Start opens the gate and returns when the server knows. The connection is
// one of ingestd's user and outlives the gate.
func Start(nc *nats.Conn, c Config, reg prometheus.Registerer) (*Gate, error) {
	if c.Stream == "" {
		c.Stream = c.Space.StreamName()
	}
	g := &Gate{
		nc: nc, stream: c.Stream, inside: inside(c.Space), in: make(chan *nats.Msg, waiting),
		slots: make(chan struct{}, abreast), stop: make(chan struct{}), done: make(chan struct{}),
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	for _, d := range Doors(c.Space, c.Stream) {
		sub, err := nc.ChanQueueSubscribe(d.Inside, group, g.in)
		if err != nil {
			g.unsubscribe()
			g.cancel()
			return nil, fmt.Errorf("open the gate: subscribe to %s: %w", d.Inside, err)
		}
		g.subs = append(g.subs, sub)
	}
	g.metrics = newMetrics(reg, g.dropped)
	// Without a connection the subscriptions are told when there is one.
	_ = nc.FlushTimeout(answerWithin)
	go g.loop()
	return g, nil
}

// Close takes in no more, answers what has arrived, and returns when nothing
// is under way. It may be called again.
func (g *Gate) Close() {
	g.once.Do(func() {
		g.unsubscribe()
		late := time.AfterFunc(closeWithin, g.cancel)
		defer late.Stop()
		defer g.cancel()
		close(g.stop)
		<-g.done
	})
	<-g.done
}

func (g *Gate) unsubscribe() {
	for _, s := range g.subs {
		_ = s.Unsubscribe() // a closed connection has none
	}
}

// loop hands out what arrives, and in the end waits for what is under way.
func (g *Gate) loop() {
	defer close(g.done)
	var under sync.WaitGroup
	defer under.Wait()
	for {
		select {
		case m := <-g.in:
			g.take(m, &under)
			continue
		case <-g.stop:
		}
		for {
			select {
			case m := <-g.in:
				g.take(m, &under)
			default:
				return
			}
		}
	}
}

// take refuses at once what needs no word of JetStream's.
func (g *Gate) take(m *nats.Msg, under *sync.WaitGroup) {
	g.metrics.requests.Inc()
	if !isInbox(m.Reply) {
		g.metrics.refused.WithLabelValues(reasonReply).Inc()
		return
	}
	select {
	case g.slots <- struct{}{}:
	default:
		g.answer(m, nil, later(reasonBusy, "too many consumers are being made; try again"))
		return
	}
	under.Go(func() {
		defer func() { <-g.slots }()
		answer, err := g.pass(m)
		g.answer(m, answer, err)
	})
}

// pass checks a request and asks JetStream in the gate's own name. Its errors
// are refusals.
func (g *Gate) pass(m *nats.Msg) ([]byte, error) {
	tail, ok := strings.CutPrefix(m.Subject, g.inside)
	if !ok { // stored bytes that a push consumer delivers here (P2.4)
		return nil, refuse(reasonForm, "the gate does not serve %.100q", m.Subject)
	}
	body, err := rewrite(m.Data, g.stream)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(g.ctx, answerWithin)
	defer cancel()
	answer, err := g.nc.RequestWithContext(ctx, api+tail, body)
	if err != nil {
		return nil, later(reasonSilent, "JetStream does not answer; try again")
	}
	return answer.Data, nil
}

// answer sends what pass has found, and counts what was refused.
func (g *Gate) answer(m *nats.Msg, body []byte, err error) {
	var no *refusal
	if errors.As(err, &no) {
		g.metrics.refused.WithLabelValues(no.reason).Inc()
		body = no.encode()
	}
	if err := g.nc.Publish(m.Reply, body); err != nil {
		g.metrics.refused.WithLabelValues(reasonUnsent).Inc()
	}
}

// dropped counts what came while the channel was full.
func (g *Gate) dropped() float64 {
	total := 0
	for _, s := range g.subs {
		n, _ := s.Dropped() // 0 once it is closed
		total += n
	}
	return float64(total)
}
