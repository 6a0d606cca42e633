package syntax

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// must parses a query that is right.
func must(t testing.TB, query string) *Query {
	t.Helper()
	q, err := Parse(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return q
}

// TestValuesAreExact shows promise 4: a value is never turned into another.
func TestValuesAreExact(t *testing.T) {
	for written, want := range map[string]string{
		`42`:                   "*syntax.Uint 42",
		`-0`:                   "*syntax.Uint 0",
		`0x1F01FF`:             "*syntax.Uint 2032127",
		`18446744073709551615`: "*syntax.Uint 18446744073709551615",
		`9007199254740993`:     "*syntax.Uint 9007199254740993",
		`-9223372036854775808`: "*syntax.Int -9223372036854775808",
		`-1`:                   "*syntax.Int -1",
		`42.0`:                 "*syntax.Float 42",
		`1e2`:                  "*syntax.Float 100",
		`9007199254740993.0`:   "*syntax.Float 9.007199254740992e+15",
		`"42"`:                 "*syntax.Str 42",
		`abc.d-e`:              "*syntax.Str abc.d-e",
		`"true"`:               "*syntax.Str true",
		`"\u00e9\n\"\\\t\r"`:   "*syntax.Str é\n\"\\\t\r",
		`TRUE`:                 "*syntax.Bool true",
		`x"00fF"`:              "*syntax.Bytes \x00\xff",
		`x""`:                  "*syntax.Bytes ",
	} {
		q := must(t, "EVENTS WHERE a == "+written)
		got := ""
		switch v := q.Where[0].(*Compare).Value.(type) {
		case *Uint:
			got = fmt.Sprintf("%T %d", v, v.Value)
		case *Int:
			got = fmt.Sprintf("%T %d", v, v.Value)
		case *Float:
			got = fmt.Sprintf("%T %v", v, v.Value)
		case *Str:
			got = fmt.Sprintf("%T %s", v, v.Value)
		case *Bool:
			got = fmt.Sprintf("%T %v", v, v.Value)
		case *Bytes:
			got = fmt.Sprintf("%T %s", v, v.Value)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", written, got, want)
		}
	}
	zero := must(t, "EVENTS WHERE a == -0.0").Where[0].(*Compare).Value.(*Float)
	if !math.Signbit(zero.Value) {
		t.Error("-0.0 lost its sign")
	}
}

// TestTreeShape shows that AND binds closer than OR, that parentheses leave
// no node behind, and that each WHERE stays by itself (L2.4).
func TestTreeShape(t *testing.T) {
	q := must(t, "EVENTS WHERE a == 1 OR b == 2 AND (c == 3 OR (d == 4 OR e == 5)) WHERE ((f IS NULL))")
	if len(q.Where) != 2 {
		t.Fatalf("%d conditions", len(q.Where))
	}
	or, ok := q.Where[0].(*Or)
	if !ok || len(or.Terms) != 2 {
		t.Fatalf("got %T", q.Where[0])
	}
	and, ok := or.Terms[1].(*And)
	if !ok || len(and.Terms) != 2 {
		t.Fatalf("got %T", or.Terms[1])
	}
	if inner, ok := and.Terms[1].(*Or); !ok || len(inner.Terms) != 3 {
		t.Errorf("got %T %s", and.Terms[1], printed(and.Terms[1]))
	}
	if _, ok := q.Where[1].(*IsNull); !ok {
		t.Errorf("got %T", q.Where[1])
	}
}

// TestPlaces shows where nodes begin, in bytes and in characters.
func TestPlaces(t *testing.T) {
	query := `EVENTS "é" WHERE a == "ü" AND b IN (1, 22) SINCE 1h ago SORT c DESC TAKE 5`
	want := map[string]bool{
		"EVENTS": true, `"é"`: true, "a": true, `"ü"`: true, "b": true, "1": true, "22": true,
		"1h": true, "c": true, "5": true,
	}
	Walk(must(t, query), func(n Node) bool {
		at := n.At()
		if got := len([]rune(query[:at.Offset])) + 1; got != at.Column {
			t.Errorf("%T at byte %d is in column %d, not %d", n, at.Offset, got, at.Column)
		}
		l := lexer{src: query, Pos: at}
		if first, e := l.next(); e != nil || !want[first.raw] {
			t.Errorf("%T begins with %q", n, first.raw)
		}
		return true
	})
}

// TestWalkOrder shows that Walk goes in the order of canonical text, and not
// below a node at which it was told so.
func TestWalkOrder(t *testing.T) {
	q := must(t, `METRIC (n1, l1) m[a="b"] SINCE 2h ago UNTIL today ZONE "UTC" WHERE c == d OR e IN (f) WHERE LOG (*, l2) g CONTAINING h EXISTS PER NODE WHERE EVENT x EXISTS RATE SUM_OVER 5m SORT k SKIP 1 TAKE 2`)
	var kinds []string
	Walk(q, func(n Node) bool {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax."))
		_, leaf := n.(*Compare)
		return !leaf
	})
	want := "Query Scope Name Name Pattern Labels Compare Time Duration Time Zone Or Compare In Field Str " +
		"LogExists Scope Name Pattern Text Flag EventExists Pattern Transform Terminal Duration Key Field Count Count"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWalkReachesEverything counts a node of every kind.
func TestWalkReachesEverything(t *testing.T) {
	seen := map[string]bool{}
	for _, query := range []string{
		`LOGS (n, l) p FROM a ERROR ONLY CONTAINING b EXCLUDING c PARSE JSON SINCE 1h ago ZONE "UTC" STREAM SELECT node SORT life`,
		`EVENTS SINCE 1h ago WHERE METRIC (n, l) m[a=b] > 1 PER NODE WHERE LOG o CONTAINING t EXISTS COUNT EVERY 5m TAKE 5`,
		`EVENTS WHERE a == -1 AND (b == true OR c IN (1, 1.5, x"00", "s")) AND d IS NULL AND e BEFORE today COUNT BY f`,
		`LOGS SINCE 1h ago WHERE EVENT e EXISTS TOP 5 BY node`, `EVENTS DISTINCT a`, `EVENTS GROUP a SUM b`, `METRIC m RATE AVG`,
	} {
		Walk(must(t, query), func(n Node) bool { seen[fmt.Sprintf("%T", n)] = true; return true })
	}
	const kinds = 38
	if len(seen) != kinds {
		all := []string{}
		for k := range seen {
			all = append(all, k)
		}
		slices.Sort(all)
		t.Errorf("%d kinds of %d: %v", len(seen), kinds, all)
	}
}

// TestWrittenOrderNeverMatters parses a query with its clauses in many orders
// (L11).
func TestWrittenOrderNeverMatters(t *testing.T) {
	clauses := []string{"SINCE 1h ago", "FROM a, b", "WHERE parsed.x > 5", "PARSE JSON", "SORT origin DESC", "TAKE 5", "STREAM", "ERROR ONLY"}
	want := must(t, "LOGS "+strings.Join(clauses, " ")).String()
	for range clauses {
		clauses = append(clauses[1:], clauses[0])
		for i := range clauses[1:] {
			swapped := slices.Clone(clauses)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			if got := must(t, "LOGS "+strings.Join(swapped, " ")).String(); got != want {
				t.Errorf("%v: got %s, want %s", swapped, got, want)
			}
		}
	}
}

// TestOutputs names the fields of aggregated rows (L8, L8.1).
func TestOutputs(t *testing.T) {
	for query, want := range map[string]string{
		"EVENTS":                                    "",
		"EVENTS COUNT":                              "count",
		"EVENTS COUNT EVERY 1h":                     "timestamp count",
		"EVENTS COUNT BY a":                         "a count",
		"EVENTS COUNT BY count":                     "count count_",
		"EVENTS TOP 3 BY a":                         "a count",
		"EVENTS DISTINCT a":                         "a",
		"EVENTS GROUP a, b COUNT":                   "a b count",
		"EVENTS GROUP a, b SUM x":                   "a b sum",
		"EVENTS GROUP a SUM x, P95 ms, COUNT":       "a sum_x p95_ms count",
		"EVENTS GROUP a AVG x.y, COUNT_DISTINCT z":  "a avg_x.y count_distinct_z",
		"EVENTS GROUP sum_x SUM x, SUM x_":          "sum_x sum_x_ sum_x__",
		"EVENTS COUNT BY timestamp EVERY 1h":        "timestamp_ timestamp count",
		"EVENTS GROUP timestamp, count COUNT":       "timestamp count count_",
		"EVENTS GROUP count, count_ COUNT EVERY 1h": "timestamp count count_ count__",
	} {
		if got := strings.Join(must(t, query).Outputs(), " "); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// TestFieldsOfModes takes every fixed field of a mode in it, and another one
// only where the mode is open (L4).
func TestFieldsOfModes(t *testing.T) {
	for m := Events; m <= Gaps; m++ {
		begin := m.String()
		if m == Metric {
			begin += " m"
		}
		for _, f := range m.Fields() {
			if _, err := Parse(begin + " SORT " + f); err != nil {
				t.Errorf("%s: %v", m, err)
			}
			_, err := Parse(begin + " WHERE " + f + " > 5")
			if hasOrder := slices.Contains(ordered, f); (err == nil) != hasOrder {
				t.Errorf("%s: %s > 5 gives %v", m, f, err)
			}
		}
		if _, err := Parse(begin + " SORT another"); (err == nil) != m.Open() {
			t.Errorf("%s: another gives %v", m, err)
		}
	}
}

// TestPieces cuts patterns of PARSE into literal text and captures (L4.7).
func TestPieces(t *testing.T) {
	for pattern, want := range map[string]string{
		`<ip> - <_>`:          "<ip> ' - ' <_>",
		`[<a.b>] <c-d>: `:     "'[' <a.b> '] ' <c-d> ': '",
		`<13>x <<a>> < b > <`: "'<13>x <' <a> '> < b > <'",
		`plain`:               "'plain'",
		``:                    "",
	} {
		q := must(t, "LOGS PARSE PATTERN "+quote(pattern))
		var got []string
		for _, p := range q.Parse.Pieces {
			if p.Literal != "" {
				got = append(got, "'"+p.Literal+"'")
			} else {
				got = append(got, "<"+p.Name+">")
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", pattern, got, want)
		}
	}
}

// TestWhiteSpace takes all four kinds, and none inside a word (L2.1).
func TestWhiteSpace(t *testing.T) {
	if got := must(t, "\r\n EVENTS\tTAKE\r\n5 \n").String(); got != "EVENTS TAKE 5" {
		t.Errorf("got %s", got)
	}
	for _, space := range []string{"\v", "\f", "\u00a0", "\u2003", "\u0085", "\x00"} {
		if q, err := Parse("EVENTS" + space + "TAKE 5"); err == nil {
			t.Errorf("%q is white space: %s", space, q)
		}
	}
}
