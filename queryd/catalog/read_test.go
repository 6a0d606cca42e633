package catalog

import (
	"errors"
	"strings"
	"testing"
)

// TestFaultsAreToldWithTheirLine is promise 4, each with its whole text.
func TestFaultsAreToldWithTheirLine(t *testing.T) {
	const begin = "read catalog: line 2: wrong catalog: "
	for family, want := range map[string]string{
		"a txt":                                    `kind is one of opaque, typed, text, sample, not "txt"; did you mean text?`,
		"a blob":                                   `kind is one of opaque, typed, text, sample, not "blob"`,
		"a typed is_eror=true":                     `a family has no key "is_eror"; did you mean is_error?`,
		"a text colour=red":                        `a family has no key "colour"`,
		"a text is_error=yes":                      `is_error is true or false`,
		"a text origin=a origin=b":                 `a family has the key origin twice`,
		"a typed origin=x":                         `channel "a" is typed; origin and is_error are for text`,
		"a opaque is_error=true":                   `channel "a" is opaque; origin and is_error are for text`,
		"a text counters=n":                        `channel "a" is text; counters and labels are for typed: a sample brings its own`,
		"a sample labels=n":                        `channel "a" is sample; counters and labels are for typed: a sample brings its own`,
		"a typed counters=n,m,n":                   `counter "n" of channel "a" is no field's path, or named twice`,
		"a typed counters=n..m":                    `counter "n..m" of channel "a" is no field's path, or named twice`,
		"a typed labels=7":                         `label "7" of channel "a" is no field's path, or named twice`,
		"a typed labels=n counters=n":              `"n" of channel "a" is a counter or a label, not both`,
		"a typed labels=value":                     `label "value" of channel "a" is a field of METRIC already`,
		"a.{n} typed labels=n":                     `label "n" of channel "a.{n}" is a parameter already; rename the parameter`,
		"a.{node} typed":                           `channel "a.{node}": a parameter is a label, and node is a field of METRIC already`,
		"a.{n}.{n} typed":                          `channel "a.{n}.{n}" has two parameters called n`,
		"a.x{n} typed":                             `channel "a.x{n}": a parameter is a whole segment {name}, its name letters, digits, _ and -, not "x{n}"`,
		"a.{} typed":                               `channel "a.{}": a parameter is a whole segment {name}, its name letters, digits, _ and -, not "{}"`,
		"a.{n typed":                               `channel "a.{n": a parameter is a whole segment {name}, its name letters, digits, _ and -, not "{n"`,
		"a.** typed":                               `channel "a.**" has ** in it; one * is any run already`,
		"a.{n} text origin={m}":                    `origin "{m}": channel "a.{n}" has no parameter {m}; did you mean n?`,
		"a.{n} text origin={n":                     `origin "{n" has a { without a }`,
		"a.{n} text origin=n}":                     `origin "n}" has a } without a {`,
		"{a}.{b}.{c}.{d}.{e}.{f}.{g}.{h}.{i} text": `channel "{a}.{b}.{c}.{d}.{e}.{f}.{g}.{h}.{i}" has 9 parameters; at most 8 are allowed`,
		strings.Repeat("a", 513) + " text":         `the channel has 513 bytes, more than any channel's 512`,
		"a text origin=":                           `origin is empty`,
	} {
		_, err := Read(lines("", family))
		if !errors.Is(err, ErrCatalog) || err.Error() != begin+want {
			t.Errorf("%s:\n got %v\nwant %s", family, err, begin+want)
		}
	}
}

// TestDocumentsOfAnotherShape are refused, too.
func TestDocumentsOfAnotherShape(t *testing.T) {
	text := Node{Line: 3, Kind: Text, Text: "x"}
	list := func(n ...Node) Node { return Node{Line: 2, Kind: List, List: n} }
	doc := func(p ...Pair) Node { return Node{Line: 1, Kind: Map, Map: p} }
	for _, c := range []struct {
		doc  Node
		want string
	}{
		{text, "line 3: wrong catalog: the document is a map of families, unknown, not a text"},
		{doc(Pair{1, "familes", list()}), `line 1: wrong catalog: the document has no key "familes"; did you mean families?`},
		{doc(Pair{1, "families", text}), "line 3: wrong catalog: families is a list, not a text"},
		{doc(Pair{1, "families", list(text)}), "line 3: wrong catalog: a family is a map of channel, kind, origin, is_error, counters, labels, not a text"},
		{doc(Pair{1, "families", list(doc())}), "line 1: wrong catalog: the family has no channel\nread catalog: line 1: wrong catalog: the family has no kind"},
		{doc(Pair{1, "families", list(doc(Pair{5, "channel", list()}, Pair{5, "kind", text}))}), "line 2: wrong catalog: channel is a text, not a list\nread catalog: line 3: wrong catalog: kind is one of opaque, typed, text, sample, not \"x\""},
		{doc(Pair{1, "families", list(doc(Pair{5, "channel", text}, Pair{6, "kind", Node{Line: 6}}))}), "line 6: wrong catalog: kind is a text, not nothing"},
		{lines("snif"), `line 99: wrong catalog: unknown is sniff or opaque, not "snif"; did you mean sniff?`},
		{lines("", "a.{n} text", "b text", "a.{m} typed"), `line 4: wrong catalog: channel "a.{m}" matches what the family on line 2 does; take one away`},
	} {
		if _, err := Read(c.doc); !errors.Is(err, ErrCatalog) || err.Error() != "read catalog: "+c.want {
			t.Errorf("got %v\nwant read catalog: %s", err, c.want)
		}
	}
	for _, fine := range []Node{{}, doc(), doc(Pair{1, "families", Node{}}), lines("sniff"), lines("opaque")} {
		if _, err := Read(fine); err != nil {
			t.Errorf("%v: %v", fine, err)
		}
	}
}

// TestFaultsAreBounded: a file that is wrong throughout is told so in a page.
func TestFaultsAreBounded(t *testing.T) {
	families := make([]string, 1002)
	for i := range families {
		families[i] = "a nonsense"
	}
	_, err := Read(lines("", families...))
	if err == nil || strings.Count(err.Error(), "\n") != maxFaults || !strings.HasSuffix(err.Error(), "faults more") {
		t.Errorf("%v", err)
	}
	for i := range families {
		families[i] = "a." + strings.Repeat("b", i%500) + strings.Repeat(".c", 1+i/500) + " text"
	}
	if _, err = Read(lines("", families...)); err == nil || !strings.Contains(err.Error(), "more than 1000 families") {
		t.Errorf("1002 families: %v", err)
	}
	if _, err = Read(lines("", families[:1000]...)); err != nil {
		t.Errorf("1000 families: %v", err)
	}
}
