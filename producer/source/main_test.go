package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"datastream/producer/emit"
	"datastream/subjects"
)

// childEnv makes this test binary play a process instead; its value says which.
const childEnv = "SOURCE_TEST_CHILD"

// quickExit keeps a child under the race detector from sleeping before it ends.
const quickExit = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		os.Exit(child(role, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// child is the processes that the tests run.
func child(role string, out, err io.Writer) int {
	switch role {
	case "flood": // more than any pipe holds, the last of it right before the end
		for i := range 20_000 {
			fmt.Fprintf(out, "out %d\n", i)
			fmt.Fprintf(err, "err %d\r\n", i)
		}
		fmt.Fprint(out, "unterminated")
		return 3
	case "records":
		fmt.Fprint(out, "lonely\n@ one\n  at a\n  at b\n@ two\n@ three\n  at c")
	case "long":
		fmt.Fprintf(out, "before\n%s\nafter\n", strings.Repeat("x", 100))
	case "echo":
		_, _ = io.Copy(out, os.Stdin)
	case "obey": // reports the signal that ends it
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
		fmt.Fprintln(out, "ready")
		fmt.Fprintln(out, "got", <-c)
		return 5
	case "ignore":
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(out, "ready")
		time.Sleep(time.Hour) // until it is killed
	case "family": // leaves a descendant that holds the output open
		cmd := again("obey")
		cmd.Stdout = os.Stdout
		if cmd.Start() != nil {
			return 1
		}
		fmt.Fprintln(out, "pid", cmd.Process.Pid)
	case "parent": // waits for a descendant
		cmd := again("ignore")
		cmd.Env = append(cmd.Env, childEnv+"=obey")
		cmd.Stdout = os.Stdout
		signal.Ignore(syscall.SIGTERM)
		if cmd.Run() == nil {
			return 1
		}
		fmt.Fprintln(out, "descendant ended")
	}
	return 0
}

func again(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+role, quickExit)
	return cmd
}

// A pipe is a Settler that a test scripts.
type pipe struct {
	mu       sync.Mutex
	got      []sent // taken, in order
	fate     func(n int, f sent) fate
	report   emit.Report
	settled  map[string]int // payloads that were settled, how often
	waiting  []sent
	shut     bool // what is taken stays open
	full     bool // nothing is taken
	maxFrame int
}

type sent struct {
	channel subjects.Channel
	payload string
}

type fate int

const (
	settled fate = iota
	lost
	unknown
)

func newPipe() *pipe {
	return &pipe{
		settled: map[string]int{}, maxFrame: math.MaxInt,
		fate: func(int, sent) fate { return settled },
	}
}

func (p *pipe) Submit(ctx context.Context, c subjects.Channel, payload []byte) error {
	p.mu.Lock()
	full := p.full
	p.mu.Unlock()
	if full {
		<-ctx.Done()
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(payload) > p.maxFrame {
		return fmt.Errorf("submit: %w", emit.ErrSize)
	}
	f := sent{c, string(payload)}
	p.got = append(p.got, f)
	p.report.Submitted++
	p.waiting = append(p.waiting, f)
	p.resolve()
	return ctx.Err()
}

func (p *pipe) resolve() {
	if p.shut {
		return
	}
	for _, f := range p.waiting {
		switch p.fate(len(p.got), f) {
		case settled:
			p.report.Settled++
			p.settled[f.payload]++
		case lost:
			p.report.Lost++
		case unknown:
			p.report.Unknown++
		}
	}
	p.waiting = nil
}

func (p *pipe) Report() emit.Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.report
}

// set changes the script.
func (p *pipe) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	p.resolve()
}

// frames is what was taken on a channel, in order.
func (p *pipe) frames(c subjects.Channel) (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.got {
		if f.channel == c {
			all = append(all, f.payload)
		}
	}
	return all
}

// reopen is the same store behind a new handle: what was open is no more.
func (p *pipe) reopen() *pipe {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := newPipe()
	n.settled = p.settled
	return n
}

// A shelf is an emit.Handle that keeps what it is given.
type shelf struct{ *pipe }

func (s shelf) Submit(c subjects.Channel, payload []byte) {
	_ = s.pipe.Submit(context.Background(), c, bytes.Clone(payload))
}

// eventually waits for a state.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("in vain: %s", what)
		}
		pause(context.Background(), time.Millisecond)
	}
}

// writeNew truncates a file and writes it anew.
func writeNew(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }
