package value

import (
	"encoding/binary"
	"math"
	"strings"
)

// The first byte of a key. A key is self-delimiting, so that the keys of
// several values may stand one after another.
const (
	keyNull byte = iota
	keyFalse
	keyTrue
	keyNegative // an integer below zero, eight bytes
	keyInteger  // any other, and every float that equals an integer
	keyFloat
	keyString
	keyBinary
	keyArray
	keyMap
)

// AppendKey appends a key that two values share exactly if they are equal
// (L8): 1 and 1.0, −0.0 and 0, a and A, all NaN, null and absent.
func AppendKey(dst []byte, v Value) []byte {
	switch v.kind {
	case Null:
		return append(dst, keyNull)
	case Bool:
		return append(dst, keyFalse+byte(v.num))
	case Int, Uint, Time:
		return appendIntegerKey(dst, v)
	case Float:
		return appendFloatKey(dst, v.float())
	case String:
		dst = appendLen(append(dst, keyString), len(v.s))
		return appendFolded(dst, v.s)
	case Binary:
		dst = appendLen(append(dst, keyBinary), len(v.s))
		return append(dst, v.s...)
	case Array:
		dst = appendLen(append(dst, keyArray), v.Len())
		v.each(func(_, e Value) bool { dst = AppendKey(dst, e); return true })
		return dst
	}
	n := 0
	v.each(func(_, _ Value) bool { n++; return true })
	dst = appendLen(append(dst, keyMap), n)
	v.each(func(k, e Value) bool { dst = AppendKey(AppendKey(dst, k), e); return true })
	return dst
}

// AppendKeyExact is AppendKey for addresses, which are grouped byte for byte.
func AppendKeyExact(dst []byte, v Value) []byte {
	if v.kind != String {
		return AppendKey(dst, v)
	}
	return append(appendLen(append(dst, keyString), len(v.s)), v.s...)
}

func appendLen(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

func appendIntegerKey(dst []byte, v Value) []byte {
	tag := keyInteger
	if v.negative() {
		tag = keyNegative
	}
	return binary.BigEndian.AppendUint64(append(dst, tag), v.num)
}

func appendFloatKey(dst []byte, f float64) []byte {
	switch {
	case f != f:
		f = math.NaN() // one of the many
	case f != math.Trunc(f) || f < -(1<<63) || f >= 1<<64:
	case f < 0:
		return appendIntegerKey(dst, OfInt(int64(f)))
	default: // −0.0, too
		return appendIntegerKey(dst, OfUint(uint64(f)))
	}
	return binary.BigEndian.AppendUint64(append(dst, keyFloat), math.Float64bits(f))
}

// Represent picks what stands for a group of which a and b are two members, or
// stand for some: the integer if all members are integers, else the float; the
// smallest original bytes of its strings; the array of the smallest encoding
// (L8). It is commutative and associative, so the answer does not depend on
// the order of reading.
func Represent(a, b Value) Value {
	switch a.kind {
	case Int, Uint, Time, Float:
		return representNumber(a, b)
	case String, Array:
		if Compare(b, a) < 0 {
			return b
		}
	}
	return a
}

func representNumber(a, b Value) Value {
	switch {
	case a.kind == Float && b.kind == Float:
		if math.Signbit(a.float()) && !math.Signbit(b.float()) {
			return b // 0 stands for −0.0
		}
		return a
	case b.kind == Float:
		return representNumber(b, a)
	case a.kind == Float:
		if a.num == 1<<63 { // −0.0 beside an integer zero
			return OfFloat(0)
		}
		return a
	case a.kind == Time && b.kind != Time:
		return b // a time only if all are times
	}
	return a
}

// appendFolded appends s with ASCII A–Z folded.
func appendFolded(dst []byte, s string) []byte {
	n := len(dst)
	dst = append(dst, s...)
	for i := n; i < len(dst); i++ {
		dst[i] = lower[dst[i]]
	}
	return dst
}

// fold is s with ASCII A–Z folded.
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := range len(s) {
		b.WriteByte(lower[s[i]])
	}
	return b.String()
}
