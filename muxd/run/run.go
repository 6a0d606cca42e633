package run

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"datastream/muxd/bus"
	"datastream/service"
	"datastream/subjects"
	"datastream/subjects/frame"
)

const (
	// grace bounds the whole stop: settled is waited for in half of it.
	grace = 15 * time.Second
	// wedged is how long the intake loop may stand still.
	wedged = time.Minute
)

// Main is muxd's main without the process.
func Main(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	c, err := Parse(args, getenv, stdout)
	if err != nil {
		return err
	}
	log, err := service.NewLogger(stderr, "muxd", c.Log, getenv)
	if err != nil {
		return err
	}
	d, err := New(c, log)
	if err != nil {
		return err
	}
	pages, err := service.NewHTTP(c.HTTP, &d.Health, d.Registry)
	if err != nil {
		return err
	}
	if addr := pages.Addr(); addr != "" {
		log.Info().Str("http", addr).Msg("health and metrics")
	}
	var g service.Group
	g.Add("mux", d.Run)
	g.Add("http", pages.Run)
	return g.Run(ctx, grace)
}

// A Daemon is one muxd. Make it with New and run it once.
type Daemon struct {
	Health   service.Health
	Registry *prometheus.Registry

	cfg   Config
	bus   bus.Config
	log   zerolog.Logger
	conns *service.ConnMetrics
	mux   atomic.Pointer[bus.Bus] // once it serves
}

// New checks the settings. It wraps service.ErrUsage.
func New(c Config, log zerolog.Logger) (*Daemon, error) {
	b, err := c.check()
	if err != nil {
		return nil, err
	}
	d := &Daemon{cfg: c, bus: b, log: log, Registry: service.NewRegistry("muxd")}
	d.conns = service.NewConnMetrics(d.Registry)
	d.Health.Set("mux", fmt.Errorf("starting"))
	d.Health.Set(service.CheckSRV, fmt.Errorf("starting"))
	return d, nil
}

// Submit takes a run of a producer in the same program, as bus.Bus does; it
// reports false before the mux serves.
func (d *Daemon) Submit(node subjects.Node, r frame.Run) bool {
	b := d.mux.Load()
	return b != nil && b.Submit(node, r)
}

// Run connects, looks for conflicts and serves until ctx ends. It waits for
// NATS as long as it takes. Another mux with the same --node is an error.
func (d *Daemon) Run(ctx context.Context) error {
	conn, err := service.Connect(ctx, d.cfg.NATS, service.Options{
		Name: "muxd", Log: d.log, Retry: true, Metrics: d.conns, Health: &d.Health,
	})
	if err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace/3)
		defer cancel()
		if err := conn.Stop(stop); err != nil {
			d.log.Warn().Err(err).Msg("stopping")
		}
	}()
	if err := conn.WaitConnected(ctx); err != nil {
		return err
	}
	others, err := lookAround(ctx, conn)
	if err != nil {
		return err
	}
	if err := d.conflict(others, ""); err != nil {
		return err
	}
	b := d.bus
	b.Yielded = d.elsewhere(others)
	if d.cfg.Carrier != nil {
		b.Carrier = d.cfg.Carrier(conn.Conn)
	}
	pulse := d.Health.Pulse("intake", wedged)
	defer pulse.Stop()
	b.Alive = pulse.Beat
	mux := bus.New(conn.Conn, b, d.log, d.Registry)
	up := make(chan struct{})
	var g service.Group
	g.Add("bus", func(ctx context.Context) error {
		return mux.Run(ctx, func() { d.serving(mux); close(up) })
	})
	g.Add("srv", func(ctx context.Context) error { return d.register(ctx, conn, up) })
	g.Add("nats", func(ctx context.Context) error { return watch(ctx, conn) })
	return g.Run(ctx, grace)
}

func (d *Daemon) serving(b *bus.Bus) {
	d.mux.Store(b)
	d.Health.Set("mux", nil)
	d.log.Info().Str("node", d.cfg.Node).Str("prefix", d.cfg.Prefix).Msg("serving")
}

// register shows the daemon under $SRV from when it serves until ctx ends: who
// pings it there knows that it takes submissions. Then it looks around again:
// of two that started at the same moment one stops.
func (d *Daemon) register(ctx context.Context, conn *service.Conn, up <-chan struct{}) error {
	select {
	case <-up:
	case <-ctx.Done():
		return nil
	}
	return service.RunMicro(ctx, d.cfg.NATS, service.Options{Name: "muxd", Log: d.log, Retry: true, Metrics: d.conns, Health: &d.Health},
		service.MicroConfig{
			Name: "muxd", Description: "gives frames their positions",
			Metadata: map[string]string{"node": d.shown(), "prefix": d.cfg.Prefix},
			Registered: func(ctx context.Context, own string) error {
				others, err := lookAround(ctx, conn)
				if err != nil {
					return err
				}
				return d.conflict(others, own)
			},
		}, grace/3)
}

// watch ends with an error when the connection is closed for good (P6).
func watch(ctx context.Context, conn *service.Conn) error {
	select {
	case err := <-conn.Closed():
		return err
	case <-ctx.Done():
		return nil
	}
}
