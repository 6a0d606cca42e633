package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"datastream/stack/server"
	"datastream/subjects"
)

// childDir, when set in the environment, makes the test binary a server on
// that folder: the process that TestKillKeepsAcknowledged kills.
const childDir = "DATASTREAM_TEST_SERVER_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		goleak.VerifyTestMain(m) // exits
	}
	s, err := server.Start(server.Options{
		Dir: dir, Listen: "127.0.0.1:0", Space: subjects.Default(), Log: zerolog.Nop(),
		Secrets: map[server.User]string{server.Ingestd: "pw"},
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.URL())
	select {} // until killed
}

// TestSecondServerOnOneFolder is promise 7: it is refused with the holder's
// pid, and the folder is free once the first is closed.
func TestSecondServerOnOneFolder(t *testing.T) {
	dir := t.TempDir()
	first := startIn(t, dir)
	_, err := server.Start(server.Options{Dir: dir, Listen: "127.0.0.1:0", Space: subjects.Default()})
	if !errors.Is(err, server.ErrInUse) {
		t.Fatalf("a second server: %v", err)
	}
	for _, want := range []string{dir, "pid " + strconv.Itoa(os.Getpid())} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	first.Close()
	first.Close()
	startIn(t, dir)
}

// TestKillKeepsAcknowledged is promises 6 and 7 after a SIGKILL: what was
// acknowledged is there, and the folder is not held any more.
func TestKillKeepsAcknowledged(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill := func() {
		if !killed {
			killed = true
			child.Process.Kill()
			child.Wait()
		}
	}
	t.Cleanup(kill)
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(url, "nats://") {
		t.Fatalf("the child said %q, %v", url, err)
	}
	nc, err := nats.Connect(strings.TrimSpace(url), nats.UserInfo("ingestd", "pw"), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t)
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "DATASTREAM", Subjects: []string{"ds.store.>"}}); err != nil {
		t.Fatal(err)
	}
	const n = 20
	for i := range n {
		if _, err := js.Publish(ctx, "ds.store.n1."+life+".a", []byte(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	kill()
	after, err := jetstream.New(dial(t, startIn(t, dir), server.Ingestd).Conn)
	if err != nil {
		t.Fatal(err)
	}
	expectMessages(t, after, "DATASTREAM", n)
}

// TestErrorsSayWhatToDo: each way that a start fails has a sentinel and a
// text with the place and the way out, and leaves the folder free.
func TestErrorsSayWhatToDo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	locked := t.TempDir() // whose lock cannot be a file
	if err := os.Mkdir(filepath.Join(locked, "datastream.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	broken := t.TempDir() // where JetStream cannot make its folder
	if err := os.WriteFile(filepath.Join(broken, "jetstream"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		opts server.Options
		want error
		says []string
	}{
		"port":         {server.Options{Dir: t.TempDir(), Listen: taken}, server.ErrPortInUse, []string{taken, "--listen"}},
		"monitor port": {server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Monitor: taken}, server.ErrPortInUse, []string{taken}},
		"no port":      {server.Options{Dir: t.TempDir(), Listen: "localhost"}, server.ErrListen, []string{"localhost", "host:port"}},
		"bad port":     {server.Options{Dir: t.TempDir(), Listen: "localhost:70000"}, server.ErrListen, []string{"70000"}},
		"no folder":    {server.Options{Dir: filepath.Join(file, "x"), Listen: "127.0.0.1:0"}, server.ErrFolder, []string{file, "--dir"}},
		"no lock":      {server.Options{Dir: locked, Listen: "127.0.0.1:0"}, server.ErrFolder, []string{locked, "--dir"}},
		"no jetstream": {server.Options{Dir: broken, Listen: "127.0.0.1:0"}, server.ErrJetStream, []string{broken}},
	} {
		c.opts.Space, c.opts.Log = subjects.Default(), zerolog.Nop()
		s, err := server.Start(c.opts)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
			if err == nil {
				s.Close()
			}
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %q does not say %q", name, err, says)
			}
		}
	}
}

// TestInProcess: a server without a listener serves connections of this
// process, with the same permissions (promise 1).
func TestInProcess(t *testing.T) {
	s, err := server.Start(server.Options{Dir: t.TempDir(), Space: subjects.Default(), Log: zerolog.Nop(), InProc: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if s.URL() != "" || s.Monitor() != "" {
		t.Errorf("it listens on %q, %q", s.URL(), s.Monitor())
	}
	c := dial(t, s, server.Anonymous, nats.InProcessServer(s))
	if c.publish(t, "ds.frame.n1."+life+".a") == nil {
		t.Error("anonymous may publish frames in process")
	}
	dial(t, s, server.Ingestd, nats.InProcessServer(s))
}

// TestWrongPasswordIsRefused is the end of promise 1: it does not make its
// bearer anonymous.
func TestWrongPasswordIsRefused(t *testing.T) {
	s := start(t)
	for _, u := range server.Users() {
		if _, err := nats.Connect(s.URL(), nats.UserInfo(string(u), "wrong")); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s with a wrong password: %v", u, err)
		}
	}
}

// TestSecretsAreFresh: two servers without given passwords share none.
func TestSecretsAreFresh(t *testing.T) {
	a, b := start(t), start(t)
	for _, u := range server.Users() {
		_, pa := a.Credentials(u)
		if _, pb := b.Credentials(u); pa == pb || len(pa) < 20 {
			t.Errorf("%s: passwords of %d bytes, equal: %v", u, len(pa), pa == pb)
		}
	}
}
