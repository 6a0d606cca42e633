package view

import (
	"math"
	"strings"

	"datastream/queryd/catalog"
	"datastream/queryd/value"
	"datastream/subjects"
)

// A Mode is what the rows of a Run are made of (L1).
type Mode uint8

// The modes.
const (
	Events Mode = iota
	Logs
	Frames
	Latest
	Channels
	Streams
	Gaps
)

// reads reports whether any frame of a channel can be a record of the mode.
func (m Mode) reads(k *catalog.Class) bool {
	switch m {
	case Events:
		return k.MayHoldRecords()
	case Logs:
		return k.MayHoldText()
	}
	return true
}

// accounted reports whether the mode's rows are made of accounts.
func (m Mode) accounted() bool { return m == Streams || m == Gaps }

// An Order is the commit order in which a Run wants its frames.
type Order uint8

// The orders. A Run that holds its rows anyway takes either.
const (
	OldestFirst Order = iota
	NewestFirst
)

// A Spec says what a Run does. It is a value without state.
type Spec struct {
	Mode     Mode
	Catalog  *catalog.Catalog
	Selector subjects.Selector
	NoStream bool     // the scope names what no stream can be: nothing matches
	From     []string // LOGS: patterns of origins; none: all (L5.3)

	// Since and Until are the times of the records, Until exclusive and with
	// HasUntil alone (L3.2).
	Since, Until int64
	HasUntil     bool
	Now          int64 // the evaluation time: what is alive (L4)

	Wants []value.Want // the payload paths that Path refers to, in order
	Where []*Cond      // all hold

	Group *Group    // nil: a raw query
	Sort  []SortKey // nil: the order in which records come

	Order    Order
	Skip     uint64
	Take     uint64 // with HasTake
	HasTake  bool
	Last     bool     // TAKE keeps the last rows, not the first (L7.1)
	WithGaps bool     // gap rows stand among the records (L4.4)
	Select   []string // nil: every field
}

// from reports whether the origin is asked for, ASCII folded (L5.3).
func (s *Spec) from(origin string) bool {
	if len(s.From) == 0 {
		return true
	}
	folded := foldASCII(origin)
	for _, p := range s.From {
		if subjects.Pattern(foldASCII(p)).Match(folded) {
			return true
		}
	}
	return false
}

func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r | 0x20
		}
		return r
	}, s)
}

// inTime reports whether an instant lies in the times.
func (s *Spec) inTime(ns int64) bool {
	return ns >= s.Since && (!s.HasUntil || ns < s.Until)
}

// best is how many rows SKIP and TAKE look at, the most there are without
// TAKE.
func (s *Spec) best() uint64 {
	if !s.HasTake || s.Take > math.MaxUint64-s.Skip {
		return math.MaxUint64
	}
	return s.Skip + s.Take
}

// Accounts reports whether a Run wants the accounts of the streams in the
// scope, before any frame.
func (s *Spec) Accounts() bool { return s.Mode.accounted() || s.WithGaps }

// Watch is the Spec of what follows the initial set of a stream: the same
// records, without order and limits (S2.3).
func (s *Spec) Watch() *Spec {
	w := *s
	w.Sort, w.Skip, w.HasTake, w.Last, w.Order = nil, 0, false, false, OldestFirst
	w.WithGaps = false // gaps of the watch are its follower's to find (S2.6)
	return &w
}
