package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"datastream/subjects"
)

// DefaultListen is where the server listens when nothing else is asked for.
const DefaultListen = "127.0.0.1:4222"

// The server's bounds; deploy/nats-server.conf has the same.
const (
	maxPayload    = 8 << 20          // bytes; eight times the largest frame (P1.4)
	maxPending    = 16 << 20         // bytes queued to one client (S5.6)
	writeDeadline = 10 * time.Second // a client blocked this long is cut off (S5.6)
	maxBatch      = 4000             // messages in an atomic batch; ingest takes what is configured (P7.3)
	startTimeout  = 30 * time.Second // recovering a large store takes seconds
)

// Options say how the server runs. Dir and Space are required.
type Options struct {
	Dir     string          // data folder, made if absent
	Listen  string          // host:port; port 0 or -1 is a free one; "" is DefaultListen
	Space   subjects.Space  // whose subjects the permissions name
	Stream  string          // the stream's name; "" is the space's own
	Name    string          // server name; "" is "datastream"
	Monitor string          // host:port of the monitoring page; "" is none
	Log     zerolog.Logger  // warnings and errors of the server
	MaxDisk int64           // bytes JetStream may use; 0 is what the disk allows
	InProc  bool            // do not listen at all: in-process connections only
	Secrets map[User]string // passwords; a user without one gets a random one
}

// A Server is a running embedded NATS server.
type Server struct {
	nats    *natsd.Server
	secrets map[User]string
	lock    *os.File
	close   sync.Once
}

// Start takes the folder, starts the server and waits until it answers. Its
// errors wrap the sentinels of this package and say what to do.
func Start(o Options) (*Server, error) {
	if o.Stream == "" {
		o.Stream = o.Space.StreamName()
	}
	s := &Server{secrets: secrets(o.Secrets)}
	opts, err := s.options(o)
	if err != nil {
		return nil, err
	}
	if !o.InProc {
		if err := probe("listen for NATS clients", opts.Host, opts.Port, "--listen"); err != nil {
			return nil, err
		}
	}
	if o.Monitor != "" {
		if err := probe("listen for monitoring", opts.HTTPHost, opts.HTTPPort, "another monitoring address"); err != nil {
			return nil, err
		}
	}
	if s.lock, err = lockFolder(o.Dir); err != nil {
		return nil, err
	}
	if err := s.run(opts, newBridge(o.Log)); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// run starts the NATS server and waits until it is ready or has given up.
func (s *Server) run(opts *natsd.Options, b *bridge) error {
	var err error
	if s.nats, err = natsd.NewServer(opts); err != nil {
		return fmt.Errorf("start the server: %w: %w", ErrStart, err)
	}
	s.nats.SetLoggerV2(b, false, false, false)
	s.nats.Start()
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		select {
		case <-b.stopped:
			return explain(b.reason(), opts.StoreDir)
		default:
		}
		if s.nats.ReadyForConnections(50 * time.Millisecond) {
			if !s.nats.JetStreamEnabled() {
				return explain("JetStream is not enabled", opts.StoreDir)
			}
			return nil
		}
	}
	return fmt.Errorf("start the server: %w: not ready after %v", ErrStart, startTimeout)
}

// explain finds the sentinel for the server's last words.
func explain(reason, dir string) error {
	switch {
	case strings.Contains(reason, "JetStream"):
		return fmt.Errorf("start the server: %w in %s: %s", ErrJetStream, dir, reason)
	case strings.Contains(reason, "listening on port"), strings.Contains(reason, "monitor"):
		return fmt.Errorf("start the server: %w: %s", ErrPortInUse, reason)
	}
	return fmt.Errorf("start the server: %w: %s", ErrStart, reason)
}

