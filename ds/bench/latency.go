package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"datastream/ds/bench/spread"
	"datastream/producer/emit"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// The load of the latency group.
const (
	latencyRate     = 2000 // frames a second
	latencyChannels = 50
	latencyFrames   = 2 * latencyRate // in a measurement, at most
	tailNode        = subjects.Node("tail")
)

// A clocked frame is one submission: when it was called, and when it was seen.
// The arrays are written by one goroutine each and read after all have ended.
type clocked struct {
	start   []time.Time
	visible []time.Time
	pos     []subjects.Position // of each frame, read where it became visible
	settled []mark
}

// A mark says that everything below a position was settled at a moment.
type mark struct {
	below subjects.Position
	at    time.Time
}

// latency measures the pipe beside a bare fsynced publish, in turn.
func (r *rig) latency(ctx context.Context, o Options) ([]Latency, error) {
	n := min(latencyFrames, max(100, o.Frames/10))
	type spans struct{ p50, p99 []float64 }
	var bare, visible, settled spans
	add := func(s *spans, from, to []time.Time, counted bool) {
		if !counted {
			return
		}
		took := make([]float64, len(from))
		for i := range from {
			took[i] = milliseconds(to[i].Sub(from[i]))
		}
		slices.Sort(took)
		s.p50, s.p99 = append(s.p50, spread.Quantile(took, 0.5)), append(s.p99, spread.Quantile(took, 0.99))
	}
	for round := range o.Pairs + 1 {
		o.Say(fmt.Sprintf("latency: round %d of %d", round, o.Pairs))
		plain, err := r.bareLatency(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("latency of a bare publish: %w", err)
		}
		pipe, err := r.pipeLatency(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("latency of the pipe: %w", err)
		}
		add(&bare, plain.start, plain.visible, round > 0)
		add(&visible, pipe.start, pipe.visible, round > 0)
		add(&settled, pipe.start, pipe.settledAt(), round > 0)
	}
	row := func(name, about string, s spans) Latency {
		return Latency{Name: name, About: about, Frames: n, P50: spread.Of(s.p50), P99: spread.Of(s.p99)}
	}
	rows := []Latency{
		row("bare", "fsynced JetStream publish → ordered consumer", bare),
		row("visible", "submit → ordered consumer of the store", visible),
		row("settled", "submit → settled, announced every 20 ms", settled),
	}
	rows[1].Ratios = []Ratio{newRatio("bare", spread.Pairs(visible.p50, bare.p50)), newRatio("bare", spread.Pairs(visible.p99, bare.p99))}
	return rows, nil
}

// settledAt is when each frame was announced as settled.
func (c *clocked) settledAt() []time.Time {
	at := make([]time.Time, len(c.pos))
	for i, p := range c.pos {
		n, _ := slices.BinarySearchFunc(c.settled, p, func(m mark, p subjects.Position) int {
			if m.below > p {
				return 1
			}
			return -1
		})
		at[i] = c.settled[n].at
	}
	return at
}

// at a steady rate: what is due is submitted, however long that took before.
func (c *clocked) submit(ctx context.Context, fn func(i int, payload []byte) error) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for i := 0; i < len(c.start); {
		due := int(time.Since(begin) * latencyRate / time.Second)
		for ; i < min(due, len(c.start)); i++ {
			payload := numbered(i)
			c.start[i] = time.Now()
			if err := fn(i, payload); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return stuck(ctx)
		}
	}
	return nil
}

// numbered is a line that begins with its number.
func numbered(i int) []byte {
	return strconv.AppendInt(make([]byte, 0, lineBytes), int64(i), 10)[:lineBytes]
}

func numberOf(payload []byte) (int, error) {
	end := bytes.IndexByte(payload, 0)
	return strconv.Atoi(string(payload[:max(end, 0)]))
}

func newClocked(n int) *clocked {
	return &clocked{start: make([]time.Time, n), visible: make([]time.Time, n), pos: make([]subjects.Position, n)}
}

