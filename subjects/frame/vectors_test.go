package frame

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"datastream/subjects"
	"datastream/test/golden"
)

// TestVectors holds the wire form to testdata: another implementation may be
// written from that file.
func TestVectors(t *testing.T) {
	golden.Run(t, "testdata/vectors.txt", func(t *testing.T, c golden.Case) string {
		switch c.Command {
		case "cut":
			return cutVector(t, c)
		case "decode":
			h, body := message(t, c)
			r, err := Decode("a", h, body)
			return describe(t, r, err)
		case "submission":
			h, body := message(t, c)
			r, err := DecodeSubmission("a", h, body)
			return describe(t, r, err)
		case "commit", "seq":
			return headerVector(t, c)
		}
		t.Fatalf("line %d: unknown command %q", c.Line, c.Command)
		return ""
	})
}

// cutVector cuts the frames of a case and shows the messages, having checked
// that each decodes to what went in.
func cutVector(t *testing.T, c golden.Case) string {
	var cutter Cutter
	for _, line := range c.Input {
		fields := strings.SplitN(line, " ", 3)
		p, err := subjects.ParsePosition(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		text, paced := strings.CutSuffix(fields[2], " paced")
		cutter.Add(Single(subjects.Channel(fields[1]), p, []byte(unquote(t, text))), paced)
	}
	var b strings.Builder
	for i, cut := range cutter.Runs(nil) {
		r := cut.Run
		fmt.Fprintf(&b, "run %d of %s", i+1, r.Channel)
		if cut.Paced {
			b.WriteString(", paced")
		}
		fmt.Fprintf(&b, "\n%s: %s\n", HeaderPos, r.First())
		if h := r.Header(); h != "" {
			fmt.Fprintf(&b, "%s: %s\n", HeaderRun, h)
		}
		fmt.Fprintf(&b, "body %s\n", quote(r.Body()))
		back, err := Decode(r.Channel, wire(r), r.Body())
		if err != nil || !same(back, r) {
			t.Errorf("line %d: run %d decodes to %v, %v", c.Line, i+1, frames(back), err)
		}
	}
	return b.String()
}

func message(t *testing.T, c golden.Case) (h map[string][]string, body []byte) {
	h = map[string][]string{}
	for _, line := range c.Input {
		if text, ok := strings.CutPrefix(line, "body "); ok {
			body = []byte(unquote(t, text))
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		if strings.HasPrefix(value, `"`) {
			value = strings.TrimSuffix(unquote(t, value), ",")
			value += ",0" // "0," * n is n+1 lengths
		}
		h[name] = append(h[name], value)
	}
	return h, body
}

func describe(t *testing.T, r Run, err error) string {
	if err != nil {
		if r.Len() > 0 || r.Channel != "" {
			t.Errorf("a run beside the error %v", err)
		}
		if !errors.Is(err, ErrRun) && !errors.Is(err, ErrHeader) {
			t.Errorf("no sentinel in %v", err)
		}
		return "error: " + err.Error()
	}
	if r.Len() == 0 {
		return "mark"
	}
	var b strings.Builder
	for i := range r.Len() {
		fmt.Fprintf(&b, "%s %s\n", r.Pos(i), quote(r.Payload(i)))
	}
	return b.String()
}

func headerVector(t *testing.T, c golden.Case) string {
	var b strings.Builder
	for _, line := range c.Input {
		var v fmt.Stringer
		var err error
		var said string
		if c.Command == "commit" {
			var k Commit
			k, err = ParseCommit(line)
			v, said = k, fmt.Sprintf("first %d, last %d, count %d, instant %d", k.First, k.Last(), k.Count, k.Instant)
		} else {
			var q Seq
			q, err = ParseSeq(line)
			v, said = q, fmt.Sprintf("producer %s, number %d", q.Producer, q.N)
		}
		switch {
		case err == nil && v.String() != line:
			t.Errorf("%q prints as %q", line, v)
		case err != nil && !errors.Is(err, ErrHeader):
			t.Errorf("%q: %v, want ErrHeader", line, err)
		case err != nil:
			said = "error: " + err.Error()
		}
		b.WriteString(said + "\n")
	}
	return b.String()
}

// unquote reads a Go string, with *N after it repeated.
func unquote(t *testing.T, text string) string {
	text, times, repeated := strings.Cut(text, " * ")
	s, err := strconv.Unquote(text)
	n := 1
	if err == nil && repeated {
		n, err = strconv.Atoi(times)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.Repeat(s, n)
}

// quote is a Go string, a long one by its ends and length.
func quote(b []byte) string {
	if len(b) <= 80 {
		return strconv.Quote(string(b))
	}
	return fmt.Sprintf("%q…%q (%d bytes)", b[:8], b[len(b)-8:], len(b))
}

// wire is a run's headers as a mux publishes them.
func wire(r Run) map[string][]string {
	h := map[string][]string{HeaderPos: {r.First().String()}}
	if v := r.Header(); v != "" {
		h[HeaderRun] = []string{v}
	}
	return h
}

// aFrame is a frame as the tests' models hold it.
type aFrame struct {
	channel subjects.Channel
	pos     subjects.Position
	paced   bool
	payload string
}

func frames(r Run) []aFrame {
	var list []aFrame
	for i := range r.Len() {
		list = append(list, aFrame{channel: r.Channel, pos: r.Pos(i), payload: string(r.Payload(i))})
	}
	return list
}

func same(a, b Run) bool {
	if a.Channel != b.Channel || a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if a.Pos(i) != b.Pos(i) || !bytes.Equal(a.Payload(i), b.Payload(i)) {
			return false
		}
	}
	return true
}
