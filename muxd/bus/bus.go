package bus

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"datastream/muxd/mux"
	"datastream/muxd/ring"
	"datastream/subjects"
)

// A Carrier takes messages on their way to ingest. It may drop, reorder,
// delay and duplicate them, and nothing else (P6). *nats.Conn is one.
type Carrier interface {
	PublishMsg(m *nats.Msg) error
}

// Config is what a Bus needs to know. Zero fields take the defaults.
type Config struct {
	// Space is the subject space; the zero Space is the default one.
	Space subjects.Space
	// Node is the node served; "" serves every node without a mux of its own (P5.4).
	Node subjects.Node
	// Mux bounds each stream's buffer; Ring bounds the frames kept for repair;
	// Paced bounds the paced runs that wait.
	Mux   mux.Config
	Ring  ring.Config
	Paced mux.PacedConfig
	// BufferBytes bounds the buffers of all streams together: 64 MiB.
	BufferBytes int
	// PacedRoom bounds the unsettled paced frames of the process: 8 MiB (P4.3).
	PacedRoom int
	// Streams bounds the nodes a gateway serves: 10 000 (P5.4).
	Streams int
	// Idle is when a settled stream without submissions is closed: 1 h (P5.4).
	Idle time.Duration
	// Yielded names nodes that have a mux of their own, as far as is known at
	// the start (P5.5).
	Yielded []subjects.Node
	// Alive is called by the intake loop ten times a second or so; it may be nil.
	Alive func()
	// StopWait bounds the wait for settled when stopping: 5 s.
	StopWait time.Duration
	// Carrier takes the frames; nil is the connection itself.
	Carrier Carrier
}

// Defaults that are the bus's own; those of mux and ring are theirs.
const (
	defaultBuffer    = 64 << 20
	defaultPacedRoom = 8 << 20
	defaultStopWait  = 5 * time.Second

	inbound       = 32768 // messages between the connection and the intake loop
	repairQueue   = 1024  // repair requests waiting
	maxWaits      = 65536 // submissions waiting for Ds-Ack: committed
	repairBytes   = 1 << 20
	repairRate    = 16 << 20 // bytes a second
	tickEvery     = 100 * time.Millisecond
	suspended     = 30 * time.Second // between two ticks: the process was stopped (P1.1)
	beatChanging  = time.Second
	beatIdle      = 10 * time.Second
	lossyLookback = 10 * time.Second
	leaveWait     = time.Second
	repairStale   = 5 * time.Second // ingest waits no longer for an answer
)

// A Bus runs the muxes of one process on one connection.
type Bus struct {
	cfg      Config
	nc       *nats.Conn
	carrier  Carrier
	log      zerolog.Logger
	metrics  *metrics
	instance string
	inboxes  string // what the connection's own inboxes begin with

	in      chan *nats.Msg
	subs    subscriptions
	wake    chan struct{} // the drain loop has work
	repairs chan repair

	mu      sync.Mutex // guards what follows
	nodes   *mux.Nodes
	ring    *ring.Ring
	streams map[subjects.Stream]*stream
	dirty   []*stream   // have frames to drain
	outbox  []*nats.Msg // beats that the drain loop is to publish
	ended   totals
	// stopping is set once intake has ended: no stream opens any more.
	stopping bool
	leaving  bool // the node is handed over

	// Of the intake loop alone.
	producers *mux.Producers
	paced     *mux.Paced
	verdicts  []mux.Verdict
	waits     int
	left      bool // our leaving beat has come back
	lossSeen  int

	pacedBuffered atomic.Int64 // cost of paced frames taken and not yet in the ring
}

// subscriptions are told apart by identity: a message's own subject may lie.
type subscriptions struct {
	submit, beat, settled, repair *nats.Subscription
}

