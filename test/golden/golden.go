package golden

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what the tests give into their golden files")

// separator stands between a case's input and its expected output.
const separator = "----"

// A Case is one case of a script.
type Case struct {
	Command string   // the first word of the case's first line
	Args    string   // the rest of that line
	Input   []string // the lines up to the separator
	Line    int      // where the case begins, from 1
}

// A mismatch is a case whose output was another.
type mismatch struct {
	Case      Case
	Got, Want string
}

// Run runs the script in a file: do gives each case's output, lines without a
// blank one among them. It reports every case that differs, or with -rewrite
// writes the file anew.
func Run(t *testing.T, path string, do func(t *testing.T, c Case) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out, wrong, err := run(string(text), func(c Case) string { return do(t, c) })
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, m := range wrong {
		t.Errorf("%s:%d: %s %s\ngot:\n%s\nwant:\n%s\n(-rewrite takes what was got)",
			path, m.Case.Line, m.Case.Command, m.Case.Args, m.Got, m.Want)
	}
}

// Script runs a script of which every line is a command: do gives what one
// prints, "" for nothing, and a case's output is that of its commands together.
// What do changes stays changed for the cases after. A comment among the
// commands is kept, too.
func Script(t *testing.T, path string, do func(t *testing.T, words []string) string) {
	t.Helper()
	Run(t, path, func(t *testing.T, c Case) string {
		return script(c, func(words []string) string { return do(t, words) })
	})
}

func script(c Case, do func(words []string) string) string {
	var b strings.Builder
	for _, line := range append([]string{c.Command + " " + c.Args}, c.Input...) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			if s := do(words); s != "" {
				b.WriteString(strings.TrimSuffix(s, "\n") + "\n")
			}
		}
	}
	return b.String()
}

// run gives the script's text with the outputs that do gives, and the cases
// whose output was another.
func run(text string, do func(Case) string) (out string, wrong []mismatch, err error) {
	var b strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	cases := 0
	for i := 0; i < len(lines); {
		if lines[i] == "" || strings.HasPrefix(lines[i], "#") {
			b.WriteString(lines[i] + "\n")
			i++
			continue
		}
		c, want, next, err := read(lines, i)
		if err != nil {
			return "", nil, err
		}
		got := strings.TrimSuffix(do(c), "\n")
		if strings.HasPrefix(got, "\n") || strings.Contains(got, "\n\n") {
			return "", nil, fmt.Errorf("line %d: the output of %q has a blank line", c.Line, c.Command)
		}
		if got != want {
			wrong = append(wrong, mismatch{Case: c, Got: got, Want: want})
		}
		b.WriteString(lines[i] + "\n")
		for _, line := range append(c.Input, separator) {
			b.WriteString(line + "\n")
		}
		if got != "" {
			b.WriteString(got + "\n")
		}
		i = next
		cases++
	}
	if cases == 0 {
		return "", nil, errors.New("the script has no cases")
	}
	return b.String(), wrong, nil
}

// read takes the case that begins at lines[i], its expected output, and the
// index of the line after them.
func read(lines []string, i int) (c Case, want string, next int, err error) {
	c.Line = i + 1
	c.Command, c.Args, _ = strings.Cut(lines[i], " ")
	for i++; i < len(lines) && lines[i] != separator; i++ {
		if lines[i] == "" {
			break
		}
		c.Input = append(c.Input, lines[i])
	}
	if i == len(lines) || lines[i] != separator {
		return Case{}, "", 0, fmt.Errorf("line %d: the case %q has no line %s", c.Line, c.Command, separator)
	}
	i++
	from := i
	for i < len(lines) && lines[i] != "" {
		i++
	}
	return c, strings.Join(lines[from:i], "\n"), i, nil
}
