package cmd

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	ingest "datastream/ingestd/run"
	mux "datastream/muxd/run"
	"datastream/service"
	"datastream/stack"
	"datastream/test/harness"
)

// ds runs a command without the process.
func ds(t *testing.T, env map[string]string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, log bytes.Buffer
	err = Main(t.Context(), args, func(name string) string { return env[name] }, &out, &log)
	return out.String(), log.String(), err
}

// TestWrongUsage: exit 2, a message that says what was wrong, and nothing on
// standard output.
func TestWrongUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  map[string]string
		says string
	}{
		{args: []string{"emti", "a"}, says: "emit"},
		{args: []string{"up", "now"}, says: "1 argument"},
		{args: []string{"up", "--dri", "x"}, says: "--dri"},
		{args: []string{"up"}, env: map[string]string{"DS_RING_BYTES": "many"}, says: "DS_RING_BYTES"},
		{args: []string{"up", "--prefix", "a b", "--dir", "/dev/null"}, says: "--prefix"},
		{args: []string{"emit"}, says: "0 arguments"},
		{args: []string{"emit", "a", "b", "c"}, says: "3 arguments"},
		{args: []string{"emit", "", "x"}, says: "channel is empty"},
		{args: []string{"emit", "a", "x", "--node", ""}, says: "--node"},
		{args: []string{"emit", "a", "x"}, env: map[string]string{"DS_PREFIX": "a b"}, says: "--prefix"},
		{args: []string{"wait", "--timeout", "soon"}, says: "timeout"},
		{args: []string{"wait", "x"}, says: "1 argument"},
		{args: []string{"muxd", "--nod", "n1"}, says: "--nod"},
		{args: []string{"ingestd", "x"}, says: `"x"`},
	} {
		out, _, err := ds(t, c.env, c.args...)
		if !errors.Is(err, service.ErrUsage) || !strings.Contains(err.Error(), c.says) || out != "" {
			t.Errorf("ds %q: %v (and %q), is to say %q", c.args, err, out, c.says)
		}
	}
}

// TestHelpIsOnStandardOutput, of every command, and no failure.
func TestHelpIsOnStandardOutput(t *testing.T) {
	for args, says := range map[string]string{
		"--help": "ds up", "up --help": "$DS_LISTEN", "emit --help": "$NATS_URL", "wait --help": "$DS_TIMEOUT",
		"muxd --help": "$DS_NODE", "ingestd --help": "$DS_INIT", "--version": service.Version,
	} {
		out, log, err := ds(t, nil, strings.Fields(args)...)
		if err != nil && !errors.Is(err, service.ErrAnswered) || !strings.Contains(out, says) || log != "" {
			t.Errorf("ds %s: %v, %q and %q", args, err, out, log)
		}
	}
}

// TestNobodyAnswers: exit 1, and what to do about it.
func TestNobodyAnswers(t *testing.T) {
	env := map[string]string{"NATS_URL": "nats://" + harness.FreeAddr(t)}
	for _, args := range [][]string{{"emit", "a", "x"}, {"wait", "--timeout", "10ms"}} {
		_, _, err := ds(t, env, args...)
		if !errors.Is(err, service.ErrUnreachable) || errors.Is(err, service.ErrUsage) || !strings.Contains(err.Error(), "ds up") {
			t.Errorf("ds %q: %v", args, err)
		}
	}
}

// TestInterrupted: a command that is cut short says so by its error.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, log bytes.Buffer
	none := func(name string) string { return map[string]string{"NATS_URL": "nats://127.0.0.1:1"}[name] }
	for _, args := range [][]string{{"emit", "a", "x"}, {"wait"}} {
		if err := Main(ctx, args, none, &out, &log); !errors.Is(err, context.Canceled) {
			t.Errorf("ds %q: %v", args, err)
		}
	}
}

