package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"datastream/producer/emit"
	"datastream/subjects"
)

// Defaults of a ProcessConfig.
const (
	DefaultGrace  = 10 * time.Second
	DefaultLinger = 2 * time.Second
)

// An Importer takes frames and may wait for room: *emit.Paced is one. It copies
// the payload. An error means that the frame was not taken.
type Importer interface {
	Submit(ctx context.Context, channel subjects.Channel, payload []byte) error
}

// Observe makes an Importer that never waits of a Handle: what the handle drops
// is the handle's to count (P4.2).
func Observe(h emit.Handle) Importer { return observer{h} }

type observer struct{ h emit.Handle }

func (o observer) Submit(_ context.Context, c subjects.Channel, payload []byte) error {
	o.h.Submit(c, payload)
	return nil
}

// A ProcessConfig is what a Process may be told. Label and Command are
// required.
type ProcessConfig struct {
	Label   string   // one segment of a channel: no dot
	Command []string // the program and its arguments
	Dir     string   // default: this process's
	Env     []string // default: this process's
	Stdin   *os.File // default: nothing to read
	Text    Text     // how its output becomes records

	// Signals are forwarded to the process and all its descendants.
	Signals <-chan os.Signal
	// Attached leaves the process in this one's process group, which a program
	// that reads the terminal needs; signals then reach it alone, and the
	// terminal's own reach it anyway.
	Attached bool
	// Grace is how long the process may live on after it was told to end, and
	// its last output may wait for room after that.
	Grace time.Duration
	// Linger is how long the output may stay silent after the process has
	// ended while a descendant holds it open.
	Linger time.Duration
	// OnNotice is told what a person may want to know. It must not block.
	OnNotice func(string)
}

// An Exit is the end of a process, and the record of proc.<label>.exit.
type Exit struct {
	Code     int    `json:"code"` // as a shell says it: 128 + n after signal n, 127 not found, 126 not to be run
	Signal   string `json:"signal,omitempty"`
	Error    string `json:"error,omitempty"` // why it could not be started
	PID      int    `json:"pid,omitempty"`
	Duration int64  `json:"duration_ms"`
	Stdout   uint64 `json:"stdout_records"`
	Stderr   uint64 `json:"stderr_records"`
	Cut      uint64 `json:"cut_records"`     // pieces of what was longer than a record may be
	Refused  uint64 `json:"refused_records"` // that the handle did not take
	LeftOpen bool   `json:"left_open"`       // a descendant still held the output: what it wrote later is not here
	UserTime int64  `json:"user_ms"`
	SysTime  int64  `json:"system_ms"`
}

// A Process runs a command and submits what it writes, record by record, and
// how it ended.
type Process struct {
	to             Importer
	cfg            ProcessConfig
	out, err, exit subjects.Channel
}

// NewProcess makes a Process. It wraps ErrConfig.
func NewProcess(to Importer, c ProcessConfig) (*Process, error) {
	fail := func(err error) (*Process, error) { return nil, fmt.Errorf("make process source: %w", err) }
	text, err := c.Text.check()
	if err != nil {
		return fail(err)
	}
	c.Text = text
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	if c.Linger == 0 {
		c.Linger = DefaultLinger
	}
	if c.OnNotice == nil {
		c.OnNotice = func(string) {}
	}
	prefix := "proc." + c.Label
	switch {
	case to == nil || len(c.Command) == 0 || c.Command[0] == "":
		return fail(fmt.Errorf("%w: it needs a handle and a command", ErrConfig))
	case c.Label == "" || strings.Contains(c.Label, "."):
		return fail(fmt.Errorf("%w: label %q: it must be one segment of a channel, without a dot", ErrConfig, c.Label))
	case c.Grace < 0 || c.Linger < 0:
		return fail(fmt.Errorf("%w: grace %s, linger %s: neither can be negative", ErrConfig, c.Grace, c.Linger))
	}
	if _, err := subjects.ParseChannel(prefix + ".stdout"); err != nil {
		return fail(fmt.Errorf("%w: label: %w", ErrConfig, err))
	}
	channel := func(what string) subjects.Channel { return subjects.Channel(prefix + what) }
	return &Process{to: to, cfg: c, out: channel(".stdout"), err: channel(".stderr"), exit: channel(".exit")}, nil
}

