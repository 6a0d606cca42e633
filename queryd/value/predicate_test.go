package value

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustTest(t interface{ Fatal(...any) }, p Predicate) *Test {
	x, err := NewTest(p)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestPredicateCases are L6 and L3.3, case by case: the numbers of the records
// that match.
func TestPredicateCases(t *testing.T) {
	alice := []Value{OfString("Alice"), OfString("alice"), OfString("alice "), OfBinary([]byte("alice")), OfArray(OfString("alice")), OfInt(7), OfFloat(7), {}}
	big := []Value{OfInt(9007199254740993)}
	two := []Value{OfInt(2)}
	nan := []Value{OfFloat(math.NaN())}
	text := []Value{OfString("text"), OfString("Some TEXT"), OfString("textual"), OfInt(5), {}}
	groups := []Value{OfArray(OfString("S-1"), OfString("S-2")), OfString("S-2"), OfArray(OfArray(OfString("S-2"))), {}, OfArray()}
	times := []Value{OfString("2026-01-01T00:00:00Z"), OfInt(1767225600), OfInt(1767225601), OfString("soon"), OfBool(true), {}}
	is := func(op Op, lits ...Value) Predicate { return Predicate{Op: op, Literals: lits} }
	not := func(op Op, lits ...Value) Predicate { return Predicate{Op: op, Not: true, Literals: lits} }
	for _, c := range []struct {
		p    Predicate
		of   []Value
		want string
	}{
		{is(Eq, OfString("ALICE")), alice, "1 2"},
		{is(Eq, OfBinary([]byte("alice"))), alice, "4"},
		{is(Eq, OfInt(7)), alice, "6 7"},
		{is(IsNull), alice, "8"},
		{not(IsNull), alice, "1 2 3 4 5 6 7"},
		{not(Eq, OfString("alice")), alice, "3 4 5 6 7"},
		{Predicate{Op: Eq, Exact: true, Literals: []Value{OfString("alice")}}, alice, "2"},
		{Predicate{Op: StartsWith, Exact: true, Literals: []Value{OfString("a")}}, alice, "2 3"},
		{Predicate{Op: EndsWith, Exact: true, Literals: []Value{OfString("E")}}, alice, ""},
		{Predicate{Op: Contains, Exact: true, Not: true, Literals: []Value{OfString("A")}}, alice, "2 3 4 5 6 7"},
		{Predicate{Op: In, Exact: true, Literals: []Value{OfString("Alice"), OfFloat(7)}}, alice, "1 6 7"},
		{is(In, OfString("ALICE"), OfInt(7)), alice, "1 2 6 7"},
		{not(In, OfString("x")), alice, "1 2 3 4 5 6 7"},
		{not(Eq, OfString("x")), alice, "1 2 3 4 5 6 7"},
		{is(Eq, OfFloat(9007199254740992)), big, ""},
		{is(Gt, OfFloat(9007199254740992)), big, "1"},
		{is(Eq, OfFloat(2.5)), two, ""},
		{is(Le, OfFloat(2.5)), two, "1"},
		{is(Ge, OfFloat(2)), two, "1"},
		{is(Lt, OfInt(2)), two, ""},
		{is(Eq, OfString("2")), two, ""},
		{not(Eq, OfString("2")), two, "1"},
		{is(Lt, OfInt(5)), nan, ""}, {is(Le, OfInt(5)), nan, ""}, {is(Gt, OfInt(5)), nan, ""}, {is(Ge, OfInt(5)), nan, ""},
		{is(Eq, OfInt(0)), nan, ""}, {not(Eq, OfInt(5)), nan, "1"},
		{is(Eq, OfFloat(math.NaN())), nan, "1"}, {is(In, OfFloat(math.NaN())), nan, "1"},
		{is(Gt, OfInt(4)), text, "4"},
		{is(StartsWith, OfString("Text")), text, "1 3"}, {not(StartsWith, OfString("Text")), text, "2 4"},
		{is(EndsWith, OfString("text")), text, "1 2"}, {not(EndsWith, OfString("text")), text, "3 4"},
		{is(Contains, OfString("E t")), text, "2"}, {not(Contains, OfString("E t")), text, "1 3 4"},
		{is(Contains, OfString("")), text, "1 2 3"}, {is(StartsWith, OfString("")), text, "1 2 3"},
		{is(Matches, OfString("^te")), text, "1 3"}, {is(Matches, OfString("TEXT")), text, "2"},
		{is(Matches, OfString("(?i)TEXT$")), text, "1 2"}, {not(Matches, OfString("TEXT")), text, "1 3 4"},
		{is(Has, OfString("s-2")), groups, "1"}, {not(Has, OfString("s-2")), groups, "2 3 5"},
		{is(Before, OfInt(1767225601e9)), times, "1 2"}, {not(Before, OfTime(1767225601e9)), times, "3"},
	} {
		x := mustTest(t, c.p)
		var got []string
		for i, v := range c.of {
			if x.Match(v) {
				got = append(got, fmt.Sprint(i+1))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("not %v %v %v over %v: %q, want %q", c.p.Not, c.p.Op, c.p.Literals, c.of, s, c.want)
		}
	}
}

// TestNullSatisfiesNothing is L6.6: of null every operator is false, and its
// negation is, too.
func TestNullSatisfiesNothing(t *testing.T) {
	for op := Eq; op <= Before; op++ {
		lit := OfString("x")
		switch op {
		case IsNull:
			continue
		case Lt, Le, Gt, Ge, Before:
			lit = OfInt(1)
		}
		for _, not := range []bool{false, true} {
			if mustTest(t, Predicate{Op: op, Not: not, Literals: []Value{lit}}).Match(Value{}) {
				t.Errorf("null satisfies %v, not %v", op, not)
			}
		}
	}
}

// TestNegationIsTheRest: of any value that is not null, exactly one of X and
// NOT_X is true, BEFORE on what is no instant apart (L3.3, L6.6).
func TestNegationIsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(2).Draw(t, "value")
		op := rapid.SampledFrom([]Op{Eq, StartsWith, EndsWith, Contains, Has, In, Lt, Ge}).Draw(t, "op")
		lit := OfString(genText().Draw(t, "text"))
		if op == Lt || op == Ge {
			lit = genNumber().Draw(t, "number")
		}
		p := Predicate{Op: op, Literals: []Value{lit}}
		yes := mustTest(t, p).Match(v)
		p.Not = true
		if no := mustTest(t, p).Match(v); yes == no && !v.IsNull() {
			t.Fatalf("%v of %v and %v: both %v", op, v, lit, yes)
		}
	})
}

