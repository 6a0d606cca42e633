package intake

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"datastream/ingestd/ledger"
	"datastream/ingestd/reorder"
	"datastream/ingestd/store"
	"datastream/subjects"
)

// A Writer commits messages; *store.Writer is one. Its methods are those of
// store.Writer, whose promises hold here too.
type Writer interface {
	Commit(ctx context.Context, now int64, msgs []store.Message) error
	CommitEach(ctx context.Context, now int64, msgs []store.Message) (n int, err error)
	Resync(ctx context.Context, fn func(store.Stored) error) error
	Limit() int
}

// Config is what an Intake needs to know. Zero fields take the defaults.
type Config struct {
	// Space is the subject space; the zero Space is the default one.
	Space subjects.Space
	// Window bounds each stream's reorder window; Ledger bounds what is known.
	Window reorder.Config
	Ledger ledger.Config
	// WindowBytes bounds the frames waiting in all windows: 64 MiB (P7.1).
	WindowBytes int
	// InboxBytes bounds what has arrived and was not looked at: 64 MiB.
	InboxBytes int
	// QueueBytes bounds the frames that wait for their commit: 64 MiB (P7.7).
	QueueBytes int
	// BatchMessages and BatchBytes bound a commit: 1000 and 4 MiB (P7.3).
	BatchMessages int
	BatchBytes    int
	// Singles is how many waiting messages still go as commits of their own: 8.
	Singles int
	// SettleEvery is the least time between two announcements about a stream: 20 ms.
	SettleEvery time.Duration
	// AnswerWait is when a repair request without an answer has failed: 5 s.
	AnswerWait time.Duration
	// Backoff is the longest wait between two looks at a store that does not
	// take commits: 2 s.
	Backoff time.Duration
	// StopWait bounds the last commits when stopping: 5 s.
	StopWait time.Duration
	// Clock is ingest's wall clock (P8.1); nil is time.Now.
	Clock func() time.Time
	// Alive is called by the route loop at least once a second; it may be nil.
	Alive func()
	// State hears whether commits work: nil when they do. It must not block.
	State func(err error)
}

func (c Config) withDefaults() Config {
	if c.Space == (subjects.Space{}) {
		c.Space = subjects.Default()
	}
	for _, d := range []struct {
		v *int
		d int
	}{
		{&c.WindowBytes, 64 << 20}, {&c.InboxBytes, 64 << 20}, {&c.QueueBytes, 64 << 20},
		{&c.BatchMessages, 1000}, {&c.BatchBytes, 4 << 20}, {&c.Singles, 8},
	} {
		if *d.v <= 0 {
			*d.v = d.d
		}
	}
	for _, d := range []struct {
		v *time.Duration
		d time.Duration
	}{{&c.SettleEvery, 20 * time.Millisecond}, {&c.AnswerWait, 5 * time.Second}, {&c.StopWait, 5 * time.Second}, {&c.Backoff, 2 * time.Second}} {
		if *d.v <= 0 {
			*d.v = d.d
		}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Alive == nil {
		c.Alive = func() {}
	}
	if c.State == nil {
		c.State = func(error) {}
	}
	return c
}

const (
	// housekeeping is the longest the route loop sleeps.
	housekeeping = time.Second
	// asleep is how far the loop may sleep past its timer before it takes the
	// process for suspended.
	asleep = 5 * time.Second
	// breath is how many bytes of payload are looked at in one go.
	breath = 1 << 20
	// inbound is how many messages may lie between the connection and the
	// inbox. The client library drops what finds it full, and reads thousands
	// of small ones before the relay gets its turn: what a mux may have
	// unsettled must fit.
	inbound = 32768
)

// An Intake routes the frames of all streams to one Writer.
type Intake struct {
	cfg     Config
	nc      *nats.Conn
	writer  Writer
	log     zerolog.Logger
	metrics *metrics

	relay  chan *nats.Msg // between the connection and the inbox
	inbox  *inbox
	subs   subscriptions
	prefix string // of the inbox for repair answers, with its final dot

	jobs     chan job
	outcomes chan outcome

	// Of the route loop alone; mu lets the metrics look.
	mu       sync.Mutex
	ledger   *ledger.Ledger
	streams  map[subjects.Stream]*stream
	active   []*stream // something is due by itself
	waiting  int       // cost of frames in all windows
	pushed   int       // cost of frames that windows got since they were last asked
	queue    queue
	batch    batcher
	repairs  map[string]request
	asked    uint64
	strange  map[subjects.Stream]time.Time // lives that were asked for a beat
	named    map[subjects.Stream]struct{}  // lives of which it was said that they are refused
	inflight *job
	sharing  []*stream // streams marked shared
	failing  error
	refusals int           // in a row, for reasons that nobody knows
	backoff  time.Duration // before the store is looked at again, since commits fail
	void     error         // what is known is of another store
	lookedAt time.Time     // of all lives
	woke     time.Time     // when the loop last kept house
	resumed  chan struct{}
}

type subscriptions struct{ frames, beats, answers *nats.Subscription }

// New makes an Intake on a connection and registers its metrics. Restore may
// follow; Run starts it.
func New(nc *nats.Conn, w Writer, cfg Config, log zerolog.Logger, reg prometheus.Registerer) *Intake {
	cfg = cfg.withDefaults()
	in := &Intake{
		cfg:      cfg,
		nc:       nc,
		writer:   w,
		log:      log,
		inbox:    newInbox(cfg.InboxBytes),
		prefix:   nc.NewInbox() + ".",
		jobs:     make(chan job, 1),
		outcomes: make(chan outcome, 1),
		ledger:   ledger.New(cfg.Ledger),
		streams:  make(map[subjects.Stream]*stream),
		repairs:  make(map[string]request),
		strange:  make(map[subjects.Stream]time.Time),
		named:    make(map[subjects.Stream]struct{}),
		resumed:  make(chan struct{}, 1),
	}
	in.metrics = newMetrics(reg, in)
	return in
}

// Evicting says that the store has let go of messages: what is missing of a
// life may have aged out, which is no loss (P8.3).
func (in *Intake) Evicting() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ledger.Evicting()
}

