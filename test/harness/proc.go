package harness

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience is how long any wait for a state may take.
const Patience = 60 * time.Second

// A Proc is a process that a test started.
type Proc struct {
	Name string
	cmd  *exec.Cmd
	out  output
	err  output
	done chan struct{}
	code int
}

// Spawn starts a process with the given standard input, which may be nil. It
// is killed when the test ends.
func Spawn(t testing.TB, stdin io.Reader, path string, args ...string) *Proc {
	t.Helper()
	p := &Proc{Name: path + " " + strings.Join(args, " "), done: make(chan struct{})}
	p.cmd = exec.Command(path, args...)
	p.cmd.Env = append(os.Environ(), "NATS_URL=", "NATS_CONTEXT=", "XDG_CONFIG_HOME="+t.TempDir(), "NO_COLOR=1")
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, &p.out, &p.err
	// A killed process's children must not hold Wait back by its pipes.
	p.cmd.WaitDelay = 5 * time.Second
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", p.Name, err)
	}
	go func() {
		err := p.cmd.Wait()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit):
			p.code = exit.ExitCode()
		case err != nil:
			p.code = -1
		}
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("%s\n--- stdout\n%s--- stderr\n%s", p.Name, clip(p.Stdout()), clip(p.Stderr()))
		}
	})
	return p
}

// Run starts a process, waits for its end and returns its exit code.
func Run(t testing.TB, stdin io.Reader, path string, args ...string) (p *Proc, code int) {
	t.Helper()
	p = Spawn(t, stdin, path, args...)
	return p, p.Wait(t)
}

// Wait waits for the process's end and returns its exit code.
func (p *Proc) Wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
		return p.code
	case <-time.After(5 * Patience):
		t.Fatalf("%s does not end", p.Name)
		return -1
	}
}

// Ended reports whether the process has ended.
func (p *Proc) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Kill ends the process the hard way, as kill -9 does.
func (p *Proc) Kill() { _ = p.cmd.Process.Kill() }

// Signal sends a signal.
func (p *Proc) Signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("signal %s: %v", p.Name, err)
	}
}

// Stdout is what the process has written so far.
func (p *Proc) Stdout() string { return p.out.String() }

// Stderr is what the process has written so far.
func (p *Proc) Stderr() string { return p.err.String() }

// WaitFor waits until a text stands on standard output or standard error.
func (p *Proc) WaitFor(t testing.TB, text string) {
	t.Helper()
	Until(t, p.Name+" prints "+text, func() bool {
		found := strings.Contains(p.Stdout(), text) || strings.Contains(p.Stderr(), text)
		if !found && p.Ended() {
			t.Fatalf("%s ended with %d before it printed %q", p.Name, p.code, text)
		}
		return found
	})
}

// Until waits for a state.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("gave up waiting until %s", what)
		}
		time.Sleep(5 * time.Millisecond) // between two looks at a state
	}
}

func clip(s string) string {
	const most = 8 << 10
	if len(s) > most {
		return s[:most/2] + "\n…\n" + s[len(s)-most/2:]
	}
	return s
}

// output collects what a process writes.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