// TestEmitAndWait against a stack: everything is settled when they return.
func TestEmitAndWait(t *testing.T) {
	s := running(t, "ds", "127.0.0.1:0")
	env := map[string]string{"NATS_URL": s.URL()}
	if _, log, err := ds(t, env, "wait", "--timeout", harness.Patience.String()); err != nil {
		t.Fatalf("ds wait: %v\n%s", err, log)
	}
	if out, log, err := ds(t, env, "emit", "app.log", "hello", "--node", "n1"); err != nil || out != "" {
		t.Errorf("ds emit: %v, %q\n%s", err, out, log)
	}
	// Lines, one of them too long: the rest goes, and it is exit 1.
	var log bytes.Buffer
	root := newRoot(environment(env, strings.NewReader("a\n"+strings.Repeat("x", 1<<20+1)+"\nb"), &log))
	root.SetArgs([]string{"emit", "app.log"})
	err := root.ExecuteContext(t.Context())
	if err == nil || !strings.Contains(err.Error(), "line 2 has 1048577 bytes") || errors.Is(err, service.ErrUsage) {
		t.Errorf("ds emit of a line that is too long: %v\n%s", err, &log)
	}
}

func environment(vars map[string]string, stdin *strings.Reader, stderr *bytes.Buffer) env {
	return env{getenv: func(name string) string { return vars[name] }, stdin: stdin, stdout: new(bytes.Buffer), stderr: stderr}
}

func running(t *testing.T, prefix, listen string) *stack.Stack {
	t.Helper()
	o := stack.Options{Dir: t.TempDir(), Listen: listen, Log: zerolog.Nop(), Mux: mux.Defaults(), Ingest: ingest.Defaults()}
	o.Mux.Prefix, o.Ingest.MaxBytes = prefix, 64<<20
	s, err := stack.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestAnnouncedCommandsWork: each says --server and --prefix where it is
// needed, and only there.
func TestAnnouncedCommandsWork(t *testing.T) {
	print := func(s *stack.Stack, stream string) (text string, commands []string) {
		var out bytes.Buffer
		u := &up{env: env{stdout: &out}, dir: "./ds-data", ingest: ingest.Config{Stream: stream}}
		u.announce(s, "127.0.0.1:9220")
		for line := range strings.Lines(out.String()) {
			if c, _, ok := strings.Cut(line, "  # "); ok {
				commands = append(commands, strings.TrimSpace(c))
			}
		}
		return out.String(), commands
	}
	s := running(t, "ds", "127.0.0.1:0")
	text, commands := print(s, "")
	if len(commands) < 6 || !strings.Contains(text, "http://127.0.0.1:9220/readyz") {
		t.Fatalf("it prints\n%s", text)
	}
	for _, c := range commands {
		if !strings.Contains(c, " --server "+s.URL()) {
			t.Errorf("without the server: %s", c)
		}
		if strings.Contains(c, "--prefix") {
			t.Errorf("the default prefix need not be said: %s", c)
		}
	}
	_, commands = print(running(t, "other.pipe", "127.0.0.1:0"), "")
	for _, c := range commands {
		switch ours := strings.Contains(c, " emit"); {
		case ours && !strings.Contains(c, " --prefix other.pipe "),
			!ours && !strings.Contains(c, "other.pipe.") && !strings.Contains(c, "DATASTREAM_OTHER_PIPE"):
			t.Errorf("of another prefix: %s", c)
		}
	}
	if _, commands = print(s, "OWN"); !strings.HasSuffix(commands[len(commands)-1], " OWN") {
		t.Errorf("of a stream with a name of its own: %s", commands[len(commands)-1])
	}
	// The default address, if nobody has it, need not be said.
	if l, err := net.Listen("tcp", "127.0.0.1:4222"); err == nil {
		l.Close()
		_, commands = print(running(t, "ds", "127.0.0.1:4222"), "")
		for _, c := range commands {
			if strings.Contains(c, "--server") {
				t.Errorf("the default server need not be said: %s", c)
			}
		}
	} else {
		t.Logf("left out: 127.0.0.1:4222 is taken: %v", err)
	}
	if _, err := exec.LookPath("nats"); err == nil == strings.Contains(text, "nats tool is not on your PATH") {
		t.Errorf("the nats tool: %v, and it prints\n%s", err, text)
	}
}
