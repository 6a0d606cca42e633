package mux

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected parts of testdata/*.txt")

// runScript runs a script: blocks of commands, a line ----, and what they
// print, ended by an empty line. Lines that begin with # are comments.
func runScript(t *testing.T, name string, run func(t *testing.T, cmd string, args []string) string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	blocks := strings.Split(strings.TrimRight(string(text), "\n"), "\n\n")
	for i, b := range blocks {
		commands, want, ok := strings.Cut(b+"\n", "----\n")
		var got strings.Builder
		for line := range strings.Lines(commands) {
			f := strings.Fields(line)
			if len(f) == 0 || strings.HasPrefix(f[0], "#") {
				continue
			}
			if s := run(t, f[0], f[1:]); s != "" {
				got.WriteString(s + "\n")
			}
		}
		if !*rewrite && got.String() != want {
			t.Errorf("%s, block %d:\n%swant:\n%sgot:\n%s", path, i+1, commands, want, got.String())
		}
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(commands)
		if ok || got.Len() > 0 {
			out.WriteString("----\n" + got.String())
		}
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// option is the number of name=n among the arguments, 0 when it is absent.
func option(t *testing.T, args []string, name string) int {
	t.Helper()
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return number(t, v)
		}
	}
	return 0
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("script: %q is no number", s)
	}
	return n
}
