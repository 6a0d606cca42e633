package scenario

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"datastream/stack/server"
	"datastream/test/harness"
)

// upFails runs a ds up that cannot work, and expects exit 1 and a message.
func upFails(t *testing.T, args []string, want ...string) {
	t.Helper()
	p, code := harness.Run(t, nil, harness.DS(t), append([]string{"up"}, args...)...)
	if code != 1 || p.Stdout() != "" {
		t.Errorf("exit %d, standard output %q", code, p.Stdout())
	}
	for _, w := range want {
		if !strings.Contains(p.Stderr(), w) {
			t.Errorf("the message lacks %q: %s", w, p.Stderr())
		}
	}
}

// TestFolderHeldByAnother: one process holds a data folder at a time.
func TestFolderHeldByAnother(t *testing.T) {
	up := harness.Up(t)
	upFails(t, []string{"--dir", up.Dir, "--listen", harness.FreeAddr(t), "--http", "off"}, up.Dir, "in use", "pid ", "--dir")
	commit(t, up.Connect(t), "ds.submit.n1.app.log", "undisturbed")
	if code := up.Stop(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	up.Start(t) // it was given back
	if all := readStore(t, up.Connect(t)); len(all) != 1 {
		t.Errorf("%d frames are stored, want the one", len(all))
	}
}

// TestFolderThatCannotBe: a file stands where the folder should be.
func TestFolderThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	upFails(t, []string{"--dir", file, "--listen", harness.FreeAddr(t), "--http", "off"}, file, "--dir")
}

// TestStoreThatIsGone: a folder that was used and has lost its store gets none
// by itself (P8.4).
func TestStoreThatIsGone(t *testing.T) {
	up := harness.Up(t)
	commit(t, up.Connect(t), "ds.submit.n1.app.log", "precious")
	if code := up.Stop(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	found, err := filepath.Glob(filepath.Join(up.Dir, "jetstream", "*", "streams", "DATASTREAM"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the store's folder: %q, %v", found, err)
	}
	gone := found[0]
	if err := os.Rename(gone, filepath.Join(t.TempDir(), "DATASTREAM")); err != nil {
		t.Fatal(err)
	}
	upFails(t, up.Args[1:], "store is gone", up.Dir, "restore", "--dir")
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("something is there again: %v", err)
	}
}

// take listens on an address, which the test then holds.
func take(t *testing.T, addr string) string {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// TestPortsThatAreTaken: what was asked for and is taken is an error; what was
// not asked for is replaced, and said.
func TestPortsThatAreTaken(t *testing.T) {
	held := take(t, "127.0.0.1:0")
	upFails(t, []string{"--dir", t.TempDir(), "--listen", held, "--http", "off"}, held, "taken", "--listen")
	upFails(t, []string{"--dir", t.TempDir(), "--listen", "nonsense", "--http", "off"}, "nonsense", "host:port")
	upFails(t, []string{"--dir", t.TempDir(), "--listen", harness.FreeAddr(t), "--http", held}, held, "--http")
}

// upBesideDefaults starts a ds up without --listen and --http while the default
// ports are taken, by the test or by whoever else on this machine.
func upBesideDefaults(t *testing.T) *harness.Proc {
	t.Helper()
	for {
		ours := hold(t, server.DefaultListen)
		ours = hold(t, "127.0.0.1:9220") && ours
		p := harness.Spawn(t, nil, harness.DS(t), "up", "--dir", t.TempDir())
		p.WaitFor(t, "Ctrl-C stops it")
		if ours || !strings.Contains(p.Stdout(), ":4222") && !strings.Contains(p.Stdout(), ":9220/") {
			return p
		}
		p.Stop(t) // somebody has let a port go meanwhile: hold it
	}
}

// hold takes an address until the test ends, and reports whether it was free.
func hold(t *testing.T, addr string) bool {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return false
	}
	t.Cleanup(func() { l.Close() })
	return true
}

// TestDefaultPortIsTaken: without --listen another port is found, and the
// commands say which.
func TestDefaultPortIsTaken(t *testing.T) {
	p := upBesideDefaults(t)
	if !strings.Contains(p.Stderr(), "127.0.0.1:4222 is taken") {
		t.Errorf("it does not say why: %s", p.Stderr())
	}
	_, rest, found := strings.Cut(p.Stdout(), "is ready: ")
	url, _, _ := strings.Cut(rest, ",")
	if !found || strings.HasSuffix(url, ":4222") || strings.Count(p.Stdout(), "--server "+url) < 6 {
		t.Errorf("the commands do not name the port:\n%s", p.Stdout())
	}
	if strings.Contains(p.Stdout(), ":9220/") || !strings.Contains(p.Stdout(), "/readyz") {
		t.Errorf("the pages are not where they are said to be:\n%s", p.Stdout())
	}
	if got := harness.NATS(t, url, "req", "--raw", "ds.submit.n1.app.log", "x"); !strings.Contains(got, `"position":0`) {
		t.Errorf("the answer is %q", got)
	}
}
