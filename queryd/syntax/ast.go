package syntax

import "math/bits"

// A Pos is a place in a query.
type Pos struct {
	Offset int // in bytes, from 0
	Column int // in characters, from 1
}

// At is the place where a node begins.
func (p Pos) At() Pos { return p }

// A Node is a part of a query. The set of nodes is closed.
type Node interface {
	At() Pos
	node()
}

// A Mode is the first word of a query: what it answers with (L1).
type Mode uint8

// The modes.
const (
	Events   Mode = iota // EVENTS: typed records
	Logs                 // LOGS: text
	Metric               // METRIC: numbers over time
	Frames               // FRAMES: raw frames, gaps shown
	Latest               // LATEST: the newest frame of each channel
	Channels             // CHANNELS: the channels that exist
	Streams              // STREAMS: a row a stream
	Gaps                 // GAPS: a row a hole
)

var modeWords = []string{"EVENTS", "LOGS", "METRIC", "FRAMES", "LATEST", "CHANNELS", "STREAMS", "GAPS"}

// String is the mode's keyword.
func (m Mode) String() string { return modeWords[m] }

// A modeSet is a set of modes.
type modeSet uint16

func modes(all ...Mode) modeSet {
	var s modeSet
	for _, m := range all {
		s |= 1 << m
	}
	return s
}

func (s modeSet) has(m Mode) bool { return s&(1<<m) != 0 }

// words are the keywords of the set's modes.
func (s modeSet) words() []string {
	all := make([]string, 0, bits.OnesCount16(uint16(s)))
	for m := Events; m <= Gaps; m++ {
		if s.has(m) {
			all = append(all, m.String())
		}
	}
	return all
}

// A Query is one whole query. What is nil was not written; the order in which
// clauses were written is not kept, for it never matters (L11).
type Query struct {
	Pos
	Mode    Mode
	Scope   *Scope   // nil: every node and life
	Pattern *Pattern // nil: every channel; never nil in METRIC
	Labels  *Labels  // METRIC alone; nil: no brackets, which is not "[]" (L9.1)

	From       *From // LOGS alone, as the next four
	ErrorOnly  *Flag // ERROR ONLY
	Containing *Text // CONTAINING text
	Excluding  *Text // EXCLUDING text
	Parse      *ParseAs

	Since *Time
	Until *Time
	Zone  *Zone // nil: UTC; see Location
	Where []Condition

	Transform *Transform // METRIC alone, as the next
	Terminal  *Terminal
	Aggregate Aggregate // nil: the query is raw (L2.2)
	Every     *Duration

	Sort     []*Key
	Skip     *Count
	Take     *Count
	Select   []*Field // of all SELECT clauses together, in written order
	WithGaps *Flag    // WITH GAPS
	Stream   *Flag    // STREAM
	After    *Text    // AFTER cursor
}

// A Scope says which streams are meant: (node, life). A nil one is any.
type Scope struct {
	Pos
	Node *Name
	Life *Name
}

// A Name is a node or life, exact: n1, "n 1", "*".
type Name struct {
	Pos
	Value string
}

// A Pattern selects channels, metrics or origins: proc.*, "a b". The asterisk
// is its only wildcard, quoted or not (L5.1).
type Pattern struct {
	Pos
	Value string
}

// Labels are a metric's predicates in brackets, all of which hold:
// [core="0", device STARTS_WITH "sd"].
type Labels struct {
	Pos
	Predicates []Predicate
}

// A From lists origins, one of which matches: FROM trainer, "a b".
type From struct {
	Pos
	Origins []*Pattern
}

// A Flag is a clause without arguments: STREAM, ERROR ONLY, PER NODE.
type Flag struct{ Pos }

// A Text is a needle or a cursor: 500, "a b".
type Text struct {
	Pos
	Value string
}

// A ParseAs says how to read messages: PARSE JSON, PARSE PATTERN "<ip> <_>".
type ParseAs struct {
	Pos
	Format  Format
	Pattern string  // of PATTERN, as meant
	Pieces  []Piece // what Pattern consists of
}

// A Format is a form of message.
type Format uint8

// The formats of PARSE.
const (
	JSON    Format = iota // PARSE JSON
	Logfmt                // PARSE LOGFMT
	Capture               // PARSE PATTERN string
)

