package value

import (
	"fmt"
	"regexp"
	"strings"
)

// An Op is an operator of a predicate (L2, L6). The NOT_ forms, and !=, are
// the same operator with Predicate.Not.
type Op uint8

// The operators.
const (
	Eq         Op = iota // ==, !=
	Lt                   // <
	Le                   // <=
	Gt                   // >
	Ge                   // >=
	StartsWith           // STARTS_WITH, NOT_STARTS_WITH
	EndsWith             // ENDS_WITH, NOT_ENDS_WITH
	Contains             // CONTAINS, NOT_CONTAINS
	Has                  // HAS, NOT_HAS
	Matches              // MATCHES, NOT_MATCHES
	In                   // IN, NOT_IN
	IsNull               // IS NULL, IS NOT NULL
	Before               // BEFORE, NOT_BEFORE
)

var opNames = [...]string{"==", "<", "<=", ">", ">=", "STARTS_WITH", "ENDS_WITH", "CONTAINS", "HAS", "MATCHES", "IN", "IS NULL", "BEFORE"}

// String is the operator as a query spells it.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return "unknown operator"
}

// A Predicate is one comparison of a field with literals.
type Predicate struct {
	Op  Op
	Not bool
	// Exact compares strings byte for byte: node, life and channel are
	// addresses (L5.2).
	Exact bool
	// Literals are the right-hand side: none for IsNull, one or more for In,
	// exactly one for all others. Before takes an integer or time, in
	// nanoseconds.
	Literals []Value
}

// A Test is a predicate made ready. It is immutable and safe for concurrent
// use, and Match allocates nothing unless it reads a long or escaped text.
type Test struct {
	op      Op
	not     bool
	exact   bool
	lit     Value // its string folded unless exact
	needle  *Needle
	re      *regexp.Regexp
	set     map[string]struct{} // the keys of an IN list
	longest int                 // the longest of them
	ns      int64
}

// NewTest makes a predicate ready. It wraps ErrLiteral if the operator cannot
// take a literal (L6.4); a MATCHES expression that RE2 refuses is one.
func NewTest(p Predicate) (*Test, error) {
	t := &Test{op: p.Op, not: p.Not, exact: p.Exact}
	switch p.Op {
	case IsNull:
		if len(p.Literals) != 0 {
			return nil, fmt.Errorf("compile %s: %w: it takes none", p.Op, ErrLiteral)
		}
		return t, nil
	case In:
		return t, t.compileSet(p.Literals)
	}
	if len(p.Literals) != 1 {
		return nil, fmt.Errorf("compile %s: %w: it takes exactly one, not %d", p.Op, ErrLiteral, len(p.Literals))
	}
	t.lit = p.Literals[0].Clone()
	if err := t.compileLiteral(); err != nil {
		return nil, fmt.Errorf("compile %s: %w", p.Op, err)
	}
	return t, nil
}

func (t *Test) compileLiteral() (err error) {
	want, ok := "a string", t.lit.kind == String
	switch t.op {
	case Eq, Has:
		want, ok = literalKinds, isLiteral(t.lit)
	case Lt, Le, Gt, Ge:
		want, ok = "a number", t.lit.IsNumber()
	case Before:
		want = "an integer of nanoseconds"
		t.ns, ok = t.lit.Int64()
	}
	if !ok {
		return fmt.Errorf("%w: it takes %s, not %s %s", ErrLiteral, want, t.lit.kind, t.lit)
	}
	switch {
	case t.op == Matches:
		if t.re, err = regexp.Compile(t.lit.s); err != nil {
			return fmt.Errorf("%w: %w", ErrLiteral, err)
		}
	case t.op == Contains && !t.exact:
		t.needle = NewNeedle(t.lit.s)
	}
	return nil
}

const literalKinds = "a boolean, number, string or binary"

func isLiteral(v Value) bool { return v.kind >= Bool && v.kind <= Binary }

func (t *Test) compileSet(literals []Value) error {
	if len(literals) == 0 {
		return fmt.Errorf("compile IN: %w: the list is empty", ErrLiteral)
	}
	t.set = make(map[string]struct{}, len(literals))
	for _, l := range literals {
		if !isLiteral(l) {
			return fmt.Errorf("compile IN: %w: it takes %s, not %s %s", ErrLiteral, literalKinds, l.kind, l)
		}
		k := t.appendKey(nil, l)
		t.set[string(k)] = struct{}{}
		t.longest = max(t.longest, len(k))
	}
	return nil
}

func (t *Test) appendKey(dst []byte, v Value) []byte {
	if t.exact {
		return AppendKeyExact(dst, v)
	}
	return AppendKey(dst, v)
}

// Match reports whether the value satisfies the predicate. Of null every one
// is false but IS NULL, the negated ones included (L6.6).
func (t *Test) Match(v Value) bool {
	if t.op == IsNull {
		return v.IsNull() != t.not
	}
	if v.IsNull() {
		return false
	}
	if t.op == Before {
		ns, ok := Instant(v)
		return ok && (ns < t.ns) != t.not
	}
	return t.holds(v) != t.not
}

// holds is the operator without its negation, of a value that is not null. On
// a value of another type than it takes it is false (L6.4).
func (t *Test) holds(v Value) bool {
	switch t.op {
	case Eq:
		return t.equal(v)
	case In:
		return t.in(v)
	case Has:
		found := false
		v.Elements(func(e Value) bool { found = t.equal(e); return !found })
		return found
	case Lt, Le, Gt, Ge:
		return v.IsNumber() && t.ordered(v)
	}
	if v.kind != String {
		return false
	}
	switch {
	case t.op == Matches:
		return t.re.MatchString(v.s)
	case t.exact:
		return holdsExact(t.op, v.s, t.lit.s)
	case t.op == StartsWith:
		return hasPrefixFold(v.s, t.lit.s)
	case t.op == EndsWith:
		return hasSuffixFold(v.s, t.lit.s)
	}
	return t.needle.Find(v.s)
}

func (t *Test) equal(v Value) bool {
	if t.exact {
		return EqualExact(v, t.lit)
	}
	return Equal(v, t.lit)
}

func (t *Test) ordered(v Value) bool {
	c, ok := compareNumbers(v, t.lit)
	if !ok {
		return false
	}
	switch t.op {
	case Lt:
		return c < 0
	case Le:
		return c <= 0
	case Gt:
		return c > 0
	}
	return c >= 0
}

// in looks the value's key up. A text longer than every literal is in no set,
// so that no long key is ever built.
func (t *Test) in(v Value) bool {
	if len(v.s) > t.longest || !isLiteral(v) {
		return false
	}
	var buf [128]byte
	_, found := t.set[string(t.appendKey(buf[:0], v))]
	return found
}

func holdsExact(op Op, s, lit string) bool {
	switch op {
	case StartsWith:
		return strings.HasPrefix(s, lit)
	case EndsWith:
		return strings.HasSuffix(s, lit)
	}
	return strings.Contains(s, lit)
}
