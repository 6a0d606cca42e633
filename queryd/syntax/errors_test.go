package syntax

import (
	"slices"
	"strings"
	"testing"

	"datastream/test/golden"
)

// TestErrorTexts pins the whole message of wrong queries (promise 3).
func TestErrorTexts(t *testing.T) {
	cases := 0
	golden.Run(t, "testdata/errors.txt", func(t *testing.T, c golden.Case) string {
		cases++
		query := strings.Join(c.Input, "\n")
		q, err := Parse(query)
		if err == nil {
			t.Fatalf("line %d: %s is taken as %s", c.Line, query, q)
		}
		checkError(t, query, err)
		return err.Error()
	})
	if cases < 80 {
		t.Errorf("only %d messages are pinned", cases)
	}
}

// TestErrorFields shows what a program sees of an error.
func TestErrorFields(t *testing.T) {
	_, err := Parse("EVENTS TAEK 10")
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("got %T %v", err, err)
	}
	if e.Column != 8 || e.Token != "TAEK" || e.Near != "TAKE" || e.Text != `"TAEK" is no clause` {
		t.Errorf("got %+v", e)
	}
	if !slices.Contains(e.Expected, "TAKE") || !slices.Contains(e.Expected, "STREAM") || slices.Contains(e.Expected, "FROM") {
		t.Errorf("EVENTS expects %v", e.Expected)
	}
	if want := `column 8: "TAEK" is no clause; did you mean TAKE?`; e.Error() != want {
		t.Errorf("got %s, want %s", e.Error(), want)
	}
}

// TestColumnsCountCharacters shows that a column is neither bytes nor UTF-16.
func TestColumnsCountCharacters(t *testing.T) {
	for query, column := range map[string]int{
		`EVENTS "日本" TAKE x`:             18,
		`EVENTS "😀" TAKE x`:              17,
		"EVENTS\n\tTAKE x":               14,
		`EVENTS WHERE a == "ü" AND b`:    28,
		"EVENTS TAKE  \n ":               12,
		"EVENTS WHERE a == \"ü\xff\"":    21,
		`EVENTS WHERE é == 1`:            14,
		`EVENTS WHERE a IN ("é", "\é")`:  26,
		`EVENTS WHERE a == "é" b == "é"`: 23,
	} {
		_, err := Parse(query)
		if e, ok := err.(*Error); !ok || e.Column != column {
			t.Errorf("%q: want column %d, got %v", query, column, err)
		}
	}
}