// Run runs the command to its end, and submits the exit record after the last
// of its output. When ctx ends, the process is told to end, and killed after
// the grace. The error wraps ErrStart if it did not start, or is what the
// handle said to the exit record. Run may be called again, not at once.
func (p *Process) Run(ctx context.Context) (Exit, error) {
	began := time.Now()
	// What the process still writes when it is told to end is submitted, too,
	// but not for ever: a handle without a connection would wait.
	submit, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(2*p.cfg.Grace, stop) })()
	exit, err := p.run(ctx, submit)
	exit.Duration = time.Since(began).Milliseconds()
	b, e := emit.JSON(exit)
	if e == nil {
		e = p.to.Submit(submit, p.exit, b)
	}
	if e != nil {
		err = errors.Join(err, fmt.Errorf("submit the end of process %s: %w", p.cfg.Label, e))
	}
	return exit, err
}

func (p *Process) run(ctx, submit context.Context) (Exit, error) {
	out, outW, err := p.output(p.out)
	if err != nil {
		return p.notStarted(err)
	}
	stderr, errW, err := p.output(p.err)
	if err != nil {
		closeAll(out.r, outW)
		return p.notStarted(err)
	}
	cmd := p.command(outW, errW)
	err = cmd.Start()
	closeAll(outW, errW) // ours; the process has its own
	if err != nil {
		closeAll(out.r, stderr.r)
		return p.notStarted(err)
	}
	var copies sync.WaitGroup
	copies.Go(func() { out.copy(submit) })
	copies.Go(func() { stderr.copy(submit) })
	g := &guard{cmd: cmd, group: !p.cfg.Attached}
	end := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { p.watch(ctx, g, end) })
	waited := g.wait()
	out.ended()
	stderr.ended()
	copies.Wait()
	close(end)
	watch.Wait()
	exit := Exit{Code: -1}
	if cmd.ProcessState != nil {
		exit = exitOf(cmd.ProcessState)
	} else {
		exit.Error = waited.Error()
	}
	exit.Stdout, exit.Stderr = out.taken, stderr.taken
	exit.Cut, exit.Refused = out.cut+stderr.cut, out.refused+stderr.refused
	exit.LeftOpen = out.leftOpen || stderr.leftOpen
	return exit, nil
}

// output makes a pipe for the process to write to. It is a file on both ends,
// so that waiting for the process and reading what it wrote stay apart: its end
// never cuts off what is still in the pipe.
func (p *Process) output(c subjects.Channel) (*output, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return newOutput(p, c, r), w, nil
}

func (p *Process) command(out, err *os.File) *exec.Cmd {
	cmd := exec.Command(p.cfg.Command[0], p.cfg.Command[1:]...)
	cmd.Dir, cmd.Env = p.cfg.Dir, p.cfg.Env
	cmd.Stdout, cmd.Stderr = out, err
	if p.cfg.Stdin != nil { // a nil *os.File in the interface would not be nil
		cmd.Stdin = p.cfg.Stdin
	}
	if !p.cfg.Attached {
		ownGroup(cmd)
	}
	return cmd
}

// notStarted is the exit that a shell would give.
func (p *Process) notStarted(err error) (Exit, error) {
	code := 126
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		code = 127
	}
	return Exit{Code: code, Error: err.Error()}, fmt.Errorf("run process %s: %w: %w", p.cfg.Label, ErrStart, err)
}

// watch forwards signals, and ends the process when ctx ends, until end is
// closed.
func (p *Process) watch(ctx context.Context, g *guard, end <-chan struct{}) {
	done, signals := ctx.Done(), p.cfg.Signals
	var late <-chan time.Time
	for {
		select {
		case <-end:
			return
		case s, ok := <-signals:
			if !ok {
				signals = nil
				continue
			}
			g.signal(s)
		case <-done:
			done = nil
			g.terminate()
			late = time.After(p.cfg.Grace)
		case <-late:
			if g.kill() {
				p.cfg.OnNotice(fmt.Sprintf("process %s did not end in %s and was killed", p.cfg.Label, p.cfg.Grace))
			}
		}
	}
}

// A guard signals a process as long as it is there: its number may be another's
// once it was waited for.
type guard struct {
	cmd   *exec.Cmd
	group bool // the process leads a group of its own

	mu   sync.Mutex
	gone bool
}

func (g *guard) wait() error {
	err := g.cmd.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
	return err
}

func (g *guard) signal(s os.Signal) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.gone && send(g.cmd.Process, g.group, s) == nil
}

func closeAll(all ...io.Closer) {
	for _, c := range all {
		_ = c.Close()
	}
}
