package catalog

import (
	"strings"
)

// A Kind is what the frames of a channel are.
type Kind uint8

// The kinds (L12).
const (
	// Opaque is bytes that nobody reads.
	Opaque Kind = iota
	// Typed is a record: a JSON or MessagePack map.
	Typed
	// TextKind is a line, or several.
	TextKind
	// Sample is a record of the form {name, type, value, labels} or {name,
	// type: histogram, bounds, counts}.
	Sample
)

var kindNames = []string{"opaque", "typed", "text", "sample"}

// String is the kind as a catalog writes it.
func (k Kind) String() string { return kindNames[k] }

// Field is the kind as the field of that name shows it: a sample is a typed
// record (L4).
func (k Kind) Field() string {
	if k == Sample {
		return Typed.String()
	}
	return k.String()
}

// A Family is a set of channels that mean the same. It never changes.
type Family struct {
	Channel  string // the pattern
	Kind     Kind
	IsError  bool     // every line is an error's (text)
	Counters []string // the paths whose numbers only rise (typed)
	Labels   []string // the paths that tell series apart (typed)
	Line     int      // where it stands in its file, 0 if it is built in

	pattern pattern
	origin  []originPart
}

// An originPart is literal text, or the parameter of that number.
type originPart struct {
	text  string
	param int // -1 if it is text
}

// IsCounter reports whether the numbers at a path are a counter's.
func (f *Family) IsCounter(path string) bool {
	if f == nil {
		return false
	}
	for _, c := range f.Counters {
		if c == path {
			return true
		}
	}
	return false
}

// class is the class of a channel that matched.
func (f *Family) class(channel string, m *match) *Class {
	c := &Class{Family: f, Kind: f.Kind, IsError: f.IsError, Origin: channel, Stem: channel}
	if n := len(f.pattern.names); n > 0 {
		c.Params = make([]Param, n)
		for i, name := range f.pattern.names {
			c.Params[i] = Param{Name: name, Value: channel[m[i].from:m[i].to]}
		}
		c.Stem = f.stem(channel, m)
	}
	if f.origin != nil {
		var b strings.Builder
		for _, p := range f.origin {
			if p.param >= 0 {
				p.text = c.Params[p.param].Value
			}
			b.WriteString(p.text)
		}
		c.Origin = b.String()
	}
	return c
}

// stem is the channel without the segments that were parameters.
func (f *Family) stem(channel string, m *match) string {
	var kept []string
	at, param := 0, 0
	for segment := range strings.SplitSeq(channel, ".") {
		if param < len(f.pattern.names) && m[param].from == at {
			param++
		} else {
			kept = append(kept, segment)
		}
		at += len(segment) + 1
	}
	return strings.Join(kept, ".")
}
