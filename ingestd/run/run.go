package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/rs/zerolog"

	"datastream/ingestd/gate"
	"datastream/ingestd/intake"
	"datastream/ingestd/store"
	"datastream/service"
)

const (
	// grace bounds the whole stop.
	grace = 15 * time.Second
	// wedged is how long the route loop may stand still.
	wedged = time.Minute
	// openAgain is about how often a store that cannot be opened is tried.
	openAgain = 2 * time.Second
)

// Main is ingestd's main without the process.
func Main(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	c, err := Parse(args, getenv, stdout)
	if err != nil {
		return err
	}
	log, err := service.NewLogger(stderr, "ingestd", c.Log, getenv)
	if err != nil {
		return err
	}
	d, err := New(c, log)
	if err != nil {
		return err
	}
	pages, err := service.NewHTTP(c.HTTP, &d.Health, d)
	if err != nil {
		return err
	}
	if addr := pages.Addr(); addr != "" {
		log.Info().Str("http", addr).Msg("health and metrics")
	}
	var g service.Group
	g.Add("ingest", d.Run)
	g.Add("http", pages.Run)
	return g.Run(ctx, grace)
}

// A Daemon is one ingestd. Make it with New and run it once.
type Daemon struct {
	Health service.Health

	store  store.Config
	intake intake.Config
	cfg    Config
	log    zerolog.Logger
	own    *prometheus.Registry
	conns  *service.ConnMetrics
	now    atomic.Pointer[serving]
	up     chan struct{} // closed when it first serves
	first  sync.Once
}

// serving is what lives as long as one store does.
type serving struct {
	intake   *intake.Intake
	registry *prometheus.Registry
}

// New checks the settings. It wraps service.ErrUsage.
func New(c Config, log zerolog.Logger) (*Daemon, error) {
	s, in, err := c.check()
	if err != nil {
		return nil, err
	}
	d := &Daemon{cfg: c, store: s, intake: in, log: log, own: service.NewRegistry("ingestd"), up: make(chan struct{})}
	d.conns = service.NewConnMetrics(d.own)
	d.Health.Set("store", fmt.Errorf("starting"))
	d.Health.Set(service.CheckSRV, fmt.Errorf("starting"))
	return d, nil
}

// Gather makes the Daemon the source of its metrics page.
func (d *Daemon) Gather() ([]*dto.MetricFamily, error) {
	all := prometheus.Gatherers{d.own}
	if s := d.now.Load(); s != nil {
		all = append(all, s.registry)
	}
	return all.Gather()
}

// Run connects, reads the store and serves until ctx ends. It waits for NATS
// and for the store as long as it takes.
func (d *Daemon) Run(ctx context.Context) error {
	conn, err := service.Connect(ctx, d.cfg.NATS, service.Options{
		Name: "ingestd", Log: d.log, Retry: true, Metrics: d.conns, Health: &d.Health,
		OnConnect: func() {
			if s := d.now.Load(); s != nil { // not the first time
				s.intake.Resumed()
			}
		},
	})
	if err != nil {
		return err
	}
	defer d.stop(ctx, conn.Stop)
	if err := conn.WaitConnected(ctx); err != nil {
		return err
	}
	var g service.Group
	g.Add("intake", func(ctx context.Context) error {
		for {
			err := d.serve(ctx, conn)
			if !errors.Is(err, store.ErrRecreated) {
				return err
			}
			d.log.Error().Err(err).Msg("the store was made anew; reading it from the start")
		}
	})
	g.Add("srv", d.register)
	g.Add("nats", func(ctx context.Context) error {
		select {
		case err := <-conn.Closed():
			return err
		case <-ctx.Done():
			return nil
		}
	})
	return g.Run(ctx, grace)
}

