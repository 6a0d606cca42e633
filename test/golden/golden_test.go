package golden

import (
	"strings"
	"testing"
)

const script = `# Lengths.

len of each
a
bcd
----
1
3

# Nothing goes in.
len
----

len
xx
----
7
`

func lengths(c Case) string {
	var b strings.Builder
	for _, line := range c.Input {
		b.WriteString(string(rune('0'+len(line))) + "\n")
	}
	return b.String()
}

// TestMismatchIsReported: a case whose output is another is named, with its
// line, and the others are not.
func TestMismatchIsReported(t *testing.T) {
	_, wrong, err := run(script, lengths)
	if err != nil {
		t.Fatal(err)
	}
	if len(wrong) != 1 || wrong[0].Case.Line != 14 || wrong[0].Got != "2" || wrong[0].Want != "7" {
		t.Fatalf("got %+v, want the case of line 14 alone", wrong)
	}
}

// TestRewriteChangesOutputsAlone is promise 2.
func TestRewriteChangesOutputsAlone(t *testing.T) {
	out, _, err := run(script, lengths)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(script, "\n7\n", "\n2\n", 1); out != want {
		t.Fatalf("got:\n%s\nwant:\n%s", out, want)
	}
	again, wrong, err := run(out, lengths)
	if err != nil || len(wrong) > 0 || again != out {
		t.Fatalf("what was rewritten differs again: %+v, %v", wrong, err)
	}
}

// TestBrokenScriptFails is promise 1.
func TestBrokenScriptFails(t *testing.T) {
	for name, text := range map[string]string{
		"empty":           "",
		"comments alone":  "# nothing\n\n",
		"no separator":    "len\na\n",
		"blank in input":  "len\na\n\n----\n1\n",
		"second is short": "len\n----\n\nlen\n",
	} {
		if _, _, err := run(text, lengths); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, _, err := run("len\n----\n", func(Case) string { return "a\n\nb" }); err == nil {
		t.Error("an output with a blank line: no error")
	}
}
