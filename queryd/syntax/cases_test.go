package syntax

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// A parseCase is a line of parse.txt or rules.txt.
type parseCase struct {
	rule, query, why string
	accept           bool
	line             int
}

// readCases reads lines "accept|reject TAB query TAB why". A # begins a
// comment, and "== rule" a rule.
func readCases(t testing.TB, path string) []parseCase {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []parseCase
	rule := ""
	for i, l := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		if heading, ok := strings.CutPrefix(l, "== "); ok {
			rule = heading
			continue
		}
		if l == "" || l[0] == '#' {
			continue
		}
		parts := strings.Split(l, "\t")
		if len(parts) != 3 || parts[0] != "accept" && parts[0] != "reject" {
			t.Fatalf("%s:%d: want accept|reject TAB query TAB why, got %q", path, i+1, l)
		}
		all = append(all, parseCase{rule: rule, query: parts[1], why: parts[2], accept: parts[0] == "accept", line: i + 1})
	}
	if len(all) < 50 {
		t.Fatalf("%s has %d cases alone", path, len(all))
	}
	return all
}

// check holds Parse to a case, and what it accepts to promise 2.
func (c parseCase) check(t *testing.T, path string) {
	t.Helper()
	q, err := Parse(c.query)
	switch {
	case err != nil && c.accept:
		t.Errorf("%s:%d: %s: %v", path, c.line, c.query, err)
	case err == nil && !c.accept:
		t.Errorf("%s:%d: %s is taken as %s, though: %s", path, c.line, c.query, q, c.why)
	case err == nil:
		checkRoundTrip(t, q)
	default:
		checkError(t, c.query, err)
	}
}

// checkError holds an error to promise 3.
func checkError(t *testing.T, query string, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: the error is a %T, no *Error", query, err)
	}
	if last := utf8.RuneCountInString(query) + 1; e.Column < 1 || e.Column > last {
		t.Errorf("%s: column %d lies outside 1 … %d: %v", query, e.Column, last, e)
	}
	if e.Text == "" || strings.ContainsAny(e.Error(), "\n\r") {
		t.Errorf("%s: the message is no line: %q", query, e.Error())
	}
	if e.Token != "" && !strings.Contains(query, e.Token) {
		t.Errorf("%s: the token %q is not in it: %v", query, e.Token, e)
	}
}

// TestParseCases runs the cases of the language's own text.
func TestParseCases(t *testing.T) {
	const path = "testdata/parse.txt"
	for _, c := range readCases(t, path) {
		c.check(t, path)
	}
}

// TestRules runs the cases of each rule, which needs both kinds of case.
func TestRules(t *testing.T) {
	const path = "testdata/rules.txt"
	kinds := map[string]map[bool]int{}
	for _, c := range readCases(t, path) {
		if kinds[c.rule] == nil {
			kinds[c.rule] = map[bool]int{}
		}
		kinds[c.rule][c.accept]++
		t.Run(c.rule, func(t *testing.T) { c.check(t, path) })
	}
	for rule, n := range kinds {
		if n[true] == 0 || n[false] == 0 {
			t.Errorf("%s: %s has %d cases to accept and %d to reject", path, rule, n[true], n[false])
		}
	}
	for _, rule := range []string{"L1", "L2.1", "L2.2", "L2.3", "L2.4", "L2.5", "L2.6", "L2.7", "L2.8", "L2.9", "L2.10", "L2.11",
		"L4", "L4.4", "L4.5", "L4.7", "L5", "L6.4", "L7", "L8", "L8.1", "L8.5", "L9", "L10", "S2.1"} {
		found := false
		for have := range kinds {
			found = found || strings.HasPrefix(have, rule+" ")
		}
		if !found {
			t.Errorf("%s has no cases of %s", path, rule)
		}
	}
}