// register shows the daemon under $SRV from when it first serves until ctx
// ends: who pings it there knows that it takes frames.
func (d *Daemon) register(ctx context.Context) error {
	select {
	case <-d.up:
	case <-ctx.Done():
		return nil
	}
	return service.RunMicro(ctx, d.cfg.NATS, service.Options{Name: "ingestd", Log: d.log, Retry: true, Metrics: d.conns, Health: &d.Health},
		service.MicroConfig{
			Name: "ingestd", Description: "puts frames in order and commits them",
			Metadata: map[string]string{"prefix": d.cfg.Prefix},
		}, grace/3)
}

func (d *Daemon) stop(ctx context.Context, stop func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace/3)
	defer cancel()
	if err := stop(ctx); err != nil {
		d.log.Warn().Err(err).Msg("stopping")
	}
}

// serve opens and reads the store, and takes frames until ctx ends or the
// store is another one. Meanwhile users make consumers.
func (d *Daemon) serve(ctx context.Context, conn *service.Conn) error {
	w, err := d.open(ctx, conn)
	if err != nil {
		return err
	}
	defer func() {
		if err := w.Close(); err != nil {
			d.log.Warn().Err(err).Msg("stopping")
		}
	}()
	if d.cfg.Opened != nil {
		d.cfg.Opened()
	}
	cfg := d.intake
	cfg.State = func(err error) {
		if err != nil {
			err = fmt.Errorf("commits fail: %w", err)
		}
		d.Health.Set("store", err)
	}
	// The pulse begins when the route loop does: reading a large store takes its time.
	var pulse *service.Pulse
	cfg.Alive = func() { pulse.Beat() }
	s := &serving{registry: prometheus.NewRegistry()}
	s.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "ds_ingest_foreign_messages_total", Help: "Stored messages that are not ours, found when reading after an unclear commit (P8.4).",
	}, func() float64 { return float64(w.Foreign()) }))
	g, err := gate.Start(conn.Conn, gate.Config{Space: d.store.Space, Stream: d.store.Stream}, s.registry)
	if err != nil {
		return err
	}
	defer g.Close()
	s.intake = intake.New(conn.Conn, w, cfg, d.log, s.registry)
	if err := d.restore(ctx, conn, s.intake); err != nil {
		return err
	}
	d.now.Store(s)
	pulse = d.Health.Pulse("intake", wedged)
	defer pulse.Stop()
	return s.intake.Run(ctx, func() {
		d.Health.Set("store", nil)
		d.first.Do(func() { close(d.up) })
		d.log.Info().Uint64("sequence", w.LastSeq()).Msg("serving")
	})
}

// open opens the store, and goes on trying while it is not there or not as it
// must be: that is for a person to mend.
func (d *Daemon) open(ctx context.Context, conn *service.Conn) (*store.Writer, error) {
	said := ""
	for {
		w, err := store.Open(ctx, conn.Conn, d.store)
		if err == nil {
			return w, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d.Health.Set("store", err)
		if err.Error() != said {
			said = err.Error()
			d.log.Error().Err(err).Msg("the store cannot be used; trying again until it can")
		}
		if err := pause(ctx, openAgain/2+rand.N(openAgain)); err != nil {
			return nil, err
		}
	}
}

// restore reads the heads of everything stored into the intake.
func (d *Daemon) restore(ctx context.Context, conn *service.Conn, in *intake.Intake) error {
	for {
		start, n := time.Now(), uint64(0)
		last, foreign, err := store.Scan(ctx, conn.Conn, d.store, 1, true, func(m store.Stored) error {
			n++
			in.Restore(m)
			return nil
		})
		if err == nil {
			if n+foreign < last { // sequences begin at 1, and deleting is denied
				in.Evicting()
			}
			d.log.Info().Uint64("messages", n).Uint64("foreign", foreign).Uint64("sequence", last).Dur("took", time.Since(start)).Msg("the ledger is read from the store")
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d.Health.Set("store", err)
		d.log.Warn().Err(err).Msg("reading the store; trying again")
		if err := pause(ctx, openAgain/2+rand.N(openAgain)); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
