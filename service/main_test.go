package service_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"datastream/service"
)

// roleKey, when set in the environment, makes the test binary a program under
// Main: what the tests send signals to.
const roleKey = "DATASTREAM_TEST_ROLE"

var roles = map[string]service.RunFunc{
	"done": func(context.Context, []string, func(string) string, io.Writer, io.Writer) error { return nil },
	"failed": func(context.Context, []string, func(string) string, io.Writer, io.Writer) error {
		return errors.New("boom")
	},
	"usage": func(_ context.Context, args []string, _ func(string) string, _, _ io.Writer) error {
		return fmt.Errorf("%w: arguments %q", service.ErrUsage, args)
	},
	"answered": func(context.Context, []string, func(string) string, io.Writer, io.Writer) error {
		return service.ErrAnswered
	},
	"daemon": func(ctx context.Context, _ []string, _ func(string) string, stdout, _ io.Writer) error {
		fmt.Fprintln(stdout, "up")
		<-ctx.Done()
		return nil
	},
	"command": func(ctx context.Context, _ []string, _ func(string) string, stdout, _ io.Writer) error {
		fmt.Fprintln(stdout, "up")
		<-ctx.Done()
		return fmt.Errorf("tail: %w", service.ErrInterrupted)
	},
	"canceled": func(ctx context.Context, _ []string, _ func(string) string, stdout, _ io.Writer) error {
		fmt.Fprintln(stdout, "up")
		<-ctx.Done()
		return fmt.Errorf("query: %w", ctx.Err())
	},
	"stubborn": func(ctx context.Context, _ []string, _ func(string) string, stdout, _ io.Writer) error {
		fmt.Fprintln(stdout, "up")
		<-ctx.Done()
		fmt.Fprintln(stdout, "asked")
		select {}
	},
	"chatty": func(_ context.Context, _ []string, _ func(string) string, stdout, _ io.Writer) error {
		for {
			if _, err := fmt.Fprintln(stdout, "up"); err != nil {
				return fmt.Errorf("write the answer: %w", err)
			}
		}
	},
	"hung up": func(context.Context, []string, func(string) string, io.Writer, io.Writer) error {
		return fmt.Errorf("write to a peer: %w", syscall.EPIPE)
	},
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleKey); role != "" {
		service.Main("prog", roles[role])
	}
	goleak.VerifyTestMain(m)
}

// A program is a running child.
type program struct {
	*exec.Cmd
	out    *bufio.Reader
	stdout io.Closer
	errs   *strings.Builder
}

func launch(t *testing.T, role string, args ...string) program {
	t.Helper()
	p := program{Cmd: exec.Command(os.Args[0], args...), errs: &strings.Builder{}}
	// The race detector would let each child linger for a second.
	p.Env = append(os.Environ(), roleKey+"="+role, "GORACE=atexit_sleep_ms=0")
	p.Stderr = p.errs
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out, p.stdout = bufio.NewReader(out), out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	return p
}

// line reads the next line of the program's output.
func (p program) line(t *testing.T, want string) {
	t.Helper()
	if got, err := p.out.ReadString('\n'); err != nil || got != want+"\n" {
		t.Fatalf("the program said %q, %v, want %q", got, err, want)
	}
}

// end waits for the program's end: its exit code, or the signal it died of as
// a negative number.
func (p program) end(t *testing.T) int {
	t.Helper()
	err := p.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if s, ok := p.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return -int(s.Signal())
	}
	return p.ProcessState.ExitCode()
}

// TestExitCodes is promise 7 for programs that end by themselves.
func TestExitCodes(t *testing.T) {
	for role, want := range map[string]struct {
		code   int
		stderr string
	}{
		"done":     {0, ""},
		"answered": {0, ""},
		"failed":   {1, "prog: boom\n"},
		"hung up":  {1, "prog: write to a peer: broken pipe\n"},
		"usage":    {2, "prog: wrong usage: arguments [\"-x\"]\n"},
	} {
		p := launch(t, role, "-x")
		if code := p.end(t); code != want.code || p.errs.String() != want.stderr {
			t.Errorf("%s: exit code %d, stderr %q, want %d, %q", role, code, p.errs, want.code, want.stderr)
		}
	}
}

// TestSignals is promise 7: the first asks, and who was cut short says so
// without a message.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		role   string
		signal syscall.Signal
		code   int
	}{
		{"daemon", syscall.SIGTERM, 0},
		{"daemon", syscall.SIGINT, 0},
		{"command", syscall.SIGINT, 130},
		{"command", syscall.SIGTERM, 143},
		{"canceled", syscall.SIGINT, 130},
	} {
		p := launch(t, c.role)
		p.line(t, "up")
		if err := p.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		if code := p.end(t); code != c.code || p.errs.Len() != 0 {
			t.Errorf("%s after %v: exit code %d, stderr %q, want %d", c.role, c.signal, code, p.errs, c.code)
		}
	}
}

// TestSecondSignalKills is promise 7 for a program that does not stop.
func TestSecondSignalKills(t *testing.T) {
	for _, second := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := launch(t, "stubborn")
		p.line(t, "up")
		if err := p.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		p.line(t, "asked")
		if err := p.Process.Signal(second); err != nil {
			t.Fatal(err)
		}
		if code := p.end(t); code != -int(second) {
			t.Errorf("after SIGINT and %v: %d", second, code)
		}
	}
}

// TestClosedPipeIsACleanEnd is promise 7: `… | head` is not a failure.
func TestClosedPipeIsACleanEnd(t *testing.T) {
	p := launch(t, "chatty")
	p.line(t, "up")
	p.stdout.Close()
	if code := p.end(t); code != 0 || p.errs.Len() != 0 {
		t.Errorf("exit code %d, stderr %q", code, p.errs)
	}
}
