package catalog

import (
	"strings"
	"unicode/utf8"

	"datastream/queryd/value"
	"datastream/subjects"
)

// A Catalog knows what every channel means.
type Catalog struct {
	families []*Family // the one that wins first
	sniff    bool
	cache    *cache
}

// A Class is what one channel means. It is shared and never changes.
type Class struct {
	// Family is the family that the channel belongs to, nil if it is unknown.
	Family *Family
	// Kind is what the catalog says; Opaque for an unknown channel, sniffed
	// or not (L12.1).
	Kind Kind
	// Params are the parameters of the family's pattern and what they stood
	// for, in order: the first labels of a series after node (L9).
	Params []Param
	// Origin is whose text it is (L5.3).
	Origin  string
	IsError bool
	// Stem is the channel without its parameters' segments: what the names of
	// its metrics begin with (L9).
	Stem string

	sniffed bool
}

// A Param is a parameter and what it stood for.
type Param struct{ Name, Value string }

// Classify gives the class of a channel. Of a channel asked for lately it only
// looks it up.
func (c *Catalog) Classify(channel subjects.Channel) *Class {
	if k := c.cache.get(string(channel)); k != nil {
		return k
	}
	name := strings.Clone(string(channel)) // may be a piece of something large
	k := c.classify(name)
	c.cache.put(name, k)
	return k
}

func (c *Catalog) classify(channel string) *Class {
	var m match
	for _, f := range c.families {
		if f.pattern.match(channel, &m) {
			return f.class(channel, &m)
		}
	}
	return &Class{Origin: channel, Stem: channel, sniffed: c.sniff}
}

// Families lists the families, those that win first.
func (c *Catalog) Families() []*Family { return c.families }

// Remembered is how many channels' classes are at hand, and how many were
// forgotten for want of room.
func (c *Catalog) Remembered() (held int, forgotten uint64) { return c.cache.stats() }

// MayHoldRecords reports whether any payload of the channel can be a record,
// for EVENTS, LATEST and METRIC: if not, nothing of it need be read.
func (k *Class) MayHoldRecords() bool { return k.Kind == Typed || k.Kind == Sample || k.sniffed }

// MayHoldText reports whether any payload of the channel can be text, for LOGS.
func (k *Class) MayHoldText() bool { return k.Kind == TextKind || k.sniffed }

// Sniffed reports whether each payload of the channel tells what it is: as a
// record it counts only if it decodes.
func (k *Class) Sniffed() bool { return k.sniffed }

// IsRecord reports whether a payload of the channel is a record. One that is
// declared typed is, even if it does not decode: it has the field raw then
// (L4.1). A caller that decodes anyway need not ask: a sniffed payload is a
// record exactly if decoding gives no error.
func (k *Class) IsRecord(payload []byte) bool {
	if k.sniffed {
		return SniffMap(payload)
	}
	return k.MayHoldRecords()
}

// IsText reports whether a payload of the channel is text.
func (k *Class) IsText(payload []byte) bool {
	if k.sniffed {
		return SniffText(payload)
	}
	return k.MayHoldText()
}

// IsCounter reports whether the numbers at a path are a counter's.
func (k *Class) IsCounter(path string) bool { return k.Family.IsCounter(path) }

// Labels are the paths that tell a record's series apart.
func (k *Class) Labels() []string {
	if k.Family == nil {
		return nil
	}
	return k.Family.Labels
}

// MetricName is the name of the metric at a path of the channel's records
// (L9).
func (k *Class) MetricName(path string) string {
	if k.Stem == "" {
		return path
	}
	return k.Stem + "." + path
}

// SniffMap reports whether a payload is a JSON or MessagePack map that
// decodes.
func SniffMap(payload []byte) bool {
	return value.FormOf(payload) != value.NoMap && value.Check(payload) == nil
}

// SniffText reports whether a payload is text: UTF-8, JSON included. No
// MessagePack map is: none begins as UTF-8 can.
func SniffText(payload []byte) bool { return utf8.Valid(payload) }
