package scenario

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"datastream/subjects"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// TestPlainNATS is the first thing anybody does: submit, watch and read with
// nothing but the nats tool.
func TestPlainNATS(t *testing.T) {
	up := harness.Up(t)
	tail := up.SpawnNATS(t, "sub", "ds.frame.>")
	tail.WaitFor(t, "Subscribing on ds.frame.>")
	// The tool says that before the server has heard of it: submit until seen.
	harness.Until(t, "the tail shows a frame", func() bool {
		up.NATS(t, "pub", "ds.submit.n1.app.log", "hello")
		return strings.Contains(tail.Stdout(), "hello")
	})
	if !regexp.MustCompile(`Ds-Pos: \d+`).MatchString(tail.Stdout()) || !strings.Contains(tail.Stdout(), `"ds.frame.n1.`) {
		t.Errorf("nats sub shows no subject with Ds-Pos:\n%s", tail.Stdout())
	}

	var answer struct {
		Node, Life string
		Position   *uint64
		Count      int
	}
	decodeJSON(t, up.NATS(t, "req", "--raw", "ds.submit.n1.app.log", "hi"), &answer)
	if answer.Node != "n1" || answer.Position == nil || answer.Count != 1 {
		t.Errorf("the answer is %+v", answer)
	}
	if _, err := subjects.ParseLife(answer.Life); err != nil {
		t.Error(err)
	}
	nc := up.Connect(t)
	commit(t, nc, "ds.submit.n1.app.log", "last")

	lines := strings.Fields(up.NATS(t, "sub", "--stream", "DATASTREAM", "--all", "--raw", "-T"))
	if n := len(lines); n < 3 || lines[0] != "hello" || lines[n-2] != "hi" || lines[n-1] != "last" {
		t.Errorf("the stored lines are %q, want hello … hi last", lines)
	}
	if got := len(readStore(t, nc)); got != len(lines) {
		t.Errorf("nats sub shows %d lines, the store holds %d frames", len(lines), got)
	}
}

// TestNATSToolShowsTheStack looks at a stack as an operator would.
func TestNATSToolShowsTheStack(t *testing.T) {
	up := harness.Up(t)
	commit(t, up.Connect(t), "ds.submit.n1.app.log", "hello")
	if p, code := sh(t, up.URL, "ds wait"); code != 0 {
		t.Fatalf("ds wait: exit %d\n%s", code, p.Stderr())
	}
	for _, x := range []struct {
		command string
		want    []string
	}{
		{"stream ls", []string{"DATASTREAM"}},
		{"stream info DATASTREAM", []string{"ds.store.>"}},
		{"stream subjects DATASTREAM", []string{"ds.store.n1."}},
		{"stream get DATASTREAM 1", []string{"hello", "Ds-Pos: 0", "Ds-Commit: 1/1/"}},
		{"micro ls", []string{"muxd", "ingestd"}},
		{"micro info muxd", []string{"node", "*"}},
	} {
		out := up.NATS(t, strings.Fields(x.command)...)
		for _, w := range x.want {
			if !strings.Contains(out, w) {
				t.Errorf("nats %s does not show %q:\n%s", x.command, w, out)
			}
		}
	}
	view := onTerminal(t, up.URL, "nats stream view DATASTREAM")
	if view.Wait(t); !strings.Contains(view.Stdout(), "hello") || !strings.Contains(view.Stdout(), "Reached apparent end") {
		t.Errorf("nats stream view shows\n%s", view.Stdout())
	}
}

// onTerminal runs a line with a terminal of its own, which `nats stream view`
// insists on.
func onTerminal(t *testing.T, url, line string) *harness.Proc {
	t.Helper()
	args := []string{"-qec", line, "/dev/null"}
	if runtime.GOOS == "darwin" {
		args = []string{"-q", "/dev/null", "/bin/sh", "-c", line}
	}
	return harness.Command{Path: "script", Args: args, Env: []string{"NATS_URL=" + url}}.Spawn(t)
}

