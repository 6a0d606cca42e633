package syntax

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzParsePrint holds any text to promises 2, 3 and 5.
func FuzzParsePrint(f *testing.F) {
	for _, path := range []string{"testdata/parse.txt", "testdata/rules.txt"} {
		for _, c := range readCases(f, path) {
			f.Add(c.query)
		}
	}
	f.Fuzz(func(t *testing.T, query string) {
		q, err := Parse(query)
		if err != nil {
			checkError(t, query, err)
			return
		}
		checkRoundTrip(t, q)
		Walk(q, func(n Node) bool {
			if at := n.At(); at.Offset < 0 || at.Offset > len(query) || at.Column < 1 || at.Column > at.Offset+1 {
				t.Errorf("%T lies at %+v, outside of the query", n, at)
			}
			return true
		})
	})
}

// soup are pieces of queries that random ones are made of.
var soup = func() []string {
	all := []string{"(", ")", "[", "]", ",", "=", "==", "!=", ">", ">=", "<", "<=", "!", "*", "a", "a.b", "n1", "proc.*", `"x y"`, `"a"`,
		`x"00"`, "5", "-5", "1.5", "0x1f", "1h", "ago", "hence", "today", "2025-01-01", `"2025-01-01T00:00:00Z"`, "true",
		"timestamp", "message", "count", "EXISTS", "c1-5-0", `"UTC"`, "(n1, *)", "a == 1", "SINCE 1h ago", "METRIC cpu > 5"}
	for _, c := range clauseWords {
		all = append(all, c.word, c.word)
	}
	return append(all, otherWords...)
}()

// TestRandomQueries makes queries of random words, most of them wrong: none
// may panic, and those taken must print and parse back.
func TestRandomQueries(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(soup), 0, 12).Draw(t, "words")
		query := rapid.SampledFrom(modeWords).Draw(t, "mode") + " " + strings.Join(words, " ")
		q, err := Parse(query)
		if err != nil {
			return
		}
		taken++
		text := q.String()
		again, err := Parse(text)
		if err != nil || again.String() != text {
			t.Fatalf("%s prints as %s, which gives %v %v", query, text, again, err)
		}
	})
	if taken == 0 {
		t.Error("no random query was taken: they are too wild to show anything")
	}
}

// TestRandomStrings quotes any text and reads it back.
func TestRandomStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		q, err := Parse("EVENTS " + quote(s) + " WHERE a == " + quote(s))
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Where[0].(*Compare).Value.(*Str).Value; got != s || q.Pattern.Value != s {
			t.Fatalf("%q came back as %q and %q", s, got, q.Pattern.Value)
		}
	})
}

// TestRandomNumbers writes any number and reads it back.
func TestRandomNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literals := []Literal{
			&Uint{Value: rapid.Uint64().Draw(t, "uint")},
			&Int{Value: rapid.Int64Max(-1).Draw(t, "int")},
			&Float{Value: rapid.Float64().Draw(t, "float")},
		}
		for _, l := range literals {
			q, err := Parse("EVENTS WHERE a == " + printed(l))
			if err != nil {
				t.Fatal(err)
			}
			got := q.Where[0].(*Compare).Value
			if plain(got) != plain(l) {
				t.Fatalf("%s came back as %s", printed(l), printed(got))
			}
		}
	})
}

// plain is what a number is, to be compared.
func plain(l Literal) any {
	switch l := l.(type) {
	case *Uint:
		return l.Value
	case *Int:
		return l.Value
	case *Float:
		return l.Value
	}
	return nil
}

// TestEditsAgainstDefinition compares the distance of words with its
// definition, computed without a table.
func TestEditsAgainstDefinition(t *testing.T) {
	var naive func(a, b string) int
	naive = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		change := naive(a[1:], b[1:])
		if a[0] != b[0] {
			change++
		}
		least := min(change, naive(a[1:], b)+1, naive(a, b[1:])+1)
		if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
			least = min(least, naive(a[2:], b[2:])+1)
		}
		return least
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching(`[ABC]{0,6}`).Draw(t, "a"), rapid.StringMatching(`[ABC]{0,6}`).Draw(t, "b")
		if got, want := edits(a, b), naive(a, b); got != want {
			t.Fatalf("edits(%q, %q) is %d, not %d", a, b, got, want)
		}
	})
}

// TestKeywordsAreComplete holds the list of keywords to the words that the
// parser knows, so that no name prints as one of them.
func TestKeywordsAreComplete(t *testing.T) {
	var known []string
	for _, list := range [][]string{modeWords, formatWords, transformWords, terminalWords, funcWords, directions,
		fieldOps, crossWords, noLiterals, {"ONLY", "GAPS", "BY", "PER", "NODE", "EXISTS", "AND", "OR", "NOT", "NULL", "ago", "hence", "today", "yesterday", "true", "false"}} {
		known = append(known, list...)
	}
	for _, c := range clauseWords {
		known = append(known, c.word)
		if clauseParsers[c.word] == nil {
			t.Errorf("%s has no parser", c.word)
		}
	}
	if len(clauseParsers) != len(clauseWords) {
		t.Errorf("%d parsers for %d clauses", len(clauseParsers), len(clauseWords))
	}
	for _, w := range known {
		if !isKeyword(w) || !isKeyword(strings.ToLower(w)) {
			t.Errorf("%s is no keyword", w)
		}
	}
}

// TestHabitsLeadSomewhere checks that what a habit means exists, and that the
// habit is no word of this language in its place.
func TestHabitsLeadSomewhere(t *testing.T) {
	clauses := []string{"AND", "OR"}
	for _, c := range clauseWords {
		clauses = append(clauses, c.word)
	}
	for _, table := range []struct {
		habits map[string]string
		words  []string
	}{
		{clauseHabits, clauses}, {modeHabits, modeWords}, {funcHabits, funcWords},
		{opHabits, append(append([]string{}, opWords...), fieldOps...)},
		{fieldHabits, append(append(append([]string{}, fixedFields[Logs]...), fixedFields[Gaps]...), "payload", "size", "frames")},
	} {
		has := map[string]bool{}
		for _, w := range table.words {
			has[w] = true
		}
		for habit, meant := range table.habits {
			if !has[meant] || has[habit] || habit != upper(habit) {
				t.Errorf("the habit %s leads to %s", habit, meant)
			}
		}
	}
}
