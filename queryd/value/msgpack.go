package value

import (
	"math"
	"time"
)

// A token is one MessagePack head: what begins there, and its length or bits.
type token struct {
	num  uint64 // bits of a boolean, integer or float; bytes or elements of the rest
	next int    // the place behind the head: where a body begins
	kind tokenKind
	ext  int8 // the type of an extension
}

type tokenKind uint8

const (
	tokenNull tokenKind = iota
	tokenBool
	tokenInt
	tokenUint
	tokenFloat
	tokenStr
	tokenBin
	tokenExt
	tokenArray
	tokenMap
)

// shape says how a head of 0xc0 … 0xdf goes on: how many bytes of number
// follow, and what it is. The zero shape is 0xc1, which is never used.
type shape struct {
	kind  tokenKind
	width uint8 // of the number behind the first byte
	fixed uint8 // the number itself, where width is 0
	valid bool
}

var shapes = [32]shape{
	0x00: {tokenNull, 0, 0, true},
	0x02: {tokenBool, 0, 0, true}, 0x03: {tokenBool, 0, 1, true},
	0x04: {tokenBin, 1, 0, true}, 0x05: {tokenBin, 2, 0, true}, 0x06: {tokenBin, 4, 0, true},
	0x07: {tokenExt, 1, 0, true}, 0x08: {tokenExt, 2, 0, true}, 0x09: {tokenExt, 4, 0, true},
	0x0a: {tokenFloat, 4, 0, true}, 0x0b: {tokenFloat, 8, 0, true},
	0x0c: {tokenUint, 1, 0, true}, 0x0d: {tokenUint, 2, 0, true}, 0x0e: {tokenUint, 4, 0, true}, 0x0f: {tokenUint, 8, 0, true},
	0x10: {tokenInt, 1, 0, true}, 0x11: {tokenInt, 2, 0, true}, 0x12: {tokenInt, 4, 0, true}, 0x13: {tokenInt, 8, 0, true},
	0x14: {tokenExt, 0, 1, true}, 0x15: {tokenExt, 0, 2, true}, 0x16: {tokenExt, 0, 4, true}, 0x17: {tokenExt, 0, 8, true}, 0x18: {tokenExt, 0, 16, true},
	0x19: {tokenStr, 1, 0, true}, 0x1a: {tokenStr, 2, 0, true}, 0x1b: {tokenStr, 4, 0, true},
	0x1c: {tokenArray, 2, 0, true}, 0x1d: {tokenArray, 4, 0, true},
	0x1e: {tokenMap, 2, 0, true}, 0x1f: {tokenMap, 4, 0, true},
}

// readToken reads the head at i. It holds every length against the bytes
// present: a body must be there, and an element takes at least a byte, so that
// nothing behind it need ask again (L4.2).
func readToken(p string, i int) (t token, err error) {
	if i >= len(p) {
		return t, ErrTruncated
	}
	c := p[i]
	t.next = i + 1
	switch {
	case c < 0x80:
		t.kind, t.num = tokenUint, uint64(c)
		return t, nil
	case c >= 0xe0:
		t.kind, t.num = tokenInt, uint64(int64(int8(c)))
		return t, nil
	case c >= 0xc0:
		if t, err = readShape(p, i); err != nil {
			return t, err
		}
	case c >= 0xa0:
		t.kind, t.num = tokenStr, uint64(c&0x1f)
	case c >= 0x90:
		t.kind, t.num = tokenArray, uint64(c&0x0f)
	default:
		t.kind, t.num = tokenMap, uint64(c&0x0f)
	}
	need := uint64(0)
	switch t.kind {
	case tokenStr, tokenBin, tokenExt, tokenArray:
		need = t.num
	case tokenMap:
		need = 2 * t.num
	}
	if need > uint64(len(p)-t.next) {
		return t, ErrTruncated
	}
	return t, nil
}

// readShape reads a head of 0xc0 … 0xdf.
func readShape(p string, i int) (t token, err error) {
	s := shapes[p[i]&0x1f]
	if !s.valid {
		return t, ErrSyntax
	}
	t.kind, t.num, t.next = s.kind, uint64(s.fixed), i+1
	if s.width > 0 {
		t.next += int(s.width)
		if t.next > len(p) {
			return t, ErrTruncated
		}
		t.num = bigEndian(p[i+1 : t.next])
	}
	switch s.kind {
	case tokenInt: // two's complement of its width
		unused := 64 - 8*s.width
		t.num = uint64(int64(t.num<<unused) >> unused)
	case tokenFloat:
		if s.width == 4 {
			t.num = math.Float64bits(float64(math.Float32frombits(uint32(t.num))))
		}
	case tokenExt:
		if t.next == len(p) {
			return t, ErrTruncated
		}
		t.ext = int8(p[t.next])
		t.next++
	}
	return t, nil
}

func bigEndian(s string) (n uint64) {
	for i := range len(s) {
		n = n<<8 | uint64(s[i])
	}
	return n
}

