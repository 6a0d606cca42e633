package syntax

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestBounds takes what lies at each bound of L2.9 and refuses one more.
func TestBounds(t *testing.T) {
	nested := func(n int) string {
		return "EVENTS WHERE " + strings.Repeat("(", n) + "a == 1" + strings.Repeat(")", n)
	}
	list := func(n int) string { return "EVENTS WHERE a IN (" + strings.Repeat("1,", n-1) + "1)" }
	matches := func(n int) string { return `EVENTS WHERE a MATCHES "` + strings.Repeat("x", n) + `"` }
	padded := func(n int) string { return "EVENTS " + strings.Repeat("a", n-len("EVENTS ")) }
	for _, c := range []struct {
		name string
		of   func(int) string
		most int
		says string
	}{
		{"nesting", nested, MaxNesting, "64 deep"},
		{"IN", list, MaxIn, "10000 values"},
		{"MATCHES", matches, MaxMatches, "1024 are allowed"},
		{"query", padded, MaxQuery, "65536 are allowed"},
	} {
		if _, err := Parse(c.of(c.most)); err != nil {
			t.Errorf("%s of %d: %v", c.name, c.most, err)
		}
		_, err := Parse(c.of(c.most + 1))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %d: got %v", c.name, c.most+1, err)
		}
	}
	// Parentheses side by side, and those of two WHERE, do not nest.
	beside := "EVENTS WHERE " + strings.Repeat("(a == 1) AND ", 100) + "(a == 1)"
	for _, query := range []string{beside, nested(MaxNesting) + strings.TrimPrefix(nested(MaxNesting), "EVENTS")} {
		if _, err := Parse(query); err != nil {
			t.Error(err)
		}
	}
}

// TestMemoryIsBounded parses full queries of the shapes that make the most
// nodes or the most work of a byte (promise 5).
func TestMemoryIsBounded(t *testing.T) {
	const most = 64 << 20 // bytes in all, the most of them garbage at once
	for name, piece := range map[string][3]string{
		"predicates":    {"EVENTS WHERE a<1", " OR a<1"},
		"conditions":    {"EVENTS ", " WHERE a<1"},
		"fields":        {"EVENTS SELECT a", ",a"},
		"origins":       {"LOGS FROM a", ",a"},
		"labels":        {"METRIC m[a=b", ",a=b", "]"},
		"keys":          {"EVENTS SORT a", ",a"},
		"parentheses":   {"EVENTS WHERE ", "("},
		"closing":       {"EVENTS ", ")"},
		"escapes":       {`EVENTS WHERE a == "`, `\n`, `"`},
		"digits":        {"EVENTS WHERE a == 1", "0"},
		"float":         {"EVENTS WHERE a == 1.0", "0"},
		"one word":      {"EVENTS WHERE ", "a"},
		"segments":      {"EVENTS WHERE a", ".a"},
		"wrong words":   {"EVENTS ", " x"},
		"wrong field":   {"LOGS SORT ", "messag"},
		"captures":      {`LOGS PARSE PATTERN "`, "<a> ", `"`},
		"half captures": {`LOGS PARSE PATTERN "`, "<", `"`},
		"expressions":   {"EVENTS ", ` WHERE a MATCHES "(?i)(\\pL{1,9}[^a-z]+){1,99}"`},
		"signs":         {"EVENTS WHERE a ", "!"},
		"characters":    {"EVENTS ", "日"},
	} {
		n := (MaxQuery - len(piece[0]) - 2) / len(piece[1])
		query := piece[0] + strings.Repeat(piece[1], n) + piece[2]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		q, err := Parse(query)
		if err == nil {
			_ = q.String()
		} else if len(err.Error()) > 1000 {
			t.Errorf("%s: the message has %d bytes", name, len(err.Error()))
		}
		runtime.ReadMemStats(&after)
		if spent := after.TotalAlloc - before.TotalAlloc; spent > most {
			t.Errorf("%s: %d bytes were allocated, at most %d may be", name, spent, most)
		}
	}
}

// TestManyKeys groups by as many keys as fit, which must not cost a square of
// their number.
func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("EVENTS GROUP k")
	for i := 0; b.Len() < MaxQuery-20; i++ {
		b.WriteString(",k" + strconv.Itoa(i))
	}
	q := must(t, b.String()+" COUNT")
	if got, want := len(q.Outputs()), strings.Count(b.String(), ",")+2; got != want {
		t.Errorf("%d outputs of %d", got, want)
	}
}

func BenchmarkParse(b *testing.B) {
	const query = `LOGS (n1, *) proc.* FROM trainer, loader ERROR ONLY CONTAINING "cuda" SINCE 1h ago WHERE parsed.level IN (error, fatal) AND parsed.ms > 5 PARSE JSON SORT timestamp DESC TAKE 20`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(query); err != nil {
			b.Fatal(err)
		}
	}
}