// see reads n frames from the end of a stream with an ordered consumer, as
// any reader would. ready is closed when it reads.
func see(ctx context.Context, nc *nats.Conn, stream, filter string, c *clocked, ready chan<- struct{}) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	oc, err := js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{filter}, DeliverPolicy: jetstream.DeliverNewPolicy,
	})
	if err != nil {
		return err
	}
	it, err := oc.Messages(jetstream.PullMaxMessages(2000))
	if err != nil {
		return err
	}
	defer it.Stop()
	stop := context.AfterFunc(ctx, it.Stop)
	defer stop()
	close(ready)
	for left := len(c.start); left > 0; {
		m, err := it.Next()
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		now := time.Now()
		run, err := runOf(m)
		if err != nil {
			return err
		}
		for i := range run.Len() {
			n, err := numberOf(run.Payload(i))
			if err != nil {
				return err
			}
			c.visible[n], c.pos[n] = now, run.Pos(i)
			left--
		}
	}
	return nil
}

// runOf reads a stored message; a bare one is a frame at position 0.
func runOf(m jetstream.Msg) (frame.Run, error) {
	if _, ours := m.Headers()[frame.HeaderPos]; !ours {
		return frame.Single("bare", 0, m.Data()), nil
	}
	return frame.Decode("pipe", m.Headers(), m.Data())
}

// both runs a reader, and a submitter once that is ready.
func both(ctx context.Context, read func(context.Context, chan<- struct{}) error, submit func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var g sync.WaitGroup
	var failed [2]error
	ready := make(chan struct{})
	g.Go(func() {
		if failed[0] = read(ctx, ready); failed[0] != nil {
			cancel()
		}
	})
	g.Go(func() {
		select {
		case <-ready:
			if failed[1] = submit(ctx); failed[1] != nil {
				cancel()
			}
		case <-ctx.Done():
		}
	})
	g.Wait()
	return errors.Join(failed[:]...)
}

// bareLatency publishes to a plain stream.
func (r *rig) bareLatency(ctx context.Context, n int) (*clocked, error) {
	if err := r.makeBare(ctx); err != nil {
		return nil, err
	}
	defer r.js.DeleteStream(context.WithoutCancel(ctx), bareStream) //nolint:errcheck // the next round would say so
	names := make([]string, latencyChannels)
	for i := range names {
		names[i] = fmt.Sprintf("%s.bare.proc.app%d.stdout", plainPrefix, i)
	}
	c := newClocked(n)
	err := both(ctx, func(ctx context.Context, ready chan<- struct{}) error {
		return see(ctx, r.peer, bareStream, plainPrefix+".bare.>", c, ready)
	}, func(ctx context.Context) error {
		return c.submit(ctx, func(i int, payload []byte) error {
			_, err := r.js.PublishMsgAsync(&nats.Msg{Subject: names[i%latencyChannels], Data: payload})
			return err
		})
	})
	return c, err
}

// pipeLatency submits through a handle over NATS.
func (r *rig) pipeLatency(ctx context.Context, n int) (*clocked, error) {
	nc, err := r.stack.Connect(server.Anonymous, nats.Name("ds-bench"))
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	h, err := emit.Open(nc, tailNode)
	if err != nil {
		return nil, err
	}
	space, c := r.stack.Space(), newClocked(n)
	names := make([]subjects.Channel, latencyChannels)
	for i := range names {
		names[i] = subjects.Channel(fmt.Sprintf("proc.app%d.stdout", i))
	}
	marks := make(chan mark, 65536)
	sub, err := nc.Subscribe(space.NodeSettled(tailNode), func(m *nats.Msg) {
		if s, err := control.DecodeSettled(m.Data); err == nil {
			marks <- mark{s.Below, time.Now()}
		}
	})
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection is closed with it
	filter := fmt.Sprintf("%s.store.%s.>", space.Prefix(), tailNode)
	err = both(ctx, func(ctx context.Context, ready chan<- struct{}) error {
		return see(ctx, r.reader, space.StreamName(), filter, c, ready)
	}, func(ctx context.Context) error {
		return c.submit(ctx, func(i int, payload []byte) error {
			h.Submit(names[i%latencyChannels], payload)
			return nil
		})
	})
	_, closed := h.Close(ctx)
	if err = errors.Join(err, closed); err != nil {
		return nil, err
	}
	last := slices.Max(c.pos)
	for len(c.settled) == 0 || c.settled[len(c.settled)-1].below <= last {
		select {
		case m := <-marks:
			c.settled = append(c.settled, m)
		case <-ctx.Done():
			return nil, stuck(ctx)
		}
	}
	return c, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
