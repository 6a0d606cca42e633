package subjects

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// matches is NATS's own rule for wildcards: * is one token, > one or more.
func matches(filter, subject string) bool {
	f, s := strings.Split(filter, "."), strings.Split(subject, ".")
	for i, token := range f {
		if token == ">" && i == len(f)-1 {
			return len(s) > i
		}
		if i >= len(s) || (token != "*" && token != s[i]) {
			return false
		}
	}
	return len(s) == len(f)
}

// naive is the pattern as a regular expression over bytes, which the texts
// below are: ASCII.
func naive(p Pattern, s string) bool {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(string(p)), `\*`, `(?s:.*)`)
	return regexp.MustCompile(`\A` + quoted + `\z`).MatchString(s)
}

// Few letters, so that patterns and texts meet.
var (
	patterns = rapid.StringMatching(`[ab.*% ]{0,10}`)
	texts    = rapid.StringMatching(`[ab.*% ]{1,10}`)
)

// TestPatternAgreesWithRegexp: Match is what a regular expression says.
func TestPatternAgreesWithRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, s := Pattern(patterns.Draw(t, "pattern")), texts.Draw(t, "text")
		if got, want := p.Match(s), naive(p, s); got != want {
			t.Fatalf("%q matches %q: %v, want %v", p, s, got, want)
		}
	})
}

// TestPatternTable pins what users meet (L5.1).
func TestPatternTable(t *testing.T) {
	for _, c := range []struct {
		p, s string
		want bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a.b", true}, {"**", "a", true},
		{"a", "a", true}, {"a", "A", false}, {"a", "ab", false}, {"a.*", "a.", true}, {"a.*", "a", false},
		{"a.*", "a.b.c", true}, {"*.log", "x.y.log", true}, {"*.log", "log", false}, {"a*b*c", "a1b2b3c", true},
		{"a*b*c", "a1c", false}, {"proc.*.stdout", "proc.x.y.stdout", true}, {"*\xff*", "a\xffb", true}, {">", "a", false},
	} {
		if got := Pattern(c.p).Match(c.s); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.p, c.s, got, c.want)
		}
	}
}

// TestFilterLosesNoMatch: Filter lets every match pass, and nothing else when
// it says that it is exact; what it makes is a subject a server takes.
func TestFilterLosesNoMatch(t *testing.T) {
	s := Default()
	nodes := []Node{"a", "a.b", "*"}
	lives := []Life{aLife, {1}}
	rapid.Check(t, func(t *rapid.T) {
		sel := Selector{Pattern: Pattern(patterns.Draw(t, "pattern"))}
		if i := rapid.IntRange(0, 3).Draw(t, "selected node"); i > 0 {
			sel.Node = &nodes[i-1]
		}
		if i := rapid.IntRange(0, 2).Draw(t, "selected life"); i > 0 {
			sel.Life = &lives[i-1]
		}
		// Half of the channels are made to match.
		text := texts.Draw(t, "channel")
		if fill := rapid.StringMatching(`[ab.]{0,3}`); rapid.Bool().Draw(t, "made to match") {
			parts := strings.Split(string(sel.Pattern), "*")
			for i := range parts[1:] {
				parts[i+1] = fill.Draw(t, "fill") + parts[i+1]
			}
			if made := strings.Join(parts, ""); made != "" {
				text = made
			}
		}
		st := Stream{Node: rapid.SampledFrom(nodes).Draw(t, "node"), Life: rapid.SampledFrom(lives).Draw(t, "life")}
		want := (sel.Node == nil || *sel.Node == st.Node) && (sel.Life == nil || *sel.Life == st.Life) && naive(sel.Pattern, text)
		if got := sel.Match(st, Channel(text)); got != want {
			t.Fatalf("Match %v %q: %v, want %v", st, text, got, want)
		}
		filter, exact := s.Filter(sel)
		passes := matches(filter, s.Store(st, Channel(text)))
		if want && !passes {
			t.Fatalf("filter %q loses %q", filter, s.Store(st, Channel(text)))
		}
		if exact && passes != want {
			t.Fatalf("filter %q says exact, and passes %q: %v, want %v", filter, s.Store(st, Channel(text)), passes, want)
		}
		if strings.Contains(filter, "..") || strings.HasSuffix(filter, ".") || strings.ContainsAny(filter, " \x00") {
			t.Fatalf("filter %q is no subject", filter)
		}
	})
}

// TestFilterTable pins filters, so that they stay as narrow as they are.
func TestFilterTable(t *testing.T) {
	n := Node("n.1")
	life := aLife
	for _, c := range []struct {
		sel    Selector
		filter string
		exact  bool
	}{
		{Selector{Pattern: "*"}, "ds.store.*.*.>", true},
		{Selector{Pattern: "a.b"}, "ds.store.*.*.a.b", true},
		{Selector{Pattern: "a.b.*"}, "ds.store.*.*.a.b.>", true},
		{Selector{Pattern: "a.b.**"}, "ds.store.*.*.a.b.>", true},
		{Selector{Pattern: "a.b*"}, "ds.store.*.*.a.>", false},
		{Selector{Pattern: "a.*.c"}, "ds.store.*.*.a.>", false},
		{Selector{Pattern: "a*"}, "ds.store.*.*.>", false},
		{Selector{Pattern: "*.a"}, "ds.store.*.*.>", false},
		{Selector{Pattern: "a b..*"}, "ds.store.*.*.a%20b.%.>", true},
		{Selector{Pattern: ""}, "ds.store.*.*.>", false},
		{Selector{Node: &n, Pattern: "a>"}, "ds.store.n%2E1.*.a%3E", true},
		{Selector{Life: &life, Pattern: "*"}, "ds.store.*." + life.String() + ".>", true},
		{Selector{Pattern: Pattern(strings.Repeat("a", MaxChannel+1))}, "ds.store.*.*.>", false},
		{Selector{Pattern: Pattern(strings.Repeat("a.", MaxChannel)) + "*"}, "ds.store.*.*.>", false},
	} {
		if filter, exact := Default().Filter(c.sel); filter != c.filter || exact != c.exact {
			t.Errorf("%q: %s %v, want %s %v", c.sel.Pattern, filter, exact, c.filter, c.exact)
		}
	}
}

// TestPatternIsNotExponential: many stars against a text that nearly matches
// end at once; an engine that backtracks over each star would not end.
func TestPatternIsNotExponential(t *testing.T) {
	p := Pattern(strings.Repeat("a*", 200) + "b")
	if p.Match(strings.Repeat("a", MaxChannel)) {
		t.Fatal("matched")
	}
	if n := testing.AllocsPerRun(10, func() { p.Match("aaaaaaaab") }); n != 0 {
		t.Errorf("Match allocates %v times", n)
	}
}
