package catalog

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"datastream/queryd/value"
)

// maxFamilies bounds a file: a channel that is new is held against each.
const maxFamilies = 1000

// maxFaults is how many faults of a file are told at once.
const maxFaults = 20

// An entry is a family as it was written.
type entry struct {
	line     int
	channel  string
	kind     Kind
	origin   string
	isError  bool
	counters []string
	labels   []string
}

// A reader gathers what a document says, and what is wrong with it.
type reader struct {
	entries []entry
	opaque  bool // unknown channels are not sniffed
	faults  []error
	untold  int // faults beyond maxFaults
}

func (r *reader) fault(line int, format string, args ...any) {
	if len(r.faults) == maxFaults {
		r.untold++
		return
	}
	r.faults = append(r.faults, fault(line, format, args...))
}

// Default is the catalog of the built-in families alone, which sniffs.
func Default() *Catalog {
	c, err := Read(Node{})
	if err != nil {
		panic(err) // TestBuiltInFamilies would have failed
	}
	return c
}

// Read makes the catalog that a document describes, beside the built-in
// families (L12). An empty document adds nothing. Every fault is one error,
// joined; each wraps ErrCatalog and begins with its line.
func Read(document Node) (*Catalog, error) {
	var r reader
	r.document(document)
	own := r.families(r.entries)
	families := append(own, r.families(builtin())...)
	if len(r.faults) > 0 {
		if r.untold > 0 {
			r.faults = append(r.faults, fmt.Errorf("read catalog: %w: and %d faults more", ErrCatalog, r.untold))
		}
		return nil, errors.Join(r.faults...)
	}
	slices.SortStableFunc(families, func(a, b *Family) int {
		return strings.Compare(a.pattern.rank, b.pattern.rank)
	})
	return &Catalog{families: families, sniff: !r.opaque, cache: newCache(rememberedChannels)}, nil
}

var documentKeys = []string{"families", "unknown"}

func (r *reader) document(n Node) {
	if n.Kind != Map && n.Kind != Empty {
		r.fault(n.Line, "the document is a map of %s, not %v", strings.Join(documentKeys, ", "), n.Kind)
	}
	for key, v := range r.pairs(n, "the document", documentKeys) {
		switch key {
		case "families":
			for _, f := range r.list(v, "families") {
				if len(r.entries) == maxFamilies {
					r.fault(f.Line, "there are more than %d families; use * and parameters", maxFamilies)
					return
				}
				r.family(f)
			}
		case "unknown":
			switch word := r.text(v, "unknown"); word {
			case "opaque":
				r.opaque = true
			case "sniff", "":
			default:
				words := []string{"sniff", "opaque"}
				r.fault(v.Line, "unknown is sniff or opaque, not %q%s", word, near(word, words))
			}
		}
	}
}

var familyKeys = []string{"channel", "kind", "origin", "is_error", "counters", "labels"}

func (r *reader) family(n Node) {
	if n.Kind != Map {
		r.fault(n.Line, "a family is a map of %s, not %v", strings.Join(familyKeys, ", "), n.Kind)
		return
	}
	e := entry{line: n.Line}
	var seen []string
	before := len(r.faults) + r.untold
	for key, v := range r.pairs(n, "a family", familyKeys) {
		seen = append(seen, key)
		switch key {
		case "channel":
			e.channel = r.text(v, key)
		case "kind":
			e.kind = r.kind(v)
		case "origin":
			e.origin = r.text(v, key)
		case "is_error":
			e.isError = r.boolean(v, key)
		case "counters":
			e.counters = r.texts(v, key)
		case "labels":
			e.labels = r.texts(v, key)
		}
	}
	for _, key := range []string{"channel", "kind"} {
		if !slices.Contains(seen, key) {
			r.fault(n.Line, "the family has no %s", key)
		}
	}
	if len(r.faults)+r.untold == before { // of a wrong family nothing more is said
		r.entries = append(r.entries, e)
	}
}

func (r *reader) kind(n Node) Kind {
	word := r.text(n, "kind")
	i := slices.Index(kindNames, word)
	if i < 0 {
		if word != "" {
			r.fault(n.Line, "kind is one of %s, not %q%s", strings.Join(kindNames, ", "), word, near(word, kindNames))
		}
		return Opaque
	}
	return Kind(i)
}