var formatWords = []string{"JSON", "LOGFMT", "PATTERN"}

// String is the format's keyword.
func (f Format) String() string { return formatWords[f] }

// A Piece is a part of a PARSE PATTERN: literal text, a capture <name>, or a
// blank <_>, whose run is passed over (L4.7). Two that are no literals never
// stand side by side.
type Piece struct {
	Literal string // not empty: this text
	Name    string // else: a capture's path, "_" for a blank
}

// A Zone is what times of the query are in: ZONE "Europe/Berlin". Location
// loads it.
type Zone struct {
	Pos
	Name string
}

// A Transform turns samples into others: RATE.
type Transform struct {
	Pos
	Func TransformFunc
}

// A TransformFunc names a transform.
type TransformFunc uint8

// The transforms (L9.3).
const (
	Rate TransformFunc = iota
	Delta
	P50
	P95
	P99
)

var transformWords = []string{"RATE", "DELTA", "P50", "P95", "P99"}

// String is the transform's keyword.
func (f TransformFunc) String() string { return transformWords[f] }

// A Terminal combines series, or with Over windows of them: AVG, MAX_OVER 5m.
type Terminal struct {
	Pos
	Func TerminalFunc
	Over *Duration // nil: no windows
}

// A TerminalFunc names what a terminal does.
type TerminalFunc uint8

// The terminals' functions (L9.7).
const (
	Avg TerminalFunc = iota
	Min
	Max
	Sum
)

var terminalWords = []string{"AVG", "MIN", "MAX", "SUM"}

// String is the function's keyword.
func (f TerminalFunc) String() string { return terminalWords[f] }

// An Aggregate makes one answer of many records (L8).
type Aggregate interface {
	Node
	aggregate()
}

type (
	// CountRows answers one row: COUNT.
	CountRows struct{ Pos }

	// CountBy counts by a field: COUNT BY f.
	CountBy struct {
		Pos
		Field *Field
	}

	// Top is the first rows of CountBy: TOP 5 BY f.
	Top struct {
		Pos
		Rows  *Count
		Field *Field
	}

	// Distinct is a field's values: DISTINCT f.
	Distinct struct {
		Pos
		Field *Field
	}

	// Group computes functions by keys: GROUP a, b COUNT, P95 ms.
	Group struct {
		Pos
		Keys  []*Field
		Funcs []*Func
	}
)

func (*CountRows) aggregate() {}
func (*CountBy) aggregate()   {}
func (*Top) aggregate()       {}
func (*Distinct) aggregate()  {}
func (*Group) aggregate()     {}

// A Func is a function of GROUP: COUNT, P95 ms.
type Func struct {
	Pos
	Kind  FuncKind
	Field *Field // nil for COUNT alone
}

// A FuncKind names a function of GROUP.
type FuncKind uint8

// The functions of GROUP (L8.3).
const (
	FuncCount FuncKind = iota
	FuncSum
	FuncAvg
	FuncMin
	FuncMax
	FuncP50
	FuncP95
	FuncP99
	FuncCountDistinct
)

var funcWords = []string{"COUNT", "SUM", "AVG", "MIN", "MAX", "P50", "P95", "P99", "COUNT_DISTINCT"}

// String is the function's keyword.
func (k FuncKind) String() string { return funcWords[k] }

// A Key is one thing to sort by: f, f DESC.
type Key struct {
	Pos
	Field *Field
	Desc  bool
}

// A Count is a number of rows: 20.
type Count struct {
	Pos
	Value uint64
}

// A Field names a field: source.name, "source.name". Outside METRIC the name
// is a path; a label may be any text (L2.3).
type Field struct {
	Pos
	Name string
}

func (*Query) node()     {}
func (*Scope) node()     {}
func (*Name) node()      {}
func (*Pattern) node()   {}
func (*Labels) node()    {}
func (*From) node()      {}
func (*Flag) node()      {}
func (*Text) node()      {}
func (*ParseAs) node()   {}
func (*Zone) node()      {}
func (*Transform) node() {}
func (*Terminal) node()  {}
func (*CountRows) node() {}
func (*CountBy) node()   {}
func (*Top) node()       {}
func (*Distinct) node()  {}
func (*Group) node()     {}
func (*Func) node()      {}
func (*Key) node()       {}
func (*Count) node()     {}
func (*Field) node()     {}