// TestPastedCommandsWork runs what `ds up` prints under Try.
func TestPastedCommandsWork(t *testing.T) {
	up := harness.Up(t)
	_, tryText, _ := strings.Cut(up.Stdout(), "Try in another terminal:")
	var commands []string
	for _, line := range strings.Split(tryText, "\n") {
		if text, ok := strings.CutPrefix(line, "  "); ok {
			commands = append(commands, text) // the comment behind # is pasted, too
		}
	}
	if len(commands) < 6 {
		t.Fatalf("ds up prints only %d commands:\n%s", len(commands), up.Stdout())
	}
	var follows []*harness.Proc
	for _, c := range commands {
		if !strings.Contains(c, " --server "+up.URL+" ") {
			t.Errorf("%q would ask the default server", c)
		}
		switch {
		case strings.Contains(c, " sub 'ds.frame.>'"): // goes on until it is ended
			p := spawnSh(t, "", c)
			p.WaitFor(t, "Subscribing on")
			follows = append(follows, p)
		case strings.Contains(c, " stream view "):
			p := onTerminal(t, "", c)
			if code := p.Wait(t); code != 0 || !strings.Contains(p.Stdout(), "hello") {
				t.Errorf("%s: exit %d\n%s", c, code, p.Stdout())
			}
		default:
			p, code := sh(t, "", c)
			if code != 0 || strings.Contains(p.Stdout()+p.Stderr(), "No responders") {
				t.Errorf("%s: exit %d\n%s%s", c, code, p.Stdout(), p.Stderr())
			}
		}
	}
	if len(follows) == 0 {
		t.Error("no command follows the frames")
	}
	for _, p := range follows {
		harness.Until(t, p.Name+" shows a frame", func() bool {
			up.NATS(t, "pub", "ds.submit.n1.app.log", "again")
			return strings.Contains(p.Stdout(), "Ds-Pos")
		})
	}
	got := count(readStore(t, up.Connect(t)))
	for _, want := range []string{"hello", "hi", "1", "1000"} {
		if got[want] != 1 {
			t.Errorf("%q is stored %d times", want, got[want])
		}
	}
}

// TestRunReadsAsLines: frames that share a message come out as a line each.
// Ingest is stopped, so that what is published waits for it. (P3)
func TestRunReadsAsLines(t *testing.T) {
	parts := harness.NewParts(t)
	_, ingest := parts.Pipe(t)
	if code := ingest.Stop(t); code != 0 {
		t.Fatalf("ingestd: exit %d", code)
	}
	nc := parts.Connect(t)
	frames := subscribe(t, nc, "ds.frame.*.*.app.lines")
	var emits []*harness.Proc
	// Whether three lines find each other in the handle is up to the scheduler.
	harness.Until(t, "three lines share a run", func() bool {
		emits = append(emits, spawnSh(t, parts.URL, `printf 'x\ny\nz\n' | ds emit app.lines`))
		for got := 0; ; {
			m := next(t, frames)
			_, ch, err := subjects.Default().ParseFrame(m.Subject)
			if err != nil {
				t.Fatal(err)
			}
			run, err := frame.Decode(ch, m.Header, m.Data)
			if err != nil {
				t.Fatal(err)
			}
			if run.Len() == 3 && got == 0 {
				return true
			}
			if got += run.Len(); got >= 3 {
				return false
			}
		}
	})
	parts.Ingestd(t).Serving(t)
	for _, e := range emits {
		if code := e.Wait(t); code != 0 {
			t.Fatalf("ds emit: exit %d\n%s", code, e.Stderr())
		}
	}
	want := strings.Repeat("x\ny\nz\n", len(emits))
	if got := harness.NATS(t, parts.URL, "sub", "--stream", "DATASTREAM", "--all", "--raw", "-T"); got != want {
		t.Errorf("nats sub --raw shows %q, want %q", got, want)
	}
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	last, err := js.GetLastMsg("DATASTREAM", "ds.store.*.*.app.lines")
	if err != nil {
		t.Fatal(err)
	}
	if h := last.Header.Get(frame.HeaderRun); !strings.HasSuffix(h, "1,1,1") {
		t.Errorf("the last message's Ds-Run is %q, want three lengths at its end", h)
	}
}
