package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"datastream/subjects"
)

// lines is a document of families, one a line: "channel kind key=value …".
func lines(unknown string, families ...string) Node {
	text := func(line int, s string) Node { return Node{Line: line, Kind: Text, Text: s} }
	var list []Node
	for i, f := range families {
		words := strings.Fields(f)
		line := i + 2
		m := []Pair{{line, "channel", text(line, words[0])}, {line, "kind", text(line, words[1])}}
		for _, w := range words[2:] {
			k, v, _ := strings.Cut(w, "=")
			n := text(line, v)
			if k == "counters" || k == "labels" {
				n = Node{Line: line, Kind: List}
				for _, e := range strings.Split(v, ",") {
					n.List = append(n.List, text(line, e))
				}
			}
			m = append(m, Pair{line, k, n})
		}
		list = append(list, Node{Line: line, Kind: Map, Map: m})
	}
	doc := Node{Line: 1, Kind: Map, Map: []Pair{{1, "families", Node{Line: 1, Kind: List, List: list}}}}
	if unknown != "" {
		doc.Map = append(doc.Map, Pair{99, "unknown", text(99, unknown)})
	}
	return doc
}

func mustRead(t interface{ Fatal(...any) }, n Node) *Catalog {
	c, err := Read(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// show is a class as a test reads it.
func show(k *Class) string {
	s := k.Kind.String()
	if k.Family != nil {
		s += " " + k.Family.Channel
	}
	for _, p := range k.Params {
		s += fmt.Sprintf(" %s=%s", p.Name, p.Value)
	}
	if k.IsError {
		s += " error"
	}
	return s + " origin=" + k.Origin + " stem=" + k.Stem
}

// TestTheMostLiteralFamilyWins is promise 1.
func TestTheMostLiteralFamilyWins(t *testing.T) {
	c := mustRead(t, lines("",
		"* opaque", "a.* text", "a.{x}.c typed", "a.b.* sample", "a.b.c text origin=abc", "a.bb* typed",
		"*.z text", "*z typed", "*.{y}.end text origin={y}", "p.{q} typed", "p.*.r text", "t.{a}.{b} text origin=<{b}/{a}>",
	))
	for channel, want := range map[string]string{
		"a.b.c":         "text a.b.c origin=abc stem=a.b.c",
		"a.b.d":         "sample a.b.* origin=a.b.d stem=a.b.d",
		"a.x.c":         "typed a.{x}.c x=x origin=a.x.c stem=a.c",
		"a.x.y.c":       "text a.* origin=a.x.y.c stem=a.x.y.c",
		"a..c":          "text a.* origin=a..c stem=a..c", // a parameter is not empty
		"a.bb.c":        "typed a.bb* origin=a.bb.c stem=a.bb.c",
		"a":             "opaque * origin=a stem=a",
		"a.":            "text a.* origin=a. stem=a.",
		"x.z":           "text *.z origin=x.z stem=x.z",
		"x.yz":          "typed *z origin=x.yz stem=x.yz",
		"one.two.end":   "text *.{y}.end y=two origin=two stem=one.end",
		"1.2.3.end":     "text *.{y}.end y=3 origin=3 stem=1.2.end",
		"p.a.r":         "text p.*.r origin=p.a.r stem=p.a.r",
		"p.r":           "typed p.{q} q=r origin=p.r stem=p",
		"t.1.2":         "text t.{a}.{b} a=1 b=2 origin=<2/1> stem=t",
		"T.1.2":         "opaque * origin=T.1.2 stem=T.1.2",
		"a.\xff.c":      "typed a.{x}.c x=\xff origin=a.\xff.c stem=a.c",
		"host.cpu":      "typed host.cpu origin=host.cpu stem=host.cpu",
		"proc.a.stderr": "text proc.{label}.stderr label=a error origin=a stem=proc.stderr",
	} {
		if got := show(c.Classify(subjects.Channel(channel))); got != want {
			t.Errorf("%q: %s, want %s", channel, got, want)
		}
	}
}

// TestPatternIsItsExpression is promise 1 against regular expressions, what
// the parameters stood for included.
func TestPatternIsItsExpression(t *testing.T) {
	segment := rapid.OneOf(rapid.StringMatching(`[ab]{0,2}`), rapid.StringMatching(`[ab]?\*[ab]?`), rapid.Just("{}"))
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(segment, 1, 5).Draw(t, "segments")
		expr := `(?s)^`
		for i, s := range segments {
			if i > 0 {
				expr += `\.`
			}
			if s == "{}" {
				segments[i] = fmt.Sprintf("{p%d}", i)
				expr += `([^.]+)`
				continue
			}
			expr += strings.ReplaceAll(s, "*", `.*?`)
		}
		pat, err := parsePattern(strings.Join(segments, "."))
		if err != nil {
			t.Skip(err) // empty: rapid draws another
		}
		channel := rapid.StringMatching(`[ab.]{1,12}`).Draw(t, "channel")
		want := regexp.MustCompile(expr + `$`).FindStringSubmatchIndex(channel)
		var m match
		if got := pat.match(channel, &m); got != (want != nil) {
			t.Fatalf("%q and %q: %v", strings.Join(segments, "."), channel, got)
		}
		for i := 1; i < len(want)/2; i++ {
			if m[i-1].from != want[2*i] || m[i-1].to != want[2*i+1] {
				t.Fatalf("%q and %q: parameters %v, want %v", strings.Join(segments, "."), channel, m, want[2:])
			}
		}
	})
}