// pairs gives the keys of a map, each once, and tells those nobody knows.
func (r *reader) pairs(n Node, what string, known []string) iter.Seq2[string, Node] {
	return func(yield func(string, Node) bool) {
		var seen []string
		for _, p := range n.Map {
			switch {
			case !slices.Contains(known, p.Key):
				r.fault(p.Line, "%s has no key %q%s", what, p.Key, near(p.Key, known))
			case slices.Contains(seen, p.Key):
				r.fault(p.Line, "%s has the key %s twice", what, p.Key)
			case !yield(p.Key, p.Value):
				return
			}
			seen = append(seen, p.Key)
		}
	}
}

func (r *reader) list(n Node, key string) []Node {
	if n.Kind != List && n.Kind != Empty {
		r.fault(n.Line, "%s is a list, not %v", key, n.Kind)
	}
	return n.List
}

func (r *reader) text(n Node, key string) string {
	switch {
	case n.Kind != Text:
		r.fault(n.Line, "%s is a text, not %v", key, n.Kind)
	case n.Text == "":
		r.fault(n.Line, "%s is empty", key)
	}
	return n.Text
}

func (r *reader) texts(n Node, key string) (out []string) {
	for _, e := range r.list(n, key) {
		out = append(out, r.text(e, "an element of "+key))
	}
	return out
}

func (r *reader) boolean(n Node, key string) bool {
	if n.Kind != Text || (n.Text != "true" && n.Text != "false") {
		r.fault(n.Line, "%s is true or false", key)
	}
	return n.Text == "true"
}

// families checks entries of one source: what each says, and that no two have
// one form.
func (r *reader) families(entries []entry) (out []*Family) {
	lines := map[string]int{}
	for _, e := range entries {
		f := r.check(e)
		if f == nil {
			continue
		}
		if first, twice := lines[f.pattern.form]; twice {
			r.fault(e.line, "channel %q matches what the family on line %d does; take one away", e.channel, first)
		}
		lines[f.pattern.form] = e.line
		out = append(out, f)
	}
	return out
}

func (r *reader) check(e entry) *Family {
	p, err := parsePattern(e.channel)
	if err != nil {
		r.fault(e.line, "%v", err)
		return nil
	}
	f := &Family{Channel: e.channel, Kind: e.kind, IsError: e.isError, Counters: e.counters, Labels: e.labels, Line: e.line, pattern: p}
	if e.kind != TextKind && (e.origin != "" || e.isError) {
		r.fault(e.line, "channel %q is %v; origin and is_error are for text", e.channel, e.kind)
	}
	if e.kind != Typed && len(e.counters)+len(e.labels) > 0 {
		r.fault(e.line, "channel %q is %v; counters and labels are for typed: a sample brings its own", e.channel, e.kind)
	}
	f.origin = r.originParts(e, p)
	r.paths(e, p)
	return f
}

// paths checks the counters and labels of an entry.
func (r *reader) paths(e entry, p pattern) {
	for i, c := range e.counters {
		if !value.IsPath(c) || slices.Contains(e.counters[:i], c) {
			r.fault(e.line, "counter %q of channel %q is no field's path, or named twice", c, e.channel)
		}
	}
	for i, l := range e.labels {
		switch {
		case !value.IsPath(l) || slices.Contains(e.labels[:i], l):
			r.fault(e.line, "label %q of channel %q is no field's path, or named twice", l, e.channel)
		case slices.Contains(e.counters, l):
			r.fault(e.line, "%q of channel %q is a counter or a label, not both", l, e.channel)
		case slices.Contains(p.names, l):
			r.fault(e.line, "label %q of channel %q is a parameter already; rename the parameter", l, e.channel)
		case reserved(l):
			r.fault(e.line, "label %q of channel %q is a field of METRIC already", l, e.channel)
		}
	}
}

// originParts reads an origin's template.
func (r *reader) originParts(e entry, p pattern) (parts []originPart) {
	for rest := e.origin; rest != ""; {
		text, after, found := strings.Cut(rest, "{")
		if strings.Contains(text, "}") {
			r.fault(e.line, "origin %q has a } without a {", e.origin)
			return nil
		}
		if text != "" {
			parts = append(parts, originPart{text: text, param: -1})
		}
		if rest = after; !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		i := slices.Index(p.names, name)
		switch {
		case !closed:
			r.fault(e.line, "origin %q has a { without a }", e.origin)
			return nil
		case i < 0:
			r.fault(e.line, "origin %q: channel %q has no parameter {%s}%s", e.origin, e.channel, name, near(name, p.names))
			return nil
		}
		parts = append(parts, originPart{param: i})
		rest = after
	}
	return parts
}

// reserved reports whether a name is METRIC's own, or rejected there, so that
// no label may bear it (L4, L9).
func reserved(name string) bool {
	switch name {
	case "timestamp", "node", "life", "name", "type", "value", "overflow", "channel", "position":
		return true
	}
	return false
}