// TestInIsEqual: IN is == with each of its literals.
func TestInIsEqual(t *testing.T) {
	literal := genValue(0).Filter(func(v Value) bool { return !v.IsNull() })
	rapid.Check(t, func(t *rapid.T) {
		lits := rapid.SliceOfN(literal, 1, 6).Draw(t, "literals")
		v := rapid.OneOf(genValue(1), rapid.SampledFrom(lits)).Draw(t, "value")
		want := false
		for _, l := range lits {
			want = want || (!v.IsNull() && naiveEqual(v, l))
		}
		if mustTest(t, Predicate{Op: In, Literals: lits}).Match(v) != want {
			t.Fatalf("%v in %v: %v", v, lits, !want)
		}
	})
}

// TestLiteralsThatOperatorsRefuse is L6.4: what was wrong is said.
func TestLiteralsThatOperatorsRefuse(t *testing.T) {
	for _, c := range []struct {
		p    Predicate
		want string
	}{
		{Predicate{Op: Gt, Literals: []Value{OfString("x")}}, `compile >: wrong literal: it takes a number, not string "x"`},
		{Predicate{Op: Contains, Literals: []Value{OfInt(5)}}, `compile CONTAINS: wrong literal: it takes a string, not integer 5`},
		{Predicate{Op: Eq, Literals: []Value{{}}}, `compile ==: wrong literal: it takes a boolean, number, string or binary, not null null`},
		{Predicate{Op: Eq}, `compile ==: wrong literal: it takes exactly one, not 0`},
		{Predicate{Op: In}, `compile IN: wrong literal: the list is empty`},
		{Predicate{Op: In, Literals: []Value{OfArray()}}, `compile IN: wrong literal: it takes a boolean, number, string or binary, not array []`},
		{Predicate{Op: IsNull, Literals: []Value{OfInt(1)}}, `compile IS NULL: wrong literal: it takes none`},
		{Predicate{Op: Before, Literals: []Value{OfFloat(1)}}, `compile BEFORE: wrong literal: it takes an integer of nanoseconds, not float 1.0`},
		{Predicate{Op: Matches, Literals: []Value{OfString("(")}}, "compile MATCHES: wrong literal: error parsing regexp: missing closing ): `(`"},
	} {
		if _, err := NewTest(c.p); !errors.Is(err, ErrLiteral) || err.Error() != c.want {
			t.Errorf("%v %v:\n got %v\nwant %s", c.p.Op, c.p.Literals, err, c.want)
		}
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	vs := []Value{OfInt(5), OfString("a text of some length, as messages are"), OfFloat(2.5), OfArray(OfString("x"), OfInt(1))}
	for _, p := range []Predicate{
		{Op: Eq, Literals: []Value{OfString("A text")}}, {Op: Contains, Literals: []Value{OfString("LENGTH")}},
		{Op: In, Literals: []Value{OfString("a text of some length, as messages are!"), OfInt(6)}}, {Op: Gt, Literals: []Value{OfInt(1)}},
		{Op: Has, Literals: []Value{OfInt(1)}}, {Op: Before, Literals: []Value{OfInt(1)}},
	} {
		x := mustTest(t, p)
		if a := testing.AllocsPerRun(100, func() {
			for _, v := range vs {
				x.Match(v)
			}
		}); a != 0 {
			t.Errorf("%v: %v allocations", p.Op, a)
		}
	}
}
