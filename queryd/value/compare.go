package value

import (
	"bytes"
	"cmp"
	"math"
	"strings"
)

// class is the rank of a kind in L7's order of types.
var class = [...]uint8{Null: 0, Bool: 1, Int: 2, Uint: 2, Float: 2, Time: 2, String: 3, Binary: 4, Array: 5, Map: 6}

// Equal reports whether two values are equal by L6: numbers by exact value,
// NaN with NaN, strings with ASCII folded, arrays by their elements in order,
// values of different types never. Null equals null here, as grouping needs
// it; a Test never asks about null.
func Equal(a, b Value) bool {
	if class[a.kind] != class[b.kind] {
		return false
	}
	switch a.kind {
	case Null:
		return true
	case String:
		return equalFold(a.s, b.s)
	case Binary:
		return a.s == b.s
	case Array, Map:
		var x, y [256]byte
		return bytes.Equal(AppendKey(x[:0], a), AppendKey(y[:0], b))
	case Bool:
		return a.num == b.num
	}
	c, ordered := compareNumbers(a, b)
	if !ordered {
		return isNaN(a) && isNaN(b)
	}
	return c == 0
}

// EqualExact is Equal for addresses (node, life, channel), which are compared
// byte for byte (L5.2).
func EqualExact(a, b Value) bool {
	if a.kind == String && b.kind == String {
		return a.s == b.s
	}
	return Equal(a, b)
}

// Compare is the total order of SORT (L7): negative if a comes first, zero
// only for values that no order tells apart, such as 1 and 1.0.
func Compare(a, b Value) int {
	if c := cmp.Compare(class[a.kind], class[b.kind]); c != 0 {
		return c
	}
	switch a.kind {
	case Null:
		return 0
	case Bool:
		return cmp.Compare(a.num, b.num)
	case String:
		return compareFold(a.s, b.s)
	case Binary:
		return strings.Compare(a.s, b.s)
	case Array, Map:
		// Canonical encodings are compared whole: an order of bytes, so that
		// any other implementation can give the same.
		var x, y [256]byte
		return bytes.Compare(AppendMsgpack(x[:0], a), AppendMsgpack(y[:0], b))
	}
	c, ordered := compareNumbers(a, b)
	if !ordered { // NaN comes after every other number
		return cmp.Compare(btoi(isNaN(a)), btoi(isNaN(b)))
	}
	return c
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func isNaN(v Value) bool { return v.kind == Float && math.IsNaN(v.float()) }

// compareNumbers compares two numbers by exact value; ordered is false if one
// is NaN. No integer is ever turned into a float: above 2^53 that would make
// different numbers equal (L6.2).
func compareNumbers(a, b Value) (c int, ordered bool) {
	switch {
	case a.kind == Float && b.kind == Float:
		x, y := a.float(), b.float()
		if x != x || y != y {
			return 0, false
		}
		return cmp.Compare(x, y), true // cmp holds -0 and 0 equal
	case a.kind == Float:
		c, ordered = compareIntFloat(b, a.float())
		return -c, ordered
	case b.kind == Float:
		return compareIntFloat(a, b.float())
	}
	if an, bn := a.negative(), b.negative(); an != bn {
		return btoi(bn) - btoi(an), true
	}
	return cmp.Compare(a.num, b.num), true // two's complement keeps order within a sign
}

// negative reports whether an integer is below zero.
func (v Value) negative() bool { return v.kind != Uint && int64(v.num) < 0 }

func compareIntFloat(i Value, f float64) (c int, ordered bool) {
	const two63, two64 = 1 << 63, 1 << 64
	switch {
	case f != f:
		return 0, false
	case f >= two64:
		return -1, true
	case f < -two63:
		return 1, true
	}
	// Within the range the whole part of f is an integer that both hold.
	whole := math.Floor(f)
	var w Value
	if whole < 0 {
		w = OfInt(int64(whole))
	} else {
		w = OfUint(uint64(whole))
	}
	if c, _ = compareNumbers(i, w); c != 0 {
		return c, true
	}
	return -btoi(f > whole), true
}