// end is the place behind a token that is no array or map.
func (t token) end() int {
	switch t.kind {
	case tokenStr, tokenBin, tokenExt:
		return t.next + int(t.num)
	}
	return t.next
}

// msgpackMap reads the n pairs of a map from i on, and gives the place behind
// them.
func (w *walk) msgpackMap(i, n, depth int, at place) (int, error) {
	if depth > MaxDepth {
		return 0, ErrDepth
	}
	for range n {
		key, err := readToken(w.p, i)
		if err != nil {
			return 0, err
		}
		if i, err = skipToken(w.p, key, depth); err != nil {
			return 0, err
		}
		next, ok := place{}, false
		if key.kind == tokenStr {
			next, ok = w.enter(at, w.p[key.next:i])
		}
		if ok {
			i, err = w.msgpackField(i, depth, next)
		} else {
			i, err = skipMsgpack(w.p, i, depth)
		}
		if err != nil {
			return 0, err
		}
	}
	return i, nil
}

// msgpackField reads the value at i of a key that is a path.
func (w *walk) msgpackField(i, depth int, at place) (int, error) {
	t, err := readToken(w.p, i)
	if err != nil {
		return 0, err
	}
	if t.kind == tokenMap {
		return w.msgpackMap(t.next, int(t.num), depth+1, at)
	}
	end, err := skipToken(w.p, t, depth)
	if err != nil {
		return 0, err
	}
	if !at.wanted() {
		return end, w.count(at)
	}
	return end, w.leaf(at, msgpackValue(w.p, i, end, t))
}

// skipMsgpack is the place behind the value at i, which it checks; depth is
// that of the map or array around it.
func skipMsgpack(p string, i, depth int) (int, error) {
	t, err := readToken(p, i)
	if err != nil {
		return 0, err
	}
	return skipToken(p, t, depth)
}

// skipToken is the place behind what a token begins.
func skipToken(p string, t token, depth int) (int, error) {
	n := int(t.num)
	switch t.kind {
	case tokenMap:
		n *= 2
	case tokenArray:
	default:
		return t.end(), nil
	}
	if depth++; depth > MaxDepth {
		return 0, ErrDepth
	}
	i, err := t.next, error(nil)
	for range n {
		if i, err = skipMsgpack(p, i, depth); err != nil {
			return 0, err
		}
	}
	return i, nil
}

// msgpackValue is the checked value that stands at p[i:end] and begins with t.
// A map becomes a Map, as inside arrays.
func msgpackValue(p string, i, end int, t token) Value {
	switch t.kind {
	case tokenBool:
		return Value{kind: Bool, num: t.num}
	case tokenInt:
		return OfInt(int64(t.num))
	case tokenUint:
		return OfUint(t.num)
	case tokenFloat:
		return Value{kind: Float, num: t.num}
	case tokenStr:
		return textOf(p[t.next:end])
	case tokenBin:
		return Value{kind: Binary, s: p[t.next:end]}
	case tokenExt:
		return extension(t.ext, p[t.next:end])
	case tokenArray:
		return Value{kind: Array, s: p[i:end]}
	case tokenMap:
		return Value{kind: Map, s: p[i:end]}
	}
	return Value{}
}

// extension is an integer of nanoseconds for a timestamp (type -1), and the
// body's bytes for anything else: a timestamp that is none, or that int64
// nanoseconds do not hold, too.
func extension(kind int8, body string) Value {
	var sec int64
	var ns uint64
	switch {
	case kind == -1 && len(body) == 4:
		sec = int64(bigEndian(body))
	case kind == -1 && len(body) == 8:
		n := bigEndian(body)
		sec, ns = int64(n&(1<<34-1)), n>>34
	case kind == -1 && len(body) == 12:
		sec, ns = int64(bigEndian(body[4:])), bigEndian(body[:4])
	default:
		return Value{kind: Binary, s: body}
	}
	const most = math.MaxInt64 / int64(time.Second)
	if ns >= uint64(time.Second) || sec > most || sec < -most || (sec == most && ns > math.MaxInt64%uint64(time.Second)) {
		return Value{kind: Binary, s: body}
	}
	return OfInt(sec*int64(time.Second) + int64(ns))
}

// eachMsgpack calls f with the elements of a checked array or map.
func eachMsgpack(s string, f func(key, elem Value) bool) {
	t, err := readToken(s, 0)
	i := t.next
	for n := int(t.num); n > 0 && err == nil; n-- {
		var key, elem Value
		if t.kind == tokenMap {
			key, i, err = elementMsgpack(s, i)
		}
		if err == nil {
			elem, i, err = elementMsgpack(s, i)
		}
		if err != nil || !f(key, elem) {
			return
		}
	}
}

func elementMsgpack(s string, i int) (Value, int, error) {
	t, err := readToken(s, i)
	if err != nil {
		return Value{}, 0, err
	}
	end, err := skipToken(s, t, 0)
	if err != nil {
		return Value{}, 0, err
	}
	return msgpackValue(s, i, end, t), end, nil
}
