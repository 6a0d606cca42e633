package service

import (
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// maxDenied bounds the subjects whose refusal is remembered, so that each is
// logged once; refusals of further ones are only counted.
const maxDenied = 256

// ConnMetrics count what happens to connections, by the connection's name.
type ConnMetrics struct {
	up         *prometheus.GaugeVec
	connects   *prometheus.CounterVec
	errs       *prometheus.CounterVec
	permission *prometheus.CounterVec
}

// NewConnMetrics registers the metrics of connections.
func NewConnMetrics(reg prometheus.Registerer) *ConnMetrics {
	m := &ConnMetrics{
		up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "ds_nats_up", Help: "1 while connected to NATS.",
		}, []string{"connection"}),
		connects: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ds_nats_connects_total", Help: "Connections made to NATS, the first one included.",
		}, []string{"connection"}),
		errs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ds_nats_errors_total",
			Help: "Asynchronous errors of the connection: slow_consumer (episodes in which a subscription dropped messages) and other.",
		}, []string{"connection", "kind"}),
		permission: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ds_nats_denied_total", Help: "Publishes and subscriptions that the server did not permit.",
		}, []string{"connection", "operation"}),
	}
	reg.MustRegister(m.up, m.connects, m.errs, m.permission)
	return m
}

// events handles what happens to one connection.
type events struct {
	o   Options
	url string

	mu     sync.Mutex
	denied map[string]bool // operation and subject
}

func newEvents(o Options, url string) *events {
	if o.Metrics == nil {
		o.Metrics = NewConnMetrics(prometheus.NewRegistry())
	}
	return &events{o: o, url: url, denied: map[string]bool{}}
}

func (e *events) up(nc *nats.Conn) {
	e.o.Log.Info().Str("server", nc.ConnectedUrlRedacted()).Msg("connected to NATS")
	e.o.Metrics.up.WithLabelValues(e.o.Name).Set(1)
	e.o.Metrics.connects.WithLabelValues(e.o.Name).Inc()
	e.health(nil)
	if e.o.OnConnect != nil {
		e.o.OnConnect()
	}
}

// down notes that there is no connection; nil is the time before the first
// one, and our own wish.
func (e *events) down(err error) {
	e.o.Metrics.up.WithLabelValues(e.o.Name).Set(0)
	if err == nil {
		e.health(fmt.Errorf("not connected to %s", e.url))
		return
	}
	e.health(fmt.Errorf("not connected to %s: %w", e.url, err))
	e.o.Log.Warn().Err(err).Msg("lost the connection to NATS")
	if e.o.OnDisconnect != nil {
		e.o.OnDisconnect(err)
	}
}

func (e *events) health(err error) {
	if e.o.Health != nil {
		e.o.Health.Set("nats."+e.o.Name, err)
	}
}

// async handles the errors that no call returns (P6).
func (e *events) async(sub *nats.Subscription, err error) {
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		e.deny(err)
	case errors.Is(err, nats.ErrSlowConsumer) && sub != nil:
		e.slow(sub)
	default:
		e.o.Metrics.errs.WithLabelValues(e.o.Name, "other").Inc()
		e.o.Log.Error().Err(err).Msg("error on the connection to NATS")
	}
}

func (e *events) slow(sub *nats.Subscription) {
	dropped, _ := sub.Dropped()
	e.o.Metrics.errs.WithLabelValues(e.o.Name, "slow_consumer").Inc()
	e.o.Log.Warn().Str("subject", sub.Subject).Int("dropped", dropped).Msg("a subscription is behind and dropped messages")
	if e.o.OnSlow != nil {
		e.o.OnSlow(sub, dropped)
	}
}

var permissionText = regexp.MustCompile(`for (Publish|Subscription) to "([^"]*)"`)

func (e *events) deny(err error) {
	operation, subject := "unknown", err.Error()
	if m := permissionText.FindStringSubmatch(subject); m != nil {
		operation, subject = map[string]string{"Publish": "publish", "Subscription": "subscribe"}[m[1]], m[2]
	}
	e.o.Metrics.permission.WithLabelValues(e.o.Name, operation).Inc()
	if log, last := e.firstDenial(operation + " " + subject); log {
		e.say(operation, subject, last)
	}
}

func (e *events) say(operation, subject string, last bool) {
	l := e.o.Log.WithLevel(zerolog.ErrorLevel).Str("operation", operation).Str("subject", subject)
	if last {
		l = l.Bool("further_subjects_only_counted", true)
	}
	l.Msg("NATS does not permit this; see the users in nats-server.conf")
}

// firstDenial reports whether the refusal is new, and whether it is the last
// one remembered.
func (e *events) firstDenial(key string) (first, last bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.denied[key] || len(e.denied) >= maxDenied {
		return false, false
	}
	e.denied[key] = true
	return true, len(e.denied) == maxDenied
}
