package subjects

import (
	"fmt"
	"strings"
)

// MaxPrefix bounds the prefix, in bytes (P2).
const MaxPrefix = 64

// DefaultPrefix is the prefix when none is configured.
const DefaultPrefix = "ds"

// A Space is one pipe's part of the subject space: everything under one
// prefix. The zero Space is not usable; make one with NewSpace.
type Space struct {
	prefix string // with its final dot
}

// Default is the space under DefaultPrefix.
func Default() Space { return Space{prefix: DefaultPrefix + "."} }

// NewSpace checks a prefix: one or more tokens of a-z, 0-9 and '-', joined by
// dots, at most 64 bytes. So the names derived from it cannot collide. It
// wraps ErrName.
func NewSpace(prefix string) (Space, error) {
	if err := checkLen("prefix", prefix, MaxPrefix); err != nil {
		return Space{}, err
	}
	for _, token := range strings.Split(prefix, ".") {
		if token == "" || strings.Trim(token, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return Space{}, fmt.Errorf("%w: the prefix %q must be dotted tokens of a-z, 0-9 and '-'", ErrName, prefix)
		}
	}
	return Space{prefix: prefix + "."}, nil
}

// Prefix is the prefix as it was given to NewSpace.
func (s Space) Prefix() string { return strings.TrimSuffix(s.prefix, ".") }

// StreamName is the default name of the JetStream stream: DATASTREAM for the
// prefix ds, else derived from the prefix, injectively (P2).
func (s Space) StreamName() string {
	if s == Default() {
		return "DATASTREAM"
	}
	return "DATASTREAM_" + strings.ToUpper(strings.ReplaceAll(s.Prefix(), ".", "_"))
}

// A class is the token after the prefix: what a subject is for.
type class string

// The classes of P2.
const (
	classSubmit  class = "submit."
	classFrame   class = "frame."
	classBeat    class = "beat."
	classRepair  class = "repair."
	classSettled class = "settled."
	classStore   class = "store."
)

// Submit is where any client submits to a channel of a node.
func (s Space) Submit(n Node, c Channel) string {
	return s.prefix + string(classSubmit) + EncodeNode(n) + "." + EncodeChannel(c)
}

// Frame is where a node's mux publishes positioned frames.
func (s Space) Frame(st Stream, c Channel) string { return s.channel(classFrame, st, c) }

// Store is where ingest commits frames.
func (s Space) Store(st Stream, c Channel) string { return s.channel(classStore, st, c) }

// Beat is where a node's mux says how it is.
func (s Space) Beat(st Stream) string { return s.stream(classBeat, st) }

// Repair is where a node's mux is asked to send frames again.
func (s Space) Repair(st Stream) string { return s.stream(classRepair, st) }

// Settled is where ingest says how far a stream is committed or given up.
func (s Space) Settled(st Stream) string { return s.stream(classSettled, st) }

func (s Space) stream(c class, st Stream) string {
	return s.prefix + string(c) + EncodeNode(st.Node) + "." + st.Life.String()
}

func (s Space) channel(c class, st Stream, ch Channel) string {
	return s.stream(c, st) + "." + EncodeChannel(ch)
}

// AllSubmits is the filter for submissions to every node.
func (s Space) AllSubmits() string { return s.prefix + string(classSubmit) + ">" }

// NodeSubmits is the filter for submissions to one node.
func (s Space) NodeSubmits(n Node) string {
	return s.prefix + string(classSubmit) + EncodeNode(n) + ".>"
}

// AllFrames is the filter for frames on their way to ingest.
func (s Space) AllFrames() string { return s.prefix + string(classFrame) + ">" }

// AllBeats is the filter for every mux's beats.
func (s Space) AllBeats() string { return s.prefix + string(classBeat) + "*.*" }

// AllRepairs is the filter for repair requests to every node.
func (s Space) AllRepairs() string { return s.prefix + string(classRepair) + "*.*" }

// NodeRepairs is the filter for repair requests to one node's lives.
func (s Space) NodeRepairs(n Node) string {
	return s.prefix + string(classRepair) + EncodeNode(n) + ".*"
}

// AllSettled is the filter for ingest's announcements about every stream.
func (s Space) AllSettled() string { return s.prefix + string(classSettled) + "*.*" }

// NodeSettled is the filter for ingest's announcements about one node.
func (s Space) NodeSettled(n Node) string {
	return s.prefix + string(classSettled) + EncodeNode(n) + ".*"
}

// AllStored is the filter for every committed frame.
func (s Space) AllStored() string { return s.prefix + string(classStore) + ">" }
