package golden

import (
	"strconv"
	"strings"
	"testing"
)

const text = `# Lengths.

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

const commands = `# A machine that adds.
add 1
add 2
show
----
3

add 4
# In between.
show
reset
show
----
7
0

reset
----
`

// TestScriptGoesOn: each line is a command, what they print comes together, and
// the machine is the same for all cases.
func TestScriptGoesOn(t *testing.T) {
	sum := 0
	machine := func(words []string) string {
		switch words[0] {
		case "add":
			n, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		case "reset":
			sum = 0
		case "show":
			return strconv.Itoa(sum)
		default:
			t.Fatalf("unknown command %q", words)
		}
		return ""
	}
	out, wrong, err := run(commands, func(c Case) string { return script(c, machine) })
	if err != nil || len(wrong) > 0 || out != commands {
		t.Fatalf("%+v, %v; rewritten:\n%s", wrong, err, out)
	}
}

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
	_, wrong, err := run(text, lengths)
	if err != nil {
		t.Fatal(err)
	}
	if len(wrong) != 1 || wrong[0].Case.Line != 14 || wrong[0].Got != "2" || wrong[0].Want != "7" {
		t.Fatalf("got %+v, want the case of line 14 alone", wrong)
	}
}

// TestRewriteChangesOutputsAlone is promise 2.
func TestRewriteChangesOutputsAlone(t *testing.T) {
	out, _, err := run(text, lengths)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(text, "\n7\n", "\n2\n", 1); out != want {
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
