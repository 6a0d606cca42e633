package harness

import (
	"crypto/rand"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"datastream/stack/server"
	"datastream/subjects"
)

// Parts is a pipeline of parts that start, stop and die apart: a NATS server
// in the test, with `ds up`'s permissions, and daemons as processes.
type Parts struct {
	Dir string
	URL string

	addr    string
	secrets map[server.User]string
	server  *server.Server
}

// NewParts picks a folder, a port and passwords. Nothing runs yet.
func NewParts(t testing.TB) *Parts {
	t.Helper()
	p := &Parts{Dir: t.TempDir(), addr: FreeAddr(t), secrets: map[server.User]string{}}
	for _, u := range server.Users() {
		p.secrets[u] = rand.Text()
	}
	p.URL = "nats://" + p.addr
	t.Cleanup(p.StopServer)
	return p
}

// StartServer starts NATS; again on the same folder and port.
func (p *Parts) StartServer(t testing.TB) {
	t.Helper()
	s, err := server.Start(server.Options{
		Dir: p.Dir, Listen: p.addr, Space: subjects.Default(), Log: zerolog.Nop(), Secrets: p.secrets,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.server = s
}

// StopServer stops NATS, if it runs.
func (p *Parts) StopServer() {
	if p.server != nil {
		p.server.Close()
		p.server = nil
	}
}

// A Daemon is a running muxd or ingestd.
type Daemon struct{ *Proc }

// Muxd starts a mux and returns at once; see Daemon.Serving.
func (p *Parts) Muxd(t testing.TB, args ...string) Daemon {
	t.Helper()
	return p.daemon(t, server.Muxd, args)
}

// Ingestd starts an ingest that makes no store unless --init is among args.
func (p *Parts) Ingestd(t testing.TB, args ...string) Daemon {
	t.Helper()
	return p.daemon(t, server.Ingestd, args)
}

// Pipe starts NATS, a gateway and ingest with a new store, and waits until
// they serve.
func (p *Parts) Pipe(t testing.TB) (mux, ingest Daemon) {
	t.Helper()
	p.StartServer(t)
	mux, ingest = p.Muxd(t), p.Ingestd(t, "--init")
	mux.Serving(t)
	ingest.Serving(t)
	return mux, ingest
}

// daemon starts one as an operator would: settings in the environment.
func (p *Parts) daemon(t testing.TB, u server.User, args []string) Daemon {
	t.Helper()
	return Daemon{Command{
		Path: DS(t), Args: append([]string{string(u)}, args...),
		Env: []string{
			"NATS_URL=" + p.URL, "NATS_USER=" + string(u), "NATS_PASSWORD=" + p.secrets[u],
			"DS_SERVICE_USER=" + string(server.Service), "DS_SERVICE_PASSWORD=" + p.secrets[server.Service],
			"NATS_INBOX_PREFIX=" + server.InboxPrefix, "DS_HTTP=127.0.0.1:0",
		},
	}.Spawn(t)}
}

// Serving waits until the daemon's log says so.
func (d Daemon) Serving(t testing.TB) {
	t.Helper()
	d.WaitFor(t, `"message":"serving"`)
}

var pages = regexp.MustCompile(`"http":"([^"]+)"`)

// Ready asks the daemon's /readyz, and returns what it says beside the status.
func (d Daemon) Ready(t testing.TB) (ready bool, reasons string) {
	t.Helper()
	d.WaitFor(t, `"http":"`)
	resp, err := http.Get("http://" + pages.FindStringSubmatch(d.Stderr())[1] + "/readyz")
	if err != nil {
		t.Fatalf("%s: %v", d.Name, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", d.Name, err)
	}
	return resp.StatusCode == http.StatusOK, string(b)
}

// Connect connects as anybody would.
func (p *Parts) Connect(t testing.TB, opts ...nats.Option) *nats.Conn {
	t.Helper()
	return connect(t, p.URL, opts...)
}

// ConnectAs connects as one of the server's users.
func (p *Parts) ConnectAs(t testing.TB, u server.User) *nats.Conn {
	t.Helper()
	return connect(t, p.URL, nats.UserInfo(string(u), p.secrets[u]))
}
