package value

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func TestValueIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Value{}); n > 32 {
		t.Errorf("a value takes %d bytes, promised are 32", n)
	}
}

// TestNumbersCompareByExactValue is promise 3 (L6.2) against arbitrary
// precision.
func TestNumbersCompareByExactValue(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, a, b Value) {
		x, xok := exactNumber(a)
		y, yok := exactNumber(b)
		if !xok || !yok {
			return
		}
		if c := Compare(a, b); c != x.Cmp(y) {
			t.Fatalf("%v against %v: %d, exactly %d", a, b, c, x.Cmp(y))
		}
		if Equal(a, b) != (x.Cmp(y) == 0) {
			t.Fatalf("%v equal %v: %v", a, b, Equal(a, b))
		}
	}
	for _, a := range numbers {
		for _, b := range numbers {
			check(t, a, b)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, genNumber().Draw(t, "a"), genNumber().Draw(t, "b")) })
}

// TestIntegersKnowTheirKind: an integer that fits int64 is never a Uint.
func TestIntegersKnowTheirKind(t *testing.T) {
	for _, c := range []struct {
		v    Value
		kind Kind
	}{
		{OfUint(0), Int}, {OfUint(math.MaxInt64), Int}, {OfUint(1 << 63), Uint}, {OfInt(-1), Int}, {OfTime(5), Time},
	} {
		if c.v.Kind() != c.kind || !c.v.IsInteger() || !c.v.IsNumber() {
			t.Errorf("%v is of kind %v", c.v, c.v.Kind())
		}
	}
	if _, ok := OfUint(1 << 63).Int64(); ok {
		t.Error("2^63 is no int64")
	}
	if _, ok := OfInt(-1).Uint64(); ok {
		t.Error("-1 is no uint64")
	}
	if n, ok := OfUint(math.MaxUint64).Uint64(); !ok || n != math.MaxUint64 {
		t.Error("2^64-1 is lost")
	}
	if f, ok := OfInt(3).Float64(); !ok || f != 3 {
		t.Error("3 has no float")
	}
	if _, ok := OfString("1").Float64(); ok {
		t.Error("text is no number")
	}
}

// TestTypesAreNeverEqual is L6.3.
func TestTypesAreNeverEqual(t *testing.T) {
	vs := []Value{{}, OfBool(true), OfInt(1), OfString("1"), OfBinary([]byte("1")), OfArray(OfString("1"))}
	for i, a := range vs {
		for j, b := range vs {
			if Equal(a, b) != (i == j) {
				t.Errorf("%v equal %v: %v", a, b, Equal(a, b))
			}
			if c := Compare(a, b); (c < 0) != (i < j) || (c > 0) != (i > j) {
				t.Errorf("%v against %v: %d; the order of types is that of this list (L7)", a, b, c)
			}
		}
	}
}

// TestStringsFoldASCIIAlone is L6.1: é and É differ, I and i do not.
func TestStringsFoldASCIIAlone(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{"Alice", "aLICE", true}, {"é", "É", false}, {"I", "i", true}, {"İ", "i", false}, {"@", "`", false}, {"[", "{", false},
		{"alice ", "alice", false}, {"\u212a", "k", false}, {"\u017f", "s", false}, {"", "", true},
		{"x' OR '1'='1", "X' or '1'='1", true}, {"x' OR '1'='1", "x' OR '1'='2", false},
	} {
		if Equal(OfString(c.a), OfString(c.b)) != c.equal {
			t.Errorf("%q equal %q: %v", c.a, c.b, !c.equal)
		}
	}
	if EqualExact(OfString("N1"), OfString("n1")) || !EqualExact(OfString("n1"), OfString("n1")) || !EqualExact(OfInt(1), OfFloat(1)) {
		t.Error("addresses are compared byte for byte (L5.2)")
	}
}

// TestEveryByteFoldsInEveryPlace: the word at a time agrees with the byte.
func TestEveryByteFoldsInEveryPlace(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			a := bytes.Repeat([]byte{'x'}, 20)
			b := bytes.Repeat([]byte{'X'}, 20)
			for d := range 256 {
				a[at], b[at] = byte(c), byte(d)
				if got := equalFold(string(a), string(b)); got != (lower[c] == lower[d]) {
					t.Fatalf("bytes %#x and %#x at %d: equal %v", c, d, at, got)
				}
			}
		}
	}
}

// TestEqualIsL6ByItsWords is promise 3 against the naive model.
func TestEqualIsL6ByItsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genValue(2).Draw(t, "a"), genValue(2).Draw(t, "b")
		if Equal(a, b) != naiveEqual(a, b) || !Equal(a, a) {
			t.Fatalf("%v equal %v: %v", a, b, Equal(a, b))
		}
	})
}

// TestCompareIsATotalOrder is promise 4 (L7).
func TestCompareIsATotalOrder(t *testing.T) {
	sign := func(c int) int { return min(max(c, -1), 1) }
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := genValue(1).Draw(t, "a"), genValue(1).Draw(t, "b"), genValue(1).Draw(t, "c")
		if sign(Compare(a, b)) != -sign(Compare(b, a)) || Compare(a, a) != 0 {
			t.Fatalf("%v, %v: %d and %d", a, b, Compare(a, b), Compare(b, a))
		}
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Fatalf("%v ≤ %v ≤ %v, and yet the first comes last", a, b, c)
		}
		if Compare(a, b) == 0 && !Equal(a, b) {
			t.Fatalf("%v and %v tie and differ", a, b)
		}
	})
}

// TestOrderCases are the cases of L7.
func TestOrderCases(t *testing.T) {
	for name, want := range map[string][]Value{
		"texts":   {OfString("A"), OfString("a"), OfString("B"), OfString("b"), OfString("ba")},
		"numbers": {OfFloat(1), OfFloat(2.5), OfInt(9), OfInt(10), OfInt(1<<53 + 1), OfFloat(math.Inf(1)), OfFloat(math.NaN())},
		"types":   {{}, OfBool(false), OfBool(true), OfInt(5), OfString("x"), OfBinary([]byte{1}), OfArray(OfInt(1))},
		"arrays":  {OfArray(), OfArray(OfInt(1)), OfArray(OfInt(2)), OfArray(OfFloat(0)), OfArray(OfInt(1), OfInt(1))},
	} {
		got := slices.Clone(want)
		slices.Reverse(got)
		slices.SortStableFunc(got, Compare)
		for i := range want {
			if got[i].String() != want[i].String() {
				t.Errorf("%s: %v, want %v", name, got, want)
				break
			}
		}
	}
}
