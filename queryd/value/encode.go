package value

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
	"unsafe"
)

// AppendJSON appends the value as answers write it in JSON (L4.6): integers
// whole, floats always with a point or exponent, times as RFC 3339 with nine
// digits, binary as {"$binary":"<base64>"}, floats that are not finite as
// {"$float":"nan"}, "+inf" or "-inf". It is one line whatever the value holds.
//
// A key of a map inside an array that is no string is written as the text of
// its JSON.
func AppendJSON(dst []byte, v Value) []byte {
	switch v.kind {
	case Bool:
		return strconv.AppendBool(dst, v.num != 0)
	case Int:
		return strconv.AppendInt(dst, int64(v.num), 10)
	case Uint:
		return strconv.AppendUint(dst, v.num, 10)
	case Float:
		return appendFloat(dst, v.float())
	case Time:
		dst = append(dst, '"')
		dst = time.Unix(0, int64(v.num)).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000000Z")
		return append(dst, '"')
	case String:
		return AppendJSONString(dst, v.s)
	case Binary:
		dst = append(dst, `{"$binary":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, unsafe.Slice(unsafe.StringData(v.s), len(v.s)))
		return append(dst, `"}`...)
	case Array, Map:
		return appendNested(dst, v)
	}
	return append(dst, "null"...)
}

func appendNested(dst []byte, v Value) []byte {
	opening, closing := byte('['), byte(']')
	if v.kind == Map {
		opening, closing = '{', '}'
	}
	dst = append(dst, opening)
	first := true
	v.each(func(key, elem Value) bool {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		switch {
		case v.kind == Array:
		case key.kind == String:
			dst = append(AppendJSONString(dst, key.s), ':')
		default:
			dst = append(AppendJSONString(dst, key.String()), ':')
		}
		dst = AppendJSON(dst, elem)
		return true
	})
	return append(dst, closing)
}

func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `{"$float":"nan"}`...)
	case math.IsInf(f, 1):
		return append(dst, `{"$float":"+inf"}`...)
	case math.IsInf(f, -1):
		return append(dst, `{"$float":"-inf"}`...)
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) { // as ECMAScript writes numbers
		format = 'e'
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	for _, c := range dst[n:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// AppendJSONString appends a string in JSON, for values and keys. Every
// character that moves a line or a terminal is written as its escape: C0, DEL,
// C1, the marks of bidirectional text, U+2028 and U+2029. Bytes that are not
// UTF-8 become U+FFFD: a String has none.
func AppendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			dst = appendEscape(append(dst, s[start:i]...), rune(c))
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if moves(r) || (r == utf8.RuneError && n == 1) {
			dst = appendEscape(append(dst, s[start:i]...), r)
			start = i + n
		}
		i += n
	}
	return append(append(dst, s[start:]...), '"')
}

// moves reports whether a character beyond ASCII moves a line or a terminal's
// cursor, or turns the direction of the text after it.
func moves(r rune) bool {
	switch {
	case r <= 0x9f, // C1
		r == 0x061c, r == 0x200e, r == 0x200f,
		r >= 0x2028 && r <= 0x202e,
		r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// AppendMsgpack appends the value in MessagePack, in its canonical form: each
// integer and length in its shortest, each float as float64, a time as an
// integer of nanoseconds. Equal bytes in, equal bytes out: L7 orders arrays by
// it.
func AppendMsgpack(dst []byte, v Value) []byte {
	switch v.kind {
	case Bool:
		return append(dst, 0xc2+byte(v.num))
	case Int, Time:
		return appendInt(dst, int64(v.num))
	case Uint:
		return appendHead(dst, 0xcf, v.num, 8)
	case Float:
		bits := v.num
		if isNaN(v) {
			bits = math.Float64bits(math.NaN()) // one of the many
		}
		return appendHead(dst, 0xcb, bits, 8)
	case String:
		return AppendMsgpackString(dst, v.s)
	case Binary:
		return append(appendSized(dst, 0xc4, len(v.s)), v.s...)
	case Array:
		dst = appendArrayHead(dst, v.Len())
		v.each(func(_, e Value) bool { dst = AppendMsgpack(dst, e); return true })
		return dst
	case Map:
		n := 0
		v.each(func(_, _ Value) bool { n++; return true })
		dst = AppendMapHead(dst, n)
		v.each(func(k, e Value) bool { dst = AppendMsgpack(AppendMsgpack(dst, k), e); return true })
		return dst
	}
	return append(dst, 0xc0)
}

// AppendMsgpackString appends a str, for values and keys.
func AppendMsgpackString(dst []byte, s string) []byte {
	if len(s) < 32 {
		return append(append(dst, 0xa0|byte(len(s))), s...)
	}
	return append(appendSized(dst, 0xd9, len(s)), s...)
}

// AppendMapHead appends the head of a map of n pairs.
func AppendMapHead(dst []byte, n int) []byte {
	switch {
	case n < 16:
		return append(dst, 0x80|byte(n))
	case n < 1<<16:
		return appendHead(dst, 0xde, uint64(n), 2)
	}
	return appendHead(dst, 0xdf, uint64(n), 4)
}

func appendArrayHead(dst []byte, n int) []byte {
	switch {
	case n < 16:
		return append(dst, 0x90|byte(n))
	case n < 1<<16:
		return appendHead(dst, 0xdc, uint64(n), 2)
	}
	return appendHead(dst, 0xdd, uint64(n), 4)
}

// appendSized appends the head of a str or bin: code for a length of one byte,
// the two after it for two and four.
func appendSized(dst []byte, code byte, n int) []byte {
	switch {
	case n < 1<<8:
		return append(dst, code, byte(n))
	case n < 1<<16:
		return appendHead(dst, code+1, uint64(n), 2)
	}
	return appendHead(dst, code+2, uint64(n), 4)
}

func appendInt(dst []byte, n int64) []byte {
	switch {
	case n >= 0 && n < 1<<7, n < 0 && n >= -1<<5:
		return append(dst, byte(n))
	case n >= 0 && n < 1<<8:
		return append(dst, 0xcc, byte(n))
	case n >= 0 && n < 1<<16:
		return appendHead(dst, 0xcd, uint64(n), 2)
	case n >= 0 && n < 1<<32:
		return appendHead(dst, 0xce, uint64(n), 4)
	case n >= 0:
		return appendHead(dst, 0xcf, uint64(n), 8)
	case n >= math.MinInt8:
		return append(dst, 0xd0, byte(n))
	case n >= math.MinInt16:
		return appendHead(dst, 0xd1, uint64(n), 2)
	case n >= math.MinInt32:
		return appendHead(dst, 0xd2, uint64(n), 4)
	}
	return appendHead(dst, 0xd3, uint64(n), 8)
}

// appendHead appends a first byte and the low width bytes of a number.
func appendHead(dst []byte, code byte, n uint64, width int) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return append(append(dst, code), b[8-width:]...)
}
