package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	ingest "datastream/ingestd/run"
	"datastream/ingestd/store"
	mux "datastream/muxd/run"
	"datastream/service"
	"datastream/stack/server"
	"datastream/subjects"
)

// ErrStoreGone says that the folder has been used and the store in it is gone.
var ErrStoreGone = errors.New("the store is gone")

// grace bounds the stop of each part.
const grace = 20 * time.Second

// Options say what to run. Dir is required; Mux and Ingest begin from
// mux.Defaults and ingest.Defaults, their NATS and HTTP settings are not used.
type Options struct {
	Dir    string         // data folder, made if absent
	Listen string         // host:port for clients; port 0 is a free one
	Log    zerolog.Logger // of all parts
	Mux    mux.Config
	Ingest ingest.Config
	// WithoutMux and WithoutIngest leave a part out until StartMux or
	// StartIngest.
	WithoutMux, WithoutIngest bool
}

// A Stack is a running pipeline.
type Stack struct {
	opts   Options
	server *server.Server
	space  subjects.Space

	mu     sync.Mutex
	mux    *part
	ingest *part
	muxd   *mux.Daemon
	ingd   *ingest.Daemon
	failed chan error
}

// A part is a running daemon.
type part struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// Start starts the server and the daemons and returns while they come up: see
// Ready. Its errors are for people.
func Start(ctx context.Context, o Options) (*Stack, error) {
	space, err := subjects.NewSpace(o.Mux.Prefix)
	if err != nil {
		return nil, fmt.Errorf("%w: --prefix: %w", service.ErrUsage, err)
	}
	o.Ingest.Prefix = o.Mux.Prefix
	o.Ingest.Init, err = fresh(o.Dir)
	if err != nil {
		return nil, err
	}
	srv, err := server.Start(server.Options{Dir: o.Dir, Listen: o.Listen, Space: space, Stream: o.Ingest.Stream, Log: o.Log})
	if err != nil {
		return nil, err
	}
	if o.Ingest.MaxBytes == 0 {
		o.Ingest.MaxBytes = roomFor(o.Dir) // the server has made it
	}
	s := &Stack{opts: o, server: srv, space: space, failed: make(chan error, 2)}
	if !o.WithoutIngest {
		err = s.StartIngest(ctx)
	}
	if err == nil && !o.WithoutMux {
		err = s.StartMux(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// roomFor is half of what the folder's disk has free, where that can be known
// and is less than the default (P8).
func roomFor(dir string) int64 {
	if free := freeBytes(dir); free > 0 && free/2 < store.DefaultMaxBytes {
		return free / 2
	}
	return store.DefaultMaxBytes
}

// StartMux starts the mux; it must not be running.
func (s *Stack) StartMux(ctx context.Context) error {
	c := s.opts.Mux
	c.NATS = s.identity(server.Muxd)
	d, err := mux.New(c, s.opts.Log.With().Str("part", "muxd").Logger())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muxd, s.mux = d, s.run(ctx, "muxd", d.Run)
	return nil
}

// StartIngest starts ingest; it must not be running.
func (s *Stack) StartIngest(ctx context.Context) error {
	c := s.opts.Ingest
	c.NATS = s.identity(server.Ingestd)
	c.Opened = func() {
		if err := markUsed(s.opts.Dir); err != nil {
			s.opts.Log.Error().Err(err).Msg("a store that goes missing here would be made anew at the next start")
		}
	}
	d, err := ingest.New(c, s.opts.Log.With().Str("part", "ingestd").Logger())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ingd, s.ingest = d, s.run(ctx, "ingestd", d.Run)
	s.opts.Ingest.Init = false // made once; what is gone later is gone
	return nil
}

func (s *Stack) run(ctx context.Context, name string, run func(context.Context) error) *part {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &part{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		err := run(ctx)
		if ctx.Err() == nil {
			if err == nil {
				err = errors.New("ended by itself")
			}
			s.failed <- fmt.Errorf("%s: %w", name, err)
		}
	}()
	return p
}

// identity is how a daemon reaches the server.
func (s *Stack) identity(u server.User) service.NATS {
	user, password := s.server.Credentials(u)
	own, secret := s.server.Credentials(server.Service)
	return service.NATS{
		URL: s.server.URL(), User: user, Password: service.Secret(password), InboxPrefix: server.InboxPrefix,
		ServiceUser: own, ServicePassword: service.Secret(secret),
	}
}

// Failed yields why a daemon has ended by itself.
func (s *Stack) Failed() <-chan error { return s.failed }

// URL is where clients connect.
func (s *Stack) URL() string { return s.server.URL() }

// Space is the subject space served.
func (s *Stack) Space() subjects.Space { return s.space }

// Server is the embedded server.
func (s *Stack) Server() *server.Server { return s.server }

// Mux is the mux that was last started; an in-process handle submits to it.
func (s *Stack) Mux() *mux.Daemon {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.muxd
}

// Connect connects as anybody would, or as one of the server's users.
func (s *Stack) Connect(u server.User, opts ...nats.Option) (*nats.Conn, error) {
	if u != server.Anonymous {
		user, password := s.server.Credentials(u)
		opts = append(opts, nats.UserInfo(user, password))
	}
	return nats.Connect(s.server.URL(), opts...)
}

// Failing lists what is not ready, as `name: reason`.
func (s *Stack) Failing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	if s.muxd != nil && s.mux != nil {
		out = append(out, s.muxd.Health.Failing()...)
	}
	if s.ingd != nil && s.ingest != nil {
		out = append(out, s.ingd.Health.Failing()...)
	}
	return out
}

// Wedged lists the loops of the parts that stand still.
func (s *Stack) Wedged() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	if s.muxd != nil && s.mux != nil {
		out = append(out, s.muxd.Health.Wedged()...)
	}
	if s.ingd != nil && s.ingest != nil {
		out = append(out, s.ingd.Health.Wedged()...)
	}
	return out
}

// Ready waits until everything that was started serves. A store that is gone
// is ErrStoreGone at once: nobody but a person may make it anew.
func (s *Stack) Ready(ctx context.Context) error {
	for {
		failing := s.Failing()
		if len(failing) == 0 {
			return nil
		}
		for _, f := range failing {
			if strings.Contains(f, store.ErrNoStream.Error()) {
				return fmt.Errorf("%w: %s has been used before, but its stream is not there any more; restore a backup into it, or start with an empty folder (--dir)", ErrStoreGone, s.opts.Dir)
			}
		}
		select {
		case err := <-s.failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("wait until the stack is ready: %w; not ready: %s", ctx.Err(), strings.Join(failing, "; "))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// StopMux stops the mux in order; StopIngest does so with ingest.
func (s *Stack) StopMux() { s.halt(&s.mux) }

// StopIngest stops ingest in order.
func (s *Stack) StopIngest() { s.halt(&s.ingest) }

func (s *Stack) halt(at **part) {
	s.mu.Lock()
	p := *at
	*at = nil
	s.mu.Unlock()
	if p == nil {
		return
	}
	p.cancel()
	select {
	case <-p.done:
	case <-time.After(grace):
		s.opts.Log.Error().Msg("a part does not stop in time; leaving it")
	}
}

// Close stops everything in order.
func (s *Stack) Close() {
	s.StopMux()
	s.StopIngest()
	s.server.Close()
}
