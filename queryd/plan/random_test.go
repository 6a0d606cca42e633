package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"datastream/queryd/syntax"
	"datastream/queryd/value"
	"datastream/queryd/view"
	"datastream/subjects"
)

// pairs is how many random pairs of data and query are compared.
const pairs = 3000

// TestNaiveAgrees compares plan and view with the second evaluator, on random
// data and queries; the seed is printed when they differ.
func TestNaiveAgrees(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	var s *shelf
	answered := 0
	for i := range pairs {
		if i%20 == 0 {
			s = g.shelf()
		}
		text := g.query()
		q, err := syntax.Parse(text)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		want := naive(s, q)
		for _, eager := range []bool{true, false} {
			got, err := s.ask(text, eager, plenty())
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("seed %d, pair %d, eager %v: %s\ngot (%v):\n%s\nwant:\n%s\ndata:\n%s", seed, i, eager, text, err,
					strings.Join(got, "\n"), strings.Join(want, "\n"), s)
			}
		}
		if len(want) > 0 {
			answered++
		}
	}
	if answered < pairs/4 {
		t.Errorf("seed %d: only %d of %d queries had an answer: the generator asks for nothing", seed, answered, pairs)
	}
}

// String is the shelf as a script's lines.
func (s *shelf) String() string {
	var b strings.Builder
	for _, f := range s.frames {
		fmt.Fprintf(&b, "%d/%d @%d %s %s %d %q\n", f.Sequence, f.Place, f.Instant, streamKey(f.Stream), f.Channel, f.Position, f.Payload)
	}
	for st, a := range s.more {
		fmt.Fprintf(&b, "%s evicted %v\n", streamKey(st), a.Evicted)
	}
	return b.String()
}

type generator struct{ *rand.Rand }

func (g generator) pick(words ...string) string { return words[g.IntN(len(words))] }

func (g generator) maybe(n int, s string) string {
	if g.IntN(n) == 0 {
		return s
	}
	return ""
}

var payloads = []string{`{"a":1,"s":"Alpha"}`, `{"a":1.0,"s":"alpha","b":{"c":true}}`, `{"a":9007199254740993}`, `{"a":"1","b":{"c":[1,"ALPHA"]}}`,
	`{"a":null,"position":7}`, `{"kind":"mine","a":-2.5}`, "", "plain\n", "Plain\r\n", "alpha beta", "\xff\xfe", "\x82\xa1a\x02\xa1s\xc4\x01a", "{broken", "{}"}

func (g generator) shelf() *shelf {
	s := &shelf{more: map[subjects.Stream]*view.Account{}}
	var all []view.Frame
	for _, st := range []subjects.Stream{{Node: "n1", Life: lives["A"]}, {Node: "n1", Life: lives["B"]}, {Node: "n2", Life: lives["A"]}} {
		a := &view.Account{Stream: st}
		stored := false
		for p := subjects.Position(0); p < 12; p++ {
			switch g.IntN(6) {
			case 0: // lost
			case 1:
				if n := len(a.Evicted); n > 0 && a.Evicted[n-1].To+1 == p {
					a.Evicted[n-1].To = p
				} else {
					a.Evicted = append(a.Evicted, view.Interval{From: p, To: p})
				}
			default:
				stored = true
				all = append(all, view.Frame{Stream: st, Position: p, Payload: []byte(payloads[g.IntN(len(payloads))]),
					Channel: subjects.Channel(g.pick("a", "a.b", "log.x", "proc.Tr.stderr", "proc.tr.exit", "host.cpu"))})
			}
		}
		if stored {
			s.more[st] = a
		}
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) // late frames
	at, seq, place := int64(1e9), uint64(1), 0
	for i := range all {
		if i > 0 && g.IntN(3) > 0 {
			seq, place = seq+1, 0
			at += int64(g.IntN(2)) * 1e9
		} else if i > 0 {
			place++
		}
		all[i].Sequence, all[i].Place, all[i].Instant = seq, place, at
	}
	s.frames = all
	return s
}

