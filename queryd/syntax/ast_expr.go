package syntax

// A Condition is what one WHERE says; all of a query's hold (L2.4). It is an
// Expr over a record's fields, or one of the cross-type conditions
// MetricHolds, EventExists and LogExists (L10).
type Condition interface {
	Node
	condition()
}

// An Expr is an Or, an And or a Predicate.
type Expr interface {
	Condition
	expr()
}

// A Predicate is a Compare, In, IsNull or Before.
type Predicate interface {
	Expr
	// On is the field that the predicate is about.
	On() *Field
}

type (
	// Or holds when one of its terms does: a == 1 OR b == 2. It has two terms
	// or more, none of them an Or.
	Or struct {
		Pos
		Terms []Expr
	}

	// And holds when all of its terms do: a == 1 AND (b == 2 OR c == 3). It
	// has two terms or more, none of them an And.
	And struct {
		Pos
		Terms []Expr
	}

	// Compare compares a field: a >= 1, a NOT_CONTAINS "x".
	Compare struct {
		Pos
		Field *Field
		Op    Op
		Value Literal
	}

	// In finds a field's value in a list: a IN (1, "x"), a NOT_IN (1).
	In struct {
		Pos
		Field *Field
		Not   bool
		List  []Literal // not empty
	}

	// IsNull asks for absence: a IS NULL, a IS NOT NULL.
	IsNull struct {
		Pos
		Field *Field
		Not   bool
	}

	// Before compares instants: a BEFORE 1h ago, a NOT_BEFORE today.
	Before struct {
		Pos
		Field *Field
		Not   bool
		Time  *Time
	}
)

// On is the compared field.
func (c *Compare) On() *Field { return c.Field }

// On is the field looked for.
func (i *In) On() *Field { return i.Field }

// On is the field that may be absent.
func (i *IsNull) On() *Field { return i.Field }

// On is the field that holds an instant.
func (b *Before) On() *Field { return b.Field }

type (
	// MetricHolds is true while a metric's sample compares so:
	// METRIC (n1, *) cpu[core="0"] > 80 PER NODE.
	MetricHolds struct {
		Pos
		Scope   *Scope
		Pattern *Pattern
		Labels  *Labels // nil: no brackets
		Op      Op      // Equal … AtMost
		Value   Literal // an Int, Uint or Float
		PerNode *Flag
	}

	// EventExists is true near an event: EVENT kacs.* EXISTS.
	EventExists struct {
		Pos
		Scope   *Scope
		Pattern *Pattern
		PerNode *Flag
	}

	// LogExists is true near a line of an origin:
	// LOG loregd CONTAINING "error" EXISTS.
	LogExists struct {
		Pos
		Scope      *Scope
		Origin     *Pattern
		Containing *Text // nil: any line
		PerNode    *Flag
	}
)

// An Op is a comparison of a field with a literal.
type Op uint8

// The operators: six that compare sizes, and five on texts and arrays, each
// of which has its opposite.
const (
	Equal         Op = iota // ==
	Unequal                 // !=
	Greater                 // >
	AtLeast                 // >=
	Less                    // <
	AtMost                  // <=
	StartsWith              // STARTS_WITH
	EndsWith                // ENDS_WITH
	Contains                // CONTAINS
	Has                     // HAS
	Matches                 // MATCHES
	NotStartsWith           // NOT_STARTS_WITH
	NotEndsWith             // NOT_ENDS_WITH
	NotContains             // NOT_CONTAINS
	NotHas                  // NOT_HAS
	NotMatches              // NOT_MATCHES
)

var opWords = []string{
	"==", "!=", ">", ">=", "<", "<=",
	"STARTS_WITH", "ENDS_WITH", "CONTAINS", "HAS", "MATCHES",
	"NOT_STARTS_WITH", "NOT_ENDS_WITH", "NOT_CONTAINS", "NOT_HAS", "NOT_MATCHES",
}

// String is the operator as written.
func (o Op) String() string { return opWords[o] }

// Orders reports whether the operator needs an order: > >= < <=.
func (o Op) Orders() bool { return Greater <= o && o <= AtMost }

// Positive is the operator without its NOT_, and whether it had one. The
// opposite of == counts as an operator of its own.
func (o Op) Positive() (Op, bool) {
	if o >= NotStartsWith {
		return o - NotStartsWith + StartsWith, true
	}
	return o, false
}

// takesText reports whether the operator compares with texts alone (L6.4).
func (o Op) takesText() bool {
	positive, _ := o.Positive()
	return positive >= StartsWith && positive != Has
}

// A Literal is a value as written.
type Literal interface {
	Node
	literal()
}

type (
	// Bool is true or false.
	Bool struct {
		Pos
		Value bool
	}

	// Int is a negative integer: -1.
	Int struct {
		Pos
		Value int64
	}

	// Uint is any other integer: 42, 0x1F.
	Uint struct {
		Pos
		Value uint64
	}

	// Float is a finite number with a point or an exponent: 1.5, -2e-3.
	Float struct {
		Pos
		Value float64
	}

	// Str is a text: "a b", or a bare word.
	Str struct {
		Pos
		Value string
	}

	// Bytes is a binary, its bytes kept in a string: x"01ff".
	Bytes struct {
		Pos
		Value string
	}
)

func (*Or) node()          {}
func (*And) node()         {}
func (*Compare) node()     {}
func (*In) node()          {}
func (*IsNull) node()      {}
func (*Before) node()      {}
func (*MetricHolds) node() {}
func (*EventExists) node() {}
func (*LogExists) node()   {}
func (*Bool) node()        {}
func (*Int) node()         {}
func (*Uint) node()        {}
func (*Float) node()       {}
func (*Str) node()         {}
func (*Bytes) node()       {}

func (*Or) condition()          {}
func (*And) condition()         {}
func (*Compare) condition()     {}
func (*In) condition()          {}
func (*IsNull) condition()      {}
func (*Before) condition()      {}
func (*MetricHolds) condition() {}
func (*EventExists) condition() {}
func (*LogExists) condition()   {}

func (*Or) expr()      {}
func (*And) expr()     {}
func (*Compare) expr() {}
func (*In) expr()      {}
func (*IsNull) expr()  {}
func (*Before) expr()  {}

func (*Bool) literal()  {}
func (*Int) literal()   {}
func (*Uint) literal()  {}
func (*Float) literal() {}
func (*Str) literal()   {}
func (*Bytes) literal() {}
