package value

import (
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// A Kind is what a Value is.
type Kind uint8

// The kinds. Int, Uint, Float and Time are all numbers to every operator.
const (
	// Null is absent, too: they are one value (L4.6).
	Null Kind = iota
	Bool
	// Int is an integer that fits int64.
	Int
	// Uint is an integer above that, never one that fits int64.
	Uint
	Float
	// Time is an instant in nanoseconds since the epoch: an integer in all
	// that it does, but shown as a time in JSON.
	Time
	// String is UTF-8.
	String
	Binary
	Array
	// Map is only ever an element of an Array: a field is never a map (L4.1).
	// It equals no literal.
	Map
)

var kindNames = [...]string{"null", "boolean", "integer", "integer", "float", "time", "string", "binary", "array", "map"}

// String names the kind as error messages do.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Value is one value of the query language, 32 bytes, without interfaces.
// The zero Value is null. Values are compared by Equal and Compare, never by
// ==.
type Value struct {
	num  uint64 // the bits of a boolean, integer, float or time
	s    string // the bytes of a string or binary; an array's or map's encoding
	kind Kind
	json bool // the encoding in s is JSON, else MessagePack
}

// OfBool is a boolean.
func OfBool(b bool) Value {
	if b {
		return Value{kind: Bool, num: 1}
	}
	return Value{kind: Bool}
}

// OfInt is an integer.
func OfInt(i int64) Value { return Value{kind: Int, num: uint64(i)} }

// OfUint is an integer.
func OfUint(u uint64) Value {
	if u <= math.MaxInt64 {
		return Value{kind: Int, num: u}
	}
	return Value{kind: Uint, num: u}
}

// OfFloat is a float, finite or not.
func OfFloat(f float64) Value { return Value{kind: Float, num: math.Float64bits(f)} }

// OfTime is an instant in nanoseconds since the epoch.
func OfTime(ns int64) Value { return Value{kind: Time, num: uint64(ns)} }

// OfString is a string; the caller knows that it is UTF-8.
func OfString(s string) Value { return Value{kind: String, s: s} }

// OfBinary is binary. It refers to b.
func OfBinary(b []byte) Value { return Value{kind: Binary, s: view(b)} }

// OfText is what bytes of unknown origin are: a string where they are UTF-8,
// else binary (L4.3). It refers to b.
func OfText(b []byte) Value { return textOf(view(b)) }

func textOf(s string) Value {
	if utf8.ValidString(s) {
		return Value{kind: String, s: s}
	}
	return Value{kind: Binary, s: s}
}

// OfArray is an array of the elements, copied.
func OfArray(elems ...Value) Value {
	b := appendArrayHead(nil, len(elems))
	for _, e := range elems {
		b = AppendMsgpack(b, e)
	}
	return Value{kind: Array, s: view(b)}
}

// view is a string over bytes that its user promises not to change: payloads
// are read, never written, and a copy of each would double the memory traffic
// of a scan.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Kind says what the value is.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is null, or absent.
func (v Value) IsNull() bool { return v.kind == Null }

// IsNumber reports whether the value is an integer, a float or a time.
func (v Value) IsNumber() bool { return v.kind >= Int && v.kind <= Time }

// IsInteger reports whether the value is a whole number by type: 1, not 1.0.
func (v Value) IsInteger() bool { return v.kind == Int || v.kind == Uint || v.kind == Time }

// Bool is the boolean, false for any other kind.
func (v Value) Bool() bool { return v.kind == Bool && v.num != 0 }

// Int64 is the integer or time; ok is false for any other value and for
// integers beyond int64.
func (v Value) Int64() (n int64, ok bool) {
	return int64(v.num), v.kind == Int || v.kind == Time
}

// Uint64 is the integer or time; ok is false for any other value and for
// negative ones.
func (v Value) Uint64() (n uint64, ok bool) {
	return v.num, v.kind == Uint || ((v.kind == Int || v.kind == Time) && int64(v.num) >= 0)
}

// Float64 is the number as the nearest float; ok is false for any other kind.
func (v Value) Float64() (f float64, ok bool) {
	switch v.kind {
	case Int, Time:
		return float64(int64(v.num)), true
	case Uint:
		return float64(v.num), true
	case Float:
		return math.Float64frombits(v.num), true
	}
	return 0, false
}

// float is the float of a value known to be one.
func (v Value) float() float64 { return math.Float64frombits(v.num) }

// Text is the bytes of a string or binary, empty for any other kind.
func (v Value) Text() string {
	if v.kind == String || v.kind == Binary {
		return v.s
	}
	return ""
}

// Len is the number of elements of an array, and 0 of anything else.
func (v Value) Len() int {
	n := 0
	if v.kind == Array {
		v.each(func(_, _ Value) bool { n++; return true })
	}
	return n
}

// Elements calls f with each element of an array, in order, until f returns
// false. Elements that hold bytes refer to the array's, as it does to the
// payload.
func (v Value) Elements(f func(Value) bool) {
	if v.kind == Array {
		v.each(func(_, e Value) bool { return f(e) })
	}
}

// each calls f with each element of an array, or key and element of a map.
func (v Value) each(f func(key, elem Value) bool) {
	if v.json {
		eachJSON(v.s, f)
	} else {
		eachMsgpack(v.s, f)
	}
}

// Clone is the value with bytes of its own.
func (v Value) Clone() Value {
	v.s = strings.Clone(v.s)
	return v
}

// Size is the memory a clone takes, in bytes: for those who keep values under
// a bound.
func (v Value) Size() int { return int(unsafe.Sizeof(v)) + len(v.s) }

// String is the value as the answer in JSON writes it, for tests and messages.
func (v Value) String() string { return string(AppendJSON(nil, v)) }
