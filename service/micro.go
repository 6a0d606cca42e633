package service

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// MicroConfig is how a service shows itself to `nats micro ls|info|stats`.
type MicroConfig struct {
	Name        string // a-z, A-Z, 0-9, - and _
	Description string
	Metadata    map[string]string         // as the node of a muxd
	Stats       func(*micro.Endpoint) any // more about an endpoint, JSON; may be nil
	// Registered is called by RunMicro once the service answers, with its id;
	// an error ends it. It may be nil.
	Registered func(ctx context.Context, id string) error
}

// A MicroService is a service registered under $SRV on a connection of its
// own, which may publish answers and nothing else: the micro framework
// answers to any subject that an asker names (P2.4).
type MicroService struct {
	micro.Service
	Conn *Conn
}

// Micro connects with the identity for the $SRV connection (NATS.ForService)
// and registers the service. Its endpoints, if any, are added by the caller.
// Without an identity of its own it uses the daemon's, and says so in the
// log, unless there are no credentials at all.
func Micro(ctx context.Context, n NATS, o Options, c MicroConfig, extra ...nats.Option) (*MicroService, error) {
	own, ok := n.ForService()
	if !ok && (n.User != "" || n.Creds != "" || n.Token != "" || n.NKey != "") {
		o.Log.Warn().Msg("the $SRV connection has the daemon's own credentials: who may ask it can make it answer to the daemon's subjects; set DS_SERVICE_USER and DS_SERVICE_PASSWORD, or DS_SERVICE_CREDS")
	}
	o.Name += "-srv"
	conn, err := Connect(ctx, own, o, extra...)
	if err != nil {
		return nil, fmt.Errorf("connect the $SRV service: %w", err)
	}
	s, err := micro.AddService(conn.Conn, micro.Config{
		Name: c.Name, Version: Version, Description: c.Description, Metadata: c.Metadata, StatsHandler: c.Stats,
	})
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("register the $SRV service %s: %w", c.Name, err)
	}
	// AddService notes its start without its lock after it has begun to answer;
	// Reset notes it again with the lock.
	s.Reset()
	return &MicroService{Service: s, Conn: conn}, nil
}

// Stop unregisters the service and drains its connection.
func (m *MicroService) Stop(ctx context.Context) error {
	err := m.Service.Stop()
	if drained := m.Conn.Stop(ctx); drained != nil {
		return drained
	}
	if err != nil {
		return fmt.Errorf("unregister the $SRV service: %w", err)
	}
	return nil
}

// CheckSRV is the health check that RunMicro passes once the service answers
// under $SRV. A daemon sets it failed from its start on.
const CheckSRV = "srv"

// RunMicro is Micro for as long as ctx lasts; then it unregisters and drains
// within the grace. It passes CheckSRV of the options' Health.
func RunMicro(ctx context.Context, n NATS, o Options, c MicroConfig, grace time.Duration) error {
	m, err := Micro(ctx, n, o, c)
	if err != nil {
		return err
	}
	err = m.serve(ctx, o, c)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if stopped := m.Stop(stop); err == nil {
		err = stopped
	}
	return err
}

// serve waits until the service answers, says so, and then for the end: of
// ctx, or of the connection, which is an error.
func (m *MicroService) serve(ctx context.Context, o Options, c MicroConfig) error {
	if err := m.Conn.WaitConnected(ctx); err != nil {
		return ignoreEnd(ctx, err)
	}
	if o.Health != nil {
		o.Health.Set(CheckSRV, nil)
	}
	if c.Registered != nil {
		if err := c.Registered(ctx, m.Info().ID); err != nil {
			return ignoreEnd(ctx, err)
		}
	}
	select {
	case err := <-m.Conn.Closed():
		return fmt.Errorf("the $SRV connection: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// ignoreEnd is no error when ctx has ended.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
