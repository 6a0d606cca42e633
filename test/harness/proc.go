package harness

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is how long any wait for a state may take.
const Patience = 60 * time.Second

// A Command says how a process is started. It finds ds and the nats tool on
// its PATH, and none of the variables and contexts by which the person who
// runs the tests reaches a NATS of their own.
type Command struct {
	Path  string
	Args  []string
	Env   []string  // added to what is there
	Dir   string    // "" is the test's own
	Stdin io.Reader // nil is empty
}

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
	return Command{Path: path, Args: args, Stdin: stdin}.Spawn(t)
}

// Run starts a process, waits for its end and returns its exit code.
func Run(t testing.TB, stdin io.Reader, path string, args ...string) (p *Proc, code int) {
	t.Helper()
	return Command{Path: path, Args: args, Stdin: stdin}.Run(t)
}

// Run starts the process, waits for its end and returns its exit code.
func (c Command) Run(t testing.TB) (p *Proc, code int) {
	t.Helper()
	p = c.Spawn(t)
	return p, p.Wait(t)
}

// Spawn starts the process. It and its children are killed when the test ends.
// A data race that it reports fails the test.
func (c Command) Spawn(t testing.TB) *Proc {
	t.Helper()
	p := &Proc{Name: strings.Join(append([]string{filepath.Base(c.Path)}, c.Args...), " "), done: make(chan struct{})}
	p.cmd = exec.Command(c.Path, c.Args...)
	p.cmd.Env = append(environ(t), c.Env...)
	p.cmd.Dir = c.Dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = c.Stdin, &p.out, &p.err
	ownGroup(p.cmd)
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
		if n := races(p.Stderr()); n > 0 {
			t.Errorf("%s: %d data races", p.Name, n)
		}
		if t.Failed() {
			t.Logf("%s\n--- stdout\n%s--- stderr\n%s", p.Name, clip(p.Stdout()), clip(p.Stderr()))
		}
	})
	return p
}

// environ is the test's environment without what would reach another NATS.
func environ(t testing.TB) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "NATS_") && !strings.HasPrefix(kv, "DS_") && !strings.HasPrefix(kv, "PATH=") {
			env = append(env, kv)
		}
	}
	path := strings.Join([]string{filepath.Dir(DS(t)), filepath.Dir(NATSTool(t)), os.Getenv("PATH")}, string(os.PathListSeparator))
	return append(env, "PATH="+path, "XDG_CONFIG_HOME="+t.TempDir(), "NO_COLOR=1",
		"GORACE=exitcode=0") // races are read from standard error; the exit code is the program's own
}

// races counts the data races that a process reports, but for one of nats.go
// 1.55: AddService notes the service's start after it can be asked for it.
func races(stderr string) (n int) {
	for _, report := range strings.Split(stderr, "WARNING: DATA RACE")[1:] {
		report, _, _ = strings.Cut(report, "Goroutine ")
		if !strings.Contains(report, "micro.(*service).Stats()") || !strings.Contains(report, "micro.AddService()") {
			n++
		}
	}
	return n
}

// Wait waits for the process's end and returns its exit code, which is -1
// when a signal ended it.
func (p *Proc) Wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
		return p.code
	case <-time.After(3 * Patience):
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

// Kill ends the process and its children the hard way, as kill -9 does.
func (p *Proc) Kill() {
	if !p.Ended() { // else its number may be another's
		killGroup(p.cmd)
	}
}

// Stop asks the process to end, as kill does, and returns its exit code.
func (p *Proc) Stop(t testing.TB) int {
	t.Helper()
	p.Signal(t, syscall.SIGTERM)
	return p.Wait(t)
}

// Signal sends a signal. One that has ended takes none; its exit code tells.
func (p *Proc) Signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
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
		ended := p.Ended() // before the look: what it printed last counts
		found := strings.Contains(p.Stdout(), text) || strings.Contains(p.Stderr(), text)
		if !found && ended {
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
