package scenario

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"datastream/subjects"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// emit runs ds emit to its end.
func emit(t *testing.T, url, stdin string, args ...string) (p *harness.Proc, code int) {
	t.Helper()
	return harness.Command{
		Path: harness.DS(t), Args: append([]string{"emit"}, args...),
		Env: []string{"NATS_URL=" + url}, Stdin: strings.NewReader(stdin),
	}.Run(t)
}

// TestEmitTakesPayloadsAndLines: one payload as an argument; lines with empty
// ones among them, and a last one without its newline.
func TestEmitTakesPayloadsAndLines(t *testing.T) {
	up := harness.Up(t)
	for _, x := range []struct {
		channel, stdin string
		args           []string
		want           []string
	}{
		{"one", "not read\n", []string{`{"id":7}`}, []string{`{"id":7}`}},
		{"empty", "", []string{""}, []string{""}},
		{"two.lines", "a\nb", nil, []string{"a", "b"}},
		{"with.empty", "\na\n\n\nb\r\n", nil, []string{"", "a", "", "", "b\r"}},
		{"newline.alone", "\n", nil, []string{""}},
		{"nothing", "", nil, nil},
		{"odd name/ü*", "x\n", nil, []string{"x"}},
	} {
		p, code := emit(t, up.URL, x.stdin, append([]string{"--node", "n1", x.channel}, x.args...)...)
		if code != 0 || p.Stdout() != "" {
			t.Errorf("ds emit %s: exit %d\n%s%s", x.channel, code, p.Stdout(), p.Stderr())
		}
		var got []string
		for _, k := range readStore(t, up.Connect(t)) {
			if string(k.channel) == x.channel && k.stream.Node == "n1" {
				got = append(got, k.payload)
			}
		}
		if strings.Join(got, "|") != strings.Join(x.want, "|") || len(got) != len(x.want) {
			t.Errorf("%s holds %q, want %q", x.channel, got, x.want)
		}
	}
}

// TestEmitNamesLinesThatAreTooLong: such a line is named and left out, the
// rest goes.
func TestEmitNamesLinesThatAreTooLong(t *testing.T) {
	up := harness.Up(t)
	fits := strings.Repeat("f", frame.MaxPayload)
	p, code := emit(t, up.URL, "first\n"+fits+"x\n"+fits+"\nlast\n", "big.lines")
	if code != 1 || !strings.Contains(p.Stderr(), "line 2 ") || !strings.Contains(p.Stderr(), strconv.Itoa(frame.MaxPayload+1)) {
		t.Errorf("exit %d\n%.2000s", code, p.Stderr())
	}
	var got []string
	for _, k := range readStore(t, up.Connect(t)) {
		got = append(got, k.payload)
	}
	if len(got) != 3 || got[0] != "first" || got[1] != fits || got[2] != "last" {
		t.Errorf("%d lines are stored", len(got))
	}
	// An argument cannot be that long: the system refuses it. (128 KiB)
}

// TestEmitSaysWhatIsWrong: usage is 2 and failure 1, with what to do.
func TestEmitSaysWhatIsWrong(t *testing.T) {
	nowhere := "nats://" + harness.FreeAddr(t)
	long := strings.Repeat("n", subjects.MaxChannel+1)
	for _, x := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"channel too long", []string{long, "x"}, 2, []string{"channel", "513", "512"}},
		{"channel empty", []string{"", "x"}, 2, []string{"channel", "empty"}},
		{"node too long", []string{"--node", long[:subjects.MaxNode+1], "app.log", "x"}, 2, []string{"--node", "129", "128"}},
		{"node empty", []string{"--node", "", "app.log", "x"}, 2, []string{"--node", "empty"}},
		{"no channel", nil, 2, []string{"usage: ds emit CHANNEL [PAYLOAD]"}},
		{"three arguments", []string{"app.log", "x", "y"}, 2, []string{"3 arguments", "usage:"}},
		{"unknown flag", []string{"--nod", "n1", "app.log"}, 2, []string{"--nod", "ds emit --help"}},
		{"bad prefix", []string{"--prefix", "a b", "app.log", "x"}, 2, []string{"--prefix"}},
		{"NATS is not there", []string{"app.log", "x"}, 1, []string{nowhere, "ds up", "--server"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			p, code := emit(t, nowhere, "", x.args...)
			if code != x.code || p.Stdout() != "" {
				t.Errorf("exit %d, want %d; standard output %q", code, x.code, p.Stdout())
			}
			for _, w := range append(x.want, "ds: ") {
				if !strings.Contains(p.Stderr(), w) {
					t.Errorf("the message lacks %q: %s", w, p.Stderr())
				}
			}
		})
	}
}

// TestEmitInterruptedSaysWhatIsOpen: interrupted, even while its input is
// silent, ds emit exits 130 and
// says what became of its lines.
func TestEmitInterruptedSaysWhatIsOpen(t *testing.T) {
	parts := harness.NewParts(t)
	_, ingest := parts.Pipe(t)
	if code := ingest.Stop(t); code != 0 {
		t.Fatalf("ingestd: exit %d", code)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // the input does not end
	p := harness.Command{Path: harness.DS(t), Args: []string{"emit", "app.log"}, Env: []string{"NATS_URL=" + parts.URL}, Stdin: r}.Spawn(t)
	r.Close()
	frames := subscribe(t, parts.Connect(t), "ds.frame.>")
	if _, err := w.WriteString("a\nb\nc\n"); err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	for strings.Count(body.String(), "\n") < 3 {
		body.Write(append(next(t, frames).Data, '\n'))
	}
	p.Signal(t, syscall.SIGINT)
	if code := p.Wait(t); code != 130 || !strings.Contains(p.Stderr(), "interrupted: of 3 frames 0 are committed, 0 lost, 3 unknown") {
		t.Errorf("exit %d\n%s", code, p.Stderr())
	}
}

// TestEmitWaitsForTheStack: without a mux it says so and waits; what it gives
// up then is lost for certain, and what it does not is committed when the rest
// of the stack comes, though NATS was away in between.
func TestEmitWaitsForTheStack(t *testing.T) {
	parts := harness.NewParts(t)
	parts.StartServer(t)
	patient := spawnSh(t, parts.URL, `printf 'a\nb\n' | ds emit --node n1 app.log`)
	patient.WaitFor(t, `no mux answers for node "n1"; is muxd running?`)
	hasty := spawnSh(t, parts.URL, "exec ds emit --node n2 app.log x")
	hasty.WaitFor(t, `no mux answers for node "n2"`)
	hasty.Signal(t, syscall.SIGINT)
	if code := hasty.Wait(t); code != 130 || !strings.Contains(hasty.Stderr(), "interrupted: of 1 frames 0 are committed, 1 lost, 0 unknown") {
		t.Errorf("exit %d\n%s", code, hasty.Stderr())
	}
	parts.StopServer()
	parts.Pipe(t)
	if code := patient.Wait(t); code != 0 {
		t.Errorf("exit %d\n%s", code, patient.Stderr())
	}
	all := readStore(t, parts.Connect(t))
	if len(all) != 2 || all[0].payload != "a" || all[1].payload != "b" {
		t.Errorf("stored: %+v, want a and b", all)
	}
}
