package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	ingest "datastream/ingestd/run"
	mux "datastream/muxd/run"
	"datastream/service"
	"datastream/stack"
	"datastream/stack/server"
	"datastream/subjects"
)

// Where the pages of ds up are, and how long starting may take.
const (
	upHTTP    = "127.0.0.1:9220"
	upPatient = 5 * time.Minute // reading a large store takes a while
	upGrace   = time.Minute
	upWedged  = 10 * time.Second // a part's own limit comes before it
)

// up is what ds up may be told.
type up struct {
	env
	dir, listen, http string
	listenGiven       bool
	httpGiven         bool
	log               service.LogConfig
	mux               mux.Config
	ingest            ingest.Config
}

func newUp(e env) *cobra.Command {
	u := &up{env: e, mux: mux.Defaults(), ingest: ingest.Defaults()}
	c := &cobra.Command{
		Use:   "up",
		Short: "Run the whole stack in one process, NATS included",
		Long: `Run the whole stack in one process: a NATS server with JetStream, muxd and
ingestd. Anybody may submit and read; the rest of the subject space is the
daemons'. Prints what to try next once it is ready. Ctrl-C stops it in order.`,
		Args: exactly(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			fs := c.Flags()
			if err := service.Env(fs, e.getenv, service.EnvPrefix); err != nil {
				return err
			}
			u.listenGiven, u.httpGiven = fs.Changed("listen"), fs.Changed("http")
			return u.run(c.Context())
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&u.dir, "dir", "./ds-data", "`folder` of the data, made if absent")
	fs.StringVar(&u.listen, "listen", server.DefaultListen, "`address` for NATS clients; a free port if this one is taken and was not asked for")
	fs.StringVar(&u.http, "http", upHTTP, "`address` of /healthz, /readyz and /metrics, or off; as --listen if taken")
	u.log.Flags(fs)
	u.mux.Flags(fs)
	u.ingest.Flags(fs)
	fs.Lookup("log-level").DefValue = "warn"
	u.log.Level = "warn"
	service.DescribeEnv(fs, service.EnvPrefix)
	return c
}

func (u *up) run(ctx context.Context) error {
	log, err := service.NewLogger(u.stderr, "ds", u.log, u.getenv)
	if err != nil {
		return err
	}
	opts := stack.Options{Dir: u.dir, Listen: u.listen, Log: log, Mux: u.mux, Ingest: u.ingest}
	s, err := stack.Start(ctx, opts)
	if errors.Is(err, server.ErrPortInUse) && !u.listenGiven {
		u.say("%s is taken, so a free port it is (choose one with --listen)", u.listen)
		opts.Listen = "127.0.0.1:0"
		s, err = stack.Start(ctx, opts)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	var health service.Health
	pages, err := service.NewHTTP(u.http, &health, s.Metrics())
	if errors.Is(err, service.ErrPortInUse) && !u.httpGiven {
		pages, err = service.NewHTTP("127.0.0.1:0", &health, s.Metrics())
	}
	if err != nil {
		return err
	}
	var g service.Group
	g.Add("stack", func(ctx context.Context) error { return u.serve(ctx, s, &health, pages.Addr()) })
	g.Add("http", pages.Run)
	return g.Run(ctx, upGrace)
}

// serve says when the stack is ready, and runs until it is told to stop or a
// part ends by itself.
func (u *up) serve(ctx context.Context, s *stack.Stack, health *service.Health, http string) error {
	health.Set("stack", errors.New("starting"))
	patient, cancel := context.WithTimeout(ctx, upPatient)
	defer cancel()
	if err := s.Ready(patient); err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before it was ready
		}
		return err
	}
	u.announce(s, http)
	pulse := health.Pulse("stack", upWedged)
	defer pulse.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if failing := s.Failing(); len(failing) > 0 {
			health.Set("stack", errors.New(strings.Join(failing, "; ")))
		} else {
			health.Set("stack", nil)
		}
		if len(s.Wedged()) == 0 {
			pulse.Beat()
		}
		select {
		case err := <-s.Failed():
			return err
		case <-ctx.Done():
			u.say("stopping")
			s.Close()
			return nil
		case <-tick.C:
		}
	}
}

// announce prints commands that work when pasted.
func (u *up) announce(s *stack.Stack, http string) {
	at, server, p := reachable(s.URL()), "", s.Space().Prefix()
	if at != service.DefaultURL {
		server = " --server " + at
	}
	node, nodeFlag := "n1", ""
	if u.mux.Node != mux.Gateway {
		node = subjects.EncodeNode(subjects.Node(u.mux.Node))
		nodeFlag = " --node " + shell(u.mux.Node)
	}
	stream := u.ingest.Stream
	if stream == "" {
		stream = s.Space().StreamName()
	}
	lines := [][2]string{
		{"nats" + server + " sub '" + p + ".frame.>'", "frames as they go by, before their commit"},
		{"nats" + server + " pub " + shell(p+".submit."+node+".app.log") + " hello", "submit a line to channel app.log of node " + node},
		{"nats" + server + " req " + shell(p+".submit."+node+".app.log") + " hi", "the same, with an answer: its position"},
		{"seq 1 1000 | " + self() + " emit" + server + prefixFlag(p) + nodeFlag + " app.numbers", "submit lines; ends when all are committed"},
		{"nats" + server + " sub --stream " + stream + " --all --raw -T", "everything that is committed"},
		{"nats" + server + " stream view " + stream, "the same, page by page"},
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l[0]))
	}
	fmt.Fprintf(u.stdout, "datastream is ready: %s, data in %s\n\nTry in another terminal:\n\n", at, u.dir)
	for _, l := range lines {
		fmt.Fprintf(u.stdout, "  %-*s  # %s\n", width, l[0], l[1])
	}
	if http != "" {
		fmt.Fprintf(u.stdout, "\nHealth and metrics: http://%s/readyz, http://%s/metrics\n", http, http)
	}
	if _, err := exec.LookPath("nats"); err != nil {
		fmt.Fprintf(u.stdout, "\nThe nats tool is not on your PATH: go install github.com/nats-io/natscli/nats@v0.5.0\n")
	}
	fmt.Fprintf(u.stdout, "\nCtrl-C stops it.\n")
}

// reachable is a URL that works from here: a server that listens everywhere
// is reached at the loopback address.
func reachable(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort("127.0.0.1", u.Port())
	}
	return u.String()
}

// shell quotes a word for a POSIX shell where it must be.
func shell(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-%") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func prefixFlag(prefix string) string {
	if prefix == "ds" {
		return ""
	}
	return " --prefix " + prefix
}

// self is how this executable is called from here.
func self() string {
	if found, err := exec.LookPath("ds"); err == nil {
		a, errA := os.Stat(found)
		exe, errE := os.Executable()
		if errA == nil && errE == nil {
			if b, err := os.Stat(exe); err == nil && os.SameFile(a, b) {
				return "ds"
			}
		}
	}
	return os.Args[0]
}