// New makes a bus on a connection and registers its metrics. Run starts it.
func New(nc *nats.Conn, cfg Config, log zerolog.Logger, reg prometheus.Registerer) *Bus {
	if cfg.Space == (subjects.Space{}) {
		cfg.Space = subjects.Default()
	}
	cfg.BufferBytes = orDefault(cfg.BufferBytes, defaultBuffer)
	cfg.PacedRoom = orDefault(cfg.PacedRoom, defaultPacedRoom)
	cfg.Paced.Room = orDefault(cfg.Paced.Room, cfg.PacedRoom) // a run that never fits is refused, not held
	cfg.StopWait = orDefault(cfg.StopWait, defaultStopWait)
	b := &Bus{
		cfg:       cfg,
		nc:        nc,
		carrier:   cfg.Carrier,
		log:       log,
		instance:  nuid.Next(),
		inboxes:   inboxPrefix(nc),
		in:        make(chan *nats.Msg, inbound),
		wake:      make(chan struct{}, 1),
		repairs:   make(chan repair, repairQueue),
		ring:      ring.New(cfg.Ring),
		streams:   make(map[subjects.Stream]*stream),
		producers: mux.NewProducers(0),
		paced:     mux.NewPaced(cfg.Paced),
	}
	if b.carrier == nil {
		b.carrier = nc
	}
	b.nodes = mux.NewNodes(mux.NodesConfig{
		Only:     cfg.Node,
		Instance: b.instance,
		Streams:  cfg.Streams,
		Idle:     cfg.Idle,
		Mint:     subjects.MintLife,
		Mux:      cfg.Mux,
		Shared:   mux.NewShared(cfg.BufferBytes),
	})
	for _, n := range cfg.Yielded {
		b.nodes.Yield(n, time.Now())
	}
	b.metrics = newMetrics(reg, b)
	return b
}

func orDefault[T int | time.Duration](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

// Run serves until ctx ends, then stops in order; serving is called once it
// takes submissions. It returns an error when it cannot subscribe. A Bus runs
// once.
func (b *Bus) Run(ctx context.Context, serving func()) error {
	if err := b.subscribe(); err != nil {
		return err
	}
	serving()
	// The loops outlive ctx: stopping needs them.
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	loops.Go(func() { b.drainLoop(work) })
	loops.Go(func() { b.repairLoop(work) })
	b.intakeLoop(ctx)
	cancel()
	loops.Wait()
	b.flush()
	b.unsubscribe(b.subs.beat, b.subs.settled, b.subs.repair)
	return nil
}

func (b *Bus) subscribe() error {
	s := b.cfg.Space
	submit, settled, repair := s.AllSubmits(), s.AllSettled(), s.AllRepairs()
	if n := b.cfg.Node; n != "" {
		submit, settled, repair = s.NodeSubmits(n), s.NodeSettled(n), s.NodeRepairs(n)
	}
	for _, x := range []struct {
		subject string
		sub     **nats.Subscription
	}{{settled, &b.subs.settled}, {repair, &b.subs.repair}, {s.AllBeats(), &b.subs.beat}, {submit, &b.subs.submit}} {
		sub, err := b.nc.ChanSubscribe(x.subject, b.in)
		if err != nil {
			return fmt.Errorf("subscribe to %s: %w", x.subject, err)
		}
		*x.sub = sub
	}
	if n := b.cfg.Node; n != "" {
		// The node's own mux is alive from its first beat on, and by then
		// takes every submission: an overlap is two lives, a hole would be a loss.
		b.mu.Lock()
		_, err := b.open(n, time.Now())
		b.mu.Unlock()
		if err != nil {
			return fmt.Errorf("open the stream of %q: %w", n, err)
		}
	}
	return b.nc.Flush()
}

func (b *Bus) unsubscribe(subs ...*nats.Subscription) {
	for _, s := range subs {
		if err := s.Unsubscribe(); err != nil && b.nc.IsConnected() {
			b.log.Warn().Err(err).Str("subject", s.Subject).Msg("unsubscribing")
		}
	}
}

// room reports whether ring and paced bound have room for so many more bytes
// of paced frames (P4.3, P5.3). The caller holds no lock.
func (b *Bus) room(cost int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	buffered := int(b.pacedBuffered.Load())
	unsettled := b.ring.Paced() + buffered
	return b.ring.Fits(buffered+cost) && unsettled+cost <= b.cfg.PacedRoom
}
