package catalog

import (
	"errors"
	"strings"
	"testing"
)

// TestParseReadsYAML: the document of the language's L12, as it stands there.
func TestParseReadsYAML(t *testing.T) {
	c, err := Parse([]byte(`
families:
  - channel: proc.{label}.stdout        # a parameter is one segment
    kind: text
    origin: "{label}"
  - channel: proc.{label}.stderr
    kind: text
    origin: "{label}"
    is_error: true
  - channel: transport.peer.{peer}.conn
    kind: typed
    counters: [bytes_tx, bytes_rx]
    labels: [direction]
  - channel: metric.*
    kind: sample
unknown: sniff
`))
	if err != nil {
		t.Fatal(err)
	}
	k := c.Classify("transport.peer.p1.conn")
	if got, want := show(k), "typed transport.peer.{peer}.conn peer=p1 origin=transport.peer.p1.conn stem=transport.peer.conn"; got != want || k.Family.Line != 10 || !k.IsCounter("bytes_rx") {
		t.Errorf("%s of line %d, want %s", got, k.Family.Line, want)
	}
	for _, empty := range []string{"", "# nothing\n", "families:\n", "families: []\nunknown: opaque\n", "---\n"} {
		if _, err := Parse([]byte(empty)); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

// TestParseRefuses is promise 4 for what YAML itself may hold.
func TestParseRefuses(t *testing.T) {
	for doc, want := range map[string]string{
		"families:\n  - channel: a\n    kind: txt\n": `line 3: wrong catalog: kind is one of`,
		"families:\n  - channel: *.x\n":              `did not find`,
		"a: &x [1]\nb: *x\n":                         `line 1: wrong catalog: &x is an anchor`,
		"families: [*x]\n":                           `unknown anchor`,
		"[a]: b\n":                                   `line 1: wrong catalog: a key is a word`,
		"families: [\n":                              `line`,
		"a: b\n---\nc: d\n":                          `more than one document`,
		"families:\n  - {channel: a, kind: text}\n  - {channel: a, kind: text}\n": `line 3: wrong catalog: channel "a" matches what the family on line 2 does`,
		strings.Repeat("#", MaxFile+1):                                            `at most 1048576 are allowed`,
	} {
		_, err := Parse([]byte(doc))
		if !errors.Is(err, ErrCatalog) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", doc, err, want)
		}
	}
}
