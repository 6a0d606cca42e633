package plan

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"datastream/test/golden"
)

// TestScripts runs every script: load fills the store, query asks it. Each
// query is asked by a reader that hands over everything and by one that leaves
// out what is not wanted; both must get the same (promise 2).
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := &shelf{}
			golden.Run(t, file, func(t *testing.T, c golden.Case) string {
				switch c.Command {
				case "load":
					var err error
					if s, err = load(c.Input); err != nil {
						t.Fatalf("line %d: %v", c.Line, err)
					}
					return ""
				case "query":
					return s.answer(t, c.Args)
				}
				t.Fatalf("line %d: no command %s", c.Line, c.Command)
				return ""
			})
		})
	}
}

func (s *shelf) answer(t *testing.T, query string) string {
	rows, err := s.ask(query, true, plenty())
	if err != nil {
		return "error: " + err.Error()
	}
	again, err := s.ask(query, false, plenty())
	if err != nil || !slices.Equal(rows, again) {
		t.Errorf("%s: a reader that leaves out what is not wanted got %q (%v), not %q", query, again, err, rows)
	}
	if len(rows) == 0 {
		return "(nothing)"
	}
	return strings.Join(rows, "\n")
}