func (g generator) query() string {
	mode := g.pick("EVENTS", "EVENTS", "LOGS", "LOGS", "FRAMES", "FRAMES", "LATEST", "CHANNELS", "GAPS")
	fields := map[string][]string{
		"EVENTS": {"timestamp", "node", "channel", "position", "a", "s", "b", "b.c", "raw", "payload.position", "kind"},
		"LOGS":   {"timestamp", "life", "channel", "position", "origin", "is_error", "message"},
		"FRAMES": {"timestamp", "node", "channel", "position", "kind", "size", "payload"},
		"LATEST": {"timestamp", "node", "channel", "position", "kind", "payload", "a", "b.c", "payload.position"},
	}[mode]
	if fields == nil {
		fields = syntaxFields[mode]
	}
	field := func() string { return fields[g.IntN(len(fields))] }
	parts := []string{mode, g.maybe(5, "(n1, *)")}
	if mode != "GAPS" {
		parts = append(parts, g.maybe(4, g.pick("a*", "a", "*.*", "proc.*", "*o*")))
	}
	for range g.IntN(3) {
		parts = append(parts, "WHERE "+g.expr(mode, field, 2))
	}
	parts = append(parts, g.maybe(5, fmt.Sprintf("SINCE %d", g.Int64N(12)*1e9)))
	stream := mode != "GAPS" && mode != "LATEST" && mode != "CHANNELS" && g.IntN(4) == 0
	if stream {
		parts = append(parts, "STREAM")
	} else {
		parts = append(parts, g.maybe(5, fmt.Sprintf("UNTIL %d", g.Int64N(20)*1e9)))
	}
	grouped := !stream && g.IntN(4) == 0
	if grouped {
		parts = append(parts, g.aggregate(field))
	} else if g.IntN(3) == 0 {
		keys := "SORT " + field() + g.pick("", " ASC", " DESC")
		if f := field(); g.IntN(2) == 0 {
			keys += ", " + f + g.pick("", " DESC")
		}
		parts = append(parts, keys)
	} else if mode == "EVENTS" || mode == "LOGS" || mode == "FRAMES" {
		parts = append(parts, g.maybe(3, "WITH GAPS"))
	}
	parts = append(parts, g.maybe(3, fmt.Sprintf("TAKE %d", g.IntN(8))), g.maybe(4, fmt.Sprintf("SKIP %d", g.IntN(5))))
	if !grouped && g.IntN(3) == 0 {
		parts = append(parts, "SELECT "+field()+", "+field())
	}
	if mode == "LOGS" {
		parts = append(parts, g.maybe(5, "FROM "+g.pick("TR", "a*, log.x", "*")), g.maybe(6, "ERROR ONLY"),
			g.maybe(5, `CONTAINING "`+g.pick("A", "plain", "")+`"`), g.maybe(5, "EXCLUDING "+g.pick("ALPHA", "x")))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// aggregate is one with or without a SORT of its outputs.
func (g generator) aggregate(field func() string) string {
	f, other := field(), field()
	switch g.IntN(5) {
	case 0:
		return "COUNT"
	case 1:
		return "COUNT BY " + f + g.maybe(2, " SORT count, "+f+" DESC")
	case 2:
		return fmt.Sprintf("TOP %d BY %s", g.IntN(4), f) + g.maybe(3, " SORT count")
	case 3:
		return "DISTINCT " + f + g.maybe(3, " SORT "+f+" DESC")
	}
	if f == other {
		return "GROUP " + f + " COUNT"
	}
	return "GROUP " + f + ", " + other + " COUNT" + g.maybe(3, " SORT "+other)
}

var syntaxFields = map[string][]string{"CHANNELS": syntax.Channels.Fields(), "GAPS": syntax.Gaps.Fields()}

var orderable = []string{"timestamp", "position", "size", "frames", "gap_from", "gap_to", "missing"}

func (g generator) expr(mode string, field func() string, depth int) string {
	if depth > 0 && g.IntN(3) == 0 {
		return "(" + g.expr(mode, field, depth-1) + g.pick(" AND ", " OR ") + g.expr(mode, field, depth-1) + ")"
	}
	f := field()
	texts := []string{`"alpha"`, `"ALPHA"`, `"n1"`, `"N1"`, `"a.b"`, `"plain"`, `"text"`, `""`, `"tr"`}
	literals := append([]string{"1", "1.0", "true", "0", "7", "9007199254740992.0", `x"61"`, "-2.5", "3", "5"}, texts...)
	fixed := slices.Contains(syntax.Logs.Fields(), f) || slices.Contains(syntax.Frames.Fields(), f) && mode != "EVENTS" || mode == "GAPS" || mode == "CHANNELS"
	switch g.IntN(7) {
	case 0:
		return f + g.pick(" IS NULL", " IS NOT NULL")
	case 1:
		return f + g.pick(" IN (", " NOT_IN (") + g.pick(literals...) + ", " + g.pick(literals...) + ", 2)"
	case 2:
		return f + g.pick(" STARTS_WITH ", " CONTAINS ", " NOT_ENDS_WITH ", " NOT_CONTAINS ", " ENDS_WITH ", " MATCHES ", " HAS ", " NOT_HAS ") + g.pick(texts...)
	case 3:
		return f + g.pick(" BEFORE ", " NOT_BEFORE ") + fmt.Sprint(g.Int64N(12)*1e9)
	case 4:
		if !fixed || slices.Contains(orderable, f) {
			return f + g.pick(" > ", " >= ", " < ", " <= ") + g.pick("1", "3", "4.5", "0", "5000000000")
		}
	}
	return f + g.pick(" == ", " != ") + g.pick(literals...)
}

// TestSortIsBounded: a sort that outgrows its memory is an error and no part
// of an answer; with TAKE it holds only the best. What was taken comes back.
// (L8.4)
func TestSortIsBounded(t *testing.T) {
	s := &shelf{}
	for i := range 1000 {
		s.frames = append(s.frames, view.Frame{Stream: streamOf("n1/A"), Channel: "e", Position: subjects.Position(i), Sequence: uint64(i + 1), Instant: 1, Payload: fmt.Appendf(nil, `{"i":%d}`, i)})
	}
	bound := view.Bound(20_000)
	rows, err := s.ask("EVENTS SORT i", true, &bound)
	if err == nil || len(rows) > 0 {
		t.Fatalf("1000 records in 20 kB: %d rows, %v", len(rows), err)
	}
	if bound != 20_000 {
		t.Errorf("%d bytes were not given back", 20_000-bound)
	}
	rows, err = s.ask("EVENTS SORT i DESC SKIP 2 TAKE 3 SELECT i", true, &bound)
	if want := []string{`{"i":997}`, `{"i":996}`, `{"i":995}`}; err != nil || !slices.Equal(rows, want) {
		t.Errorf("got %q, %v", rows, err)
	}
	if rows, err = s.ask("EVENTS STREAM TAKE 2 SELECT i", true, &bound); err != nil || len(rows) != 2 {
		t.Errorf("the last two of a stream: %q, %v", rows, err)
	}
}

// TestNoMatchCostsNothing: a frame that does not match allocates nothing.
func TestNoMatchCostsNothing(t *testing.T) {
	for _, query := range []string{`EVENTS WHERE a == 2`, `LOGS CONTAINING nothing`, `FRAMES WHERE position > 9`, `EVENTS x.*`} {
		q, err := syntax.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(q, testCatalog, now)
		if err != nil {
			t.Fatal(err)
		}
		run, err := p.Spec.Open(plenty(), func(*view.Row) error { t.Error("a row"); return nil })
		if err != nil {
			t.Fatal(err)
		}
		f := view.Frame{Stream: streamOf("n1/A"), Channel: "app", Position: 1, Payload: []byte(`{"a":1,"s":"text"}`)}
		if n := testing.AllocsPerRun(100, func() { _ = run.Frame(&f) }); n > 0 {
			t.Errorf("%s: %v allocations for a frame that does not match", query, n)
		}
	}
}

// TestLive: raw queries without order and limits stand in a watch, nothing
// else does, and Watch takes order and limits away (S2.3).
func TestLive(t *testing.T) {
	for query, live := range map[string]bool{
		"EVENTS": true, "LOGS ERROR ONLY": true, "FRAMES STREAM": true, "FRAMES": false, "EVENTS SORT a": false, "LOGS TAKE 1": false,
		"LATEST": false, "CHANNELS": false, "FRAMES STREAM WITH GAPS": false,
	} {
		q, _ := syntax.Parse(query)
		p, err := New(q, testCatalog, now)
		if err != nil {
			t.Fatal(err)
		}
		open := func(s *view.Spec) bool {
			run, err := s.Open(plenty(), func(*view.Row) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			return run.Live()
		}
		if got := open(p.Spec); got != live {
			t.Errorf("%s: live %v, want %v", query, got, live)
		}
		if q.Mode <= syntax.Frames && !open(p.Spec.Watch()) {
			t.Errorf("%s: its watch is not live", query)
		}
	}
}

// TestRowInMessagePack: both forms of a row say the same (L4.6).
func TestRowInMessagePack(t *testing.T) {
	r := view.Row{Fields: []view.Field{{Name: "a", Value: value.OfInt(1)}, {Name: "b", Value: value.OfString("x")}}}
	if got := string(r.AppendMsgpack(nil)); got != "\x82\xa1a\x01\xa1b\xa1x" {
		t.Errorf("got %q", got)
	}
	if got := string(r.AppendJSON(nil)); got != `{"a":1,"b":"x"}` {
		t.Errorf("got %s", got)
	}
}