// TestUnknownChannelsAreSniffed is promise 2 (L12.1).
func TestUnknownChannelsAreSniffed(t *testing.T) {
	sniff, quiet := mustRead(t, lines("", "blob.* opaque")), mustRead(t, lines("opaque"))
	for _, c := range []struct {
		payload      string
		record, text bool
	}{
		{`{"level":"info"}`, true, true}, {"\x81\xa1a\x01", true, false}, {"plain", false, true}, {"", false, true}, {"\xde\xad\xbe\xef", false, false},
		{`{"level":`, false, true}, {"[1]", false, true}, {"\x91\x01", false, false}, {"\x80", true, false}, {"a\xff", false, false},
	} {
		k := sniff.Classify("some.channel")
		if k.IsRecord([]byte(c.payload)) != c.record || k.IsText([]byte(c.payload)) != c.text || k.Kind != Opaque || !k.Sniffed() {
			t.Errorf("%q: record %v, text %v", c.payload, k.IsRecord([]byte(c.payload)), k.IsText([]byte(c.payload)))
		}
		for _, k := range []*Class{sniff.Classify("blob.x"), quiet.Classify("some.channel")} {
			if k.IsRecord([]byte(c.payload)) || k.IsText([]byte(c.payload)) || k.MayHoldRecords() || k.MayHoldText() || k.Kind != Opaque {
				t.Errorf("%q is read on an opaque channel", c.payload)
			}
		}
		if k := sniff.Classify("host.cpu"); !k.IsRecord([]byte(c.payload)) || k.IsText([]byte(c.payload)) {
			t.Errorf("%q on a typed channel is a record, raw or not", c.payload)
		}
		if k := sniff.Classify("log.app"); k.IsRecord([]byte(c.payload)) || !k.IsText([]byte(c.payload)) {
			t.Errorf("%q on a text channel is text, UTF-8 or not", c.payload)
		}
	}
}

// TestBuiltInFamilies: what the project's own producers submit has its meaning
// without a file.
func TestBuiltInFamilies(t *testing.T) {
	c := Default()
	for channel, want := range map[string]string{
		"proc.trainer.stdout": "text proc.{label}.stdout label=trainer origin=trainer stem=proc.stdout",
		"proc.trainer.stderr": "text proc.{label}.stderr label=trainer error origin=trainer stem=proc.stderr",
		"proc.trainer.exit":   "typed proc.{label}.exit label=trainer origin=proc.trainer.exit stem=proc.exit",
		"proc.a.b.stdout":     "opaque origin=proc.a.b.stdout stem=proc.a.b.stdout",
		"metric.http":         "sample metric.* origin=metric.http stem=metric.http",
		"log.app":             "text log.* origin=log.app stem=log.app",
		"host.gpu.0":          "typed host.* origin=host.gpu.0 stem=host.gpu.0",
		"logs":                "opaque origin=logs stem=logs",
	} {
		if got := show(c.Classify(subjects.Channel(channel))); got != want {
			t.Errorf("%s: %s, want %s", channel, got, want)
		}
	}
	for channel, counter := range map[subjects.Channel]string{
		"host.cpu": "user_s", "host.cpu.core": "idle_s", "host.memory": "swap_in_bytes", "host.net": "rx_bytes", "host.disk": "write_ms",
	} {
		if k := c.Classify(channel); k.Kind != Typed || !k.IsCounter(counter) || k.IsCounter("usage_pct") || k.Family.Channel != string(channel) {
			t.Errorf("%s: %s; %s a counter: %v", channel, show(k), counter, k.IsCounter(counter))
		}
	}
	if k := c.Classify("host.disk"); !slices.Equal(k.Labels(), []string{"device", "mount"}) || k.MetricName("read_bytes") != "host.disk.read_bytes" {
		t.Errorf("labels %v, name %s", k.Labels(), k.MetricName("read_bytes"))
	}
	if k := c.Classify("unknown"); k.Labels() != nil || k.IsCounter("x") || k.MetricName("x") != "unknown.x" {
		t.Error("an unknown channel has gauges and no labels")
	}
}

// TestFileComesBeforeBuiltIn is promise 3.
func TestFileComesBeforeBuiltIn(t *testing.T) {
	c := mustRead(t, lines("", "proc.{app}.stdout typed counters=n", "host.* opaque", "{x} typed"))
	for channel, want := range map[string]string{
		"proc.a.stdout": "typed proc.{app}.stdout app=a origin=proc.a.stdout stem=proc.stdout",
		"host.gpu":      "opaque host.* origin=host.gpu stem=host.gpu",
		"host.cpu":      "typed host.cpu origin=host.cpu stem=host.cpu",
	} {
		if got := show(c.Classify(subjects.Channel(channel))); got != want {
			t.Errorf("%s: %s, want %s", channel, got, want)
		}
	}
	if k := c.Classify("one"); k.Stem != "" || k.MetricName("n") != "n" {
		t.Errorf("a channel of parameters alone is named by its paths, not %s", k.MetricName("n"))
	}
	if f := c.Families(); f[len(f)-1].Channel != "{x}" || f[len(f)-1].Line != 4 {
		t.Errorf("the last family is %s of line %d", f[len(f)-1].Channel, f[len(f)-1].Line)
	}
}

func TestKinds(t *testing.T) {
	for k, want := range map[Kind]string{Opaque: "opaque", Typed: "typed", TextKind: "text", Sample: "typed"} {
		if k.Field() != want {
			t.Errorf("%v shows as %s, want %s", k, k.Field(), want)
		}
	}
}