// options are the NATS server's own.
func (s *Server) options(o Options) (*natsd.Options, error) {
	if o.Listen == "" {
		o.Listen = DefaultListen
	}
	host, port, err := split(o.Listen)
	if err != nil {
		return nil, err
	}
	opts := &natsd.Options{
		ServerName: o.Name, Host: host, Port: port, DontListen: o.InProc,
		NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: o.Dir, SyncAlways: true, JetStreamMaxStore: o.MaxDisk,
		JetStreamLimits:     natsd.JSLimitOpts{MaxBatchSize: maxBatch},
		MaxPayload:          maxPayload,
		MaxPending:          maxPending,
		WriteDeadline:       writeDeadline,
		NoFastProducerStall: true,
		NoAuthUser:          string(Anonymous),
	}
	if o.Name == "" {
		opts.ServerName = "datastream"
	}
	if o.Monitor != "" {
		if opts.HTTPHost, opts.HTTPPort, err = split(o.Monitor); err != nil {
			return nil, err
		}
	}
	accounts, err := accounts(o.Space, o.Stream)
	if err != nil {
		return nil, fmt.Errorf("start the server: %w: %w", ErrStart, err)
	}
	for _, name := range []string{pipeAccount, usersAccount} {
		opts.Accounts = append(opts.Accounts, accounts[name])
	}
	for _, u := range Users() {
		opts.Users = append(opts.Users, &natsd.User{
			Username: string(u), Password: s.secrets[u], Account: accounts[accountOf(u)],
			Permissions: Permissions(u, o.Space, o.Stream),
		})
	}
	return opts, nil
}

// secrets completes the given passwords with random ones.
func secrets(given map[User]string) map[User]string {
	all := map[User]string{}
	for _, u := range Users() {
		if all[u] = given[u]; all[u] == "" {
			all[u] = rand.Text()
		}
	}
	return all
}

// split reads host:port; port 0 and -1 are the server's "a free one".
func split(addr string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(addr)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil || port < -1 || port > 65535 {
		return "", 0, fmt.Errorf("listen: %w: %q is not host:port, as 127.0.0.1:4222", ErrListen, addr)
	}
	if port == 0 {
		port = natsd.RANDOM_PORT
	}
	return host, port, nil
}

// probe finds out whether the address can be listened on, before any work is
// done: the server itself would say so only after JetStream has recovered.
func probe(action, host string, port int, flag string) error {
	if port == natsd.RANDOM_PORT {
		port = 0
	}
	addr := net.JoinHostPort(host, strconv.Itoa(port))
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	switch {
	case err == nil:
		return l.Close()
	case isAddrInUse(err):
		return fmt.Errorf("%s: %w: %s is taken; choose another with %s", action, ErrPortInUse, addr, flag)
	}
	return fmt.Errorf("%s: %w: %w", action, ErrListen, err)
}

// isAddrInUse also knows Windows' own number, which Go does not map.
func isAddrInUse(err error) bool {
	const wsaAddrInUse = syscall.Errno(10048)
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaAddrInUse)
}

// URL is where clients connect, or "" without a listener.
func (s *Server) URL() string {
	if _, ok := s.nats.Addr().(*net.TCPAddr); !ok {
		return ""
	}
	return s.nats.ClientURL()
}

// Monitor is the monitoring page's address, host:port, or "".
func (s *Server) Monitor() string {
	if a := s.nats.MonitorAddr(); a != nil {
		return a.String()
	}
	return ""
}

// Credentials are a user's name and password.
func (s *Server) Credentials(u User) (user, password string) { return string(u), s.secrets[u] }

// InProcessConn makes a connection without a socket: a Server is what
// nats.InProcessServer takes. It counts as a client, permissions included.
func (s *Server) InProcessConn() (net.Conn, error) { return s.nats.InProcessConn() }

// NATS is the server itself, for monitoring in process.
func (s *Server) NATS() *natsd.Server { return s.nats }

// Close shuts the server down, waits until JetStream has written its state,
// and gives the folder back. Clients should be drained before. It may be
// called again.
func (s *Server) Close() {
	s.close.Do(func() {
		if s.nats != nil {
			s.nats.Shutdown()
			s.nats.WaitForShutdown()
		}
		if s.lock != nil {
			s.lock.Close()
		}
	})
}
