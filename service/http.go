package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// HTTPOff is the --http address that turns the pages off.
const HTTPOff = "off"

const (
	httpTimeout = 10 * time.Second // for one request, and for the last ones at the end
	maxHeader   = 16 << 10         // bytes
)

// NewRegistry is a metrics registry with what every service reports: the Go
// runtime, the process and the version.
func NewRegistry(name string) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "ds_build_info", Help: "Always 1; says which service and version this is.",
		ConstLabels: prometheus.Labels{"service": name, "version": Version},
	})
	info.Set(1)
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), info)
	return reg
}

// HTTP serves /healthz, /readyz and /metrics of one service.
type HTTP struct {
	listener net.Listener // nil when off
	server   *http.Server
	mux      *http.ServeMux
}

// NewHTTP takes the address, host:port or "off", so that a taken port is an
// error at the start. It wraps ErrPortInUse or ErrUsage. Nothing is served
// before Run.
func NewHTTP(address string, h *Health, metrics prometheus.Gatherer) (*HTTP, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", report(h.Wedged))
	mux.HandleFunc("GET /readyz", report(h.Failing))
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{Timeout: httpTimeout}))
	s := &HTTP{mux: mux, server: &http.Server{
		Handler: mux, ReadTimeout: httpTimeout, WriteTimeout: 2 * httpTimeout, IdleTimeout: time.Minute, MaxHeaderBytes: maxHeader,
	}}
	if address == HTTPOff {
		return s, nil
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("listen for HTTP: %w: %q is not host:port, as 127.0.0.1:8080; %q turns it off (--http or DS_HTTP)", ErrUsage, address, HTTPOff)
	}
	var err error
	s.listener, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if isAddrInUse(err) {
		return nil, fmt.Errorf("listen for HTTP: %w: port %s is in use; choose another with --http or DS_HTTP", ErrPortInUse, address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen for HTTP: %w; choose another address with --http or DS_HTTP", err)
	}
	return s, nil
}

// isAddrInUse also knows Windows' own number, which Go does not map.
func isAddrInUse(err error) bool {
	const wsaAddrInUse = syscall.Errno(10048)
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaAddrInUse)
}

// Handle adds a page, before Run.
func (s *HTTP) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Addr is where it listens, or "" when off.
func (s *HTTP) Addr() string {
	if s.listener == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// Run serves until the context ends, then finishes the requests it has, 10 s
// at most. It is called once; a server that is never run is closed with
// Close.
func (s *HTTP) Run(ctx context.Context) error {
	if s.listener == nil {
		<-ctx.Done()
		return nil
	}
	ended := make(chan error, 1)
	go func() { ended <- s.server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve HTTP on %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpTimeout)
	defer cancel()
	err := s.server.Shutdown(grace)
	if err != nil {
		s.server.Close()
		err = fmt.Errorf("stop serving HTTP: %w", err)
	}
	<-ended
	return err
}

// Close gives the address back.
func (s *HTTP) Close() error {
	if s.listener == nil {
		return nil
	}
	return errors.Join(s.server.Close(), s.listener.Close())
}