// Restore takes note of a stored message that was read at start.
func (in *Intake) Restore(m store.Stored) {
	now := time.Now()
	in.mu.Lock()
	defer in.mu.Unlock()
	a := in.ledger.Restore(m.Stream, now)
	in.letGo()
	if a == nil {
		return // more lives than the ledger holds: its frames are refused
	}
	a.Commit(m.Run)
}

// Resumed tells the intake that its connection was cut and is back: silence
// meanwhile was no mux's fault. Safe from any goroutine.
func (in *Intake) Resumed() {
	select {
	case in.resumed <- struct{}{}:
	default:
	}
}

// Run serves until ctx ends, then stops in order; serving is called once it
// takes frames. It returns an error when it cannot subscribe, and one that
// wraps store.ErrRecreated when the store is another one: then everything
// known is void, and a new Intake must read the store from the start. An
// Intake runs once.
func (in *Intake) Run(ctx context.Context, serving func()) error {
	in.relay = make(chan *nats.Msg, inbound)
	if err := in.subscribe(in.relay); err != nil {
		return err
	}
	in.Resumed() // reading the store took its time: no mux was silent meanwhile
	serving()
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	loops.Go(func() { in.inbox.relay(work, in.relay) })
	loops.Go(func() { in.commitLoop(work) })
	in.askAll()
	err := in.routeLoop(ctx)
	cancel()
	loops.Wait()
	in.unsubscribe(in.subs.answers)
	return err
}

func (in *Intake) subscribe(ch chan *nats.Msg) error {
	for _, x := range []struct {
		subject string
		sub     **nats.Subscription
	}{{in.prefix + ">", &in.subs.answers}, {in.cfg.Space.AllBeats(), &in.subs.beats}, {in.cfg.Space.AllFrames(), &in.subs.frames}} {
		sub, err := in.nc.ChanSubscribe(x.subject, ch)
		if err != nil {
			return fmt.Errorf("subscribe to %s: %w", x.subject, err)
		}
		*x.sub = sub
	}
	return in.nc.Flush()
}

func (in *Intake) unsubscribe(subs ...*nats.Subscription) {
	for _, s := range subs {
		if err := s.Unsubscribe(); err != nil && in.nc.IsConnected() {
			in.log.Warn().Err(err).Str("subject", s.Subject).Msg("unsubscribing")
		}
	}
}
