package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// run starts this test binary in a role and gives what became of it.
func run(t *testing.T, ctx context.Context, p Importer, role string, c ProcessConfig) (Exit, error) {
	t.Helper()
	c.Label, c.Command = "p", []string{os.Args[0]}
	c.Env = append(os.Environ(), childEnv+"="+role, quickExit)
	if c.OnNotice == nil {
		c.OnNotice = func(s string) { t.Log(s) }
	}
	proc, err := NewProcess(p, c)
	if err != nil {
		t.Fatal(err)
	}
	return proc.Run(ctx)
}

func numbered(prefix string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s %d", prefix, i))
	}
	return all
}

// TestProcessLosesNoTail is promise 6: every line of both streams, and the exit
// record last.
func TestProcessLosesNoTail(t *testing.T) {
	p := newPipe()
	exit, err := run(t, context.Background(), p, "flood", ProcessConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.frames("proc.p.stdout"), append(numbered("out", 20_000), "unterminated"); !slices.Equal(got, want) {
		t.Errorf("%d lines of stdout, the last %q", len(got), got[len(got)-1])
	}
	if got := p.frames("proc.p.stderr"); !slices.Equal(got, numbered("err", 20_000)) {
		t.Errorf("%d lines of stderr", len(got))
	}
	if exit.Code != 3 || exit.Stdout != 20_001 || exit.Stderr != 20_000 || exit.LeftOpen || exit.PID == 0 {
		t.Errorf("%+v", exit)
	}
	last := p.got[len(p.got)-1]
	var told Exit
	if err := json.Unmarshal([]byte(last.payload), &told); err != nil || last.channel != "proc.p.exit" || told != exit {
		t.Errorf("the last frame is %v, want the exit %+v", last, exit)
	}
}

// TestProcessRecordsOfSeveralLines is promise 3 through a process.
func TestProcessRecordsOfSeveralLines(t *testing.T) {
	p := newPipe()
	_, err := run(t, context.Background(), p, "records", ProcessConfig{Text: Text{Start: regexp.MustCompile(`^@`), Wait: time.Hour}})
	want := []string{"lonely", "@ one\n  at a\n  at b", "@ two", "@ three\n  at c"}
	if got := p.frames("proc.p.stdout"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestProcessRecordDoesNotWaitForEver: a record is submitted though the process
// says nothing more.
func TestProcessRecordDoesNotWaitForEver(t *testing.T) {
	p := newPipe()
	signals := make(chan os.Signal, 1)
	done := make(chan Exit, 1)
	go func() {
		e, _ := run(t, context.Background(), p, "obey", ProcessConfig{
			Signals: signals, Text: Text{Start: regexp.MustCompile(`^ready`), Wait: time.Millisecond}})
		done <- e
	}()
	eventually(t, "the open record", func() bool { return len(p.frames("proc.p.stdout")) == 1 })
	signals <- os.Kill
	<-done
}

// TestProcessCutsLongLines is promise 4 through a process.
func TestProcessCutsLongLines(t *testing.T) {
	p := newPipe()
	exit, err := run(t, context.Background(), p, "long", ProcessConfig{Text: Text{MaxRecord: 40}})
	x := strings.Repeat("x", 40)
	if got := p.frames("proc.p.stdout"); err != nil || !slices.Equal(got, []string{"before", x, x, x[:20], "after"}) || exit.Cut != 3 {
		t.Errorf("%q, %+v, %v", got, exit, err)
	}
}

// TestProcessReadsStdin: what it is given to read reaches it.
func TestProcessReadsStdin(t *testing.T) {
	path := t.TempDir() + "/in"
	if err := os.WriteFile(path, []byte("a\n\nb"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := newPipe()
	if _, err := run(t, context.Background(), p, "echo", ProcessConfig{Stdin: f}); err != nil {
		t.Fatal(err)
	}
	if got := p.frames("proc.p.stdout"); !slices.Equal(got, []string{"a", "", "b"}) {
		t.Errorf("%q", got)
	}
	if _, err := run(t, context.Background(), p, "echo", ProcessConfig{}); err != nil { // ends at once: nothing to read
		t.Error(err)
	}
}

// TestProcessNotStarted is promise 6 where there is no process.
func TestProcessNotStarted(t *testing.T) {
	plain := t.TempDir() + "/plain"
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for command, code := range map[string]int{"no-such-command-anywhere": 127, "./no/such/file": 127, plain: 126} {
		p := newPipe()
		proc, err := NewProcess(p, ProcessConfig{Label: "p", Command: []string{command}})
		if err != nil {
			t.Fatal(err)
		}
		exit, err := proc.Run(context.Background())
		if !errors.Is(err, ErrStart) || exit.Code != code || exit.Error == "" {
			t.Errorf("%s: %+v, %v", command, exit, err)
		}
		if got := p.frames("proc.p.exit"); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf(`"code":%d`, code)) {
			t.Errorf("%s: exit records %q", command, got)
		}
	}
}

// begin runs a role until it said "ready".
func begin(t *testing.T, ctx context.Context, p *pipe, role string, c ProcessConfig) (wait func() Exit) {
	t.Helper()
	done := make(chan Exit, 1)
	go func() {
		e, err := run(t, ctx, p, role, c)
		if err != nil {
			t.Error(err)
		}
		done <- e
	}()
	eventually(t, role+" is ready", func() bool { return slices.Contains(p.frames("proc.p.stdout"), "ready") })
	return func() Exit { return <-done }
}

func unixOnly(t *testing.T) bool {
	if runtime.GOOS == "windows" {
		t.Log("no signals here: this test says nothing")
		return false
	}
	return true
}

// TestProcessForwardsSignals is promise 7.
func TestProcessForwardsSignals(t *testing.T) {
	if !unixOnly(t) {
		return
	}
	for _, attached := range []bool{false, true} {
		p, signals := newPipe(), make(chan os.Signal, 1)
		wait := begin(t, context.Background(), p, "obey", ProcessConfig{Signals: signals, Attached: attached})
		signals <- syscall.SIGINT
		if e := wait(); e.Code != 5 || e.Signal != "" || !slices.Contains(p.frames("proc.p.stdout"), "got interrupt") {
			t.Errorf("attached %v: %+v, %q", attached, e, p.frames("proc.p.stdout"))
		}
	}
}

// TestProcessSignalsDescendants is promise 7: the parent ignores the signal, its
// child does not, and both were sent it.
func TestProcessSignalsDescendants(t *testing.T) {
	if !unixOnly(t) {
		return
	}
	p, signals := newPipe(), make(chan os.Signal, 1)
	wait := begin(t, context.Background(), p, "parent", ProcessConfig{Signals: signals})
	signals <- syscall.SIGTERM
	e := wait()
	if got := p.frames("proc.p.stdout"); e.Code != 0 || !slices.Equal(got, []string{"ready", "got terminated", "descendant ended"}) {
		t.Errorf("%+v, %q", e, got)
	}
}

// TestProcessIsToldToEnd is promise 7: its last words are heard.
func TestProcessIsToldToEnd(t *testing.T) {
	if !unixOnly(t) {
		return
	}
	p := newPipe()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	wait := begin(t, ctx, p, "obey", ProcessConfig{})
	cancel()
	if e := wait(); e.Code != 5 || !slices.Contains(p.frames("proc.p.stdout"), "got terminated") {
		t.Errorf("%+v, %q", e, p.frames("proc.p.stdout"))
	}
}

// TestProcessIsKilledAfterTheGrace is promise 7.
func TestProcessIsKilledAfterTheGrace(t *testing.T) {
	if !unixOnly(t) {
		return
	}
	p := newPipe()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	wait := begin(t, ctx, p, "ignore", ProcessConfig{Grace: 20 * time.Millisecond})
	cancel()
	if e := wait(); e.Code != 137 || e.Signal != "SIGKILL" {
		t.Errorf("%+v", e)
	}
}

// TestProcessDescendantHoldsTheOutput is promise 8.
func TestProcessDescendantHoldsTheOutput(t *testing.T) {
	p := newPipe()
	exit, err := run(t, context.Background(), p, "family", ProcessConfig{Linger: time.Second})
	var pid int
	for _, l := range p.frames("proc.p.stdout") {
		if _, e := fmt.Sscanf(l, "pid %d", &pid); e == nil {
			defer func() {
				if d, err := os.FindProcess(pid); err == nil {
					_ = d.Kill()
				}
			}()
		}
	}
	if err != nil || exit.Code != 0 || !exit.LeftOpen || pid == 0 {
		t.Errorf("%+v, pid %d, %v", exit, pid, err)
	}
}

// TestProcessEndsThoughNothingIsTaken: a handle that takes nothing keeps a
// process waiting, but not Run once ctx has ended, and what was not taken is
// counted.
func TestProcessEndsThoughNothingIsTaken(t *testing.T) {
	p := newPipe()
	p.full = true
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	exit, err := run(t, ctx, p, "ignore", ProcessConfig{Grace: 10 * time.Millisecond})
	if !errors.Is(err, context.Canceled) || exit.Stdout != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// TestProcessRefusedRecords: what the handle refuses is counted, the rest goes.
func TestProcessRefusedRecords(t *testing.T) {
	p := newPipe()
	p.maxFrame = 60
	proc, err := NewProcess(Observe(shelf{p}), ProcessConfig{Label: "p", Command: []string{os.Args[0]}, Env: append(os.Environ(), childEnv+"=long", quickExit)})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := proc.Run(context.Background()) // an observer's handle counts by itself
	if err != nil || exit.Refused != 0 || exit.Stdout != 3 {
		t.Errorf("observed: %+v, %v", exit, err)
	}
	if exit, _ := run(t, context.Background(), p, "long", ProcessConfig{}); exit.Refused != 1 || exit.Stdout != 2 {
		t.Errorf("imported: %+v", exit)
	}
}

func TestProcessIsChecked(t *testing.T) {
	ok := []string{"true"}
	for _, c := range []ProcessConfig{
		{Label: "p"}, {Command: ok}, {Label: "a.b", Command: ok}, {Label: strings.Repeat("x", 512), Command: ok},
		{Label: "p", Command: []string{""}}, {Label: "p", Command: ok, Grace: -1}, {Label: "p", Command: ok, Text: Text{MaxRecord: 1}},
	} {
		if _, err := NewProcess(newPipe(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
