package subjects

import (
	"strings"
	"unicode/utf8"
)

// EncodeNode spells a node as one token: what a token cannot carry, the dot
// and % become %XX in upper case.
func EncodeNode(n Node) string { return encode(string(n), false) }

// DecodeNode undoes EncodeNode. It is lenient, and checks no bounds.
func DecodeNode(token string) Node { return Node(decodeNode(token)) }

// EncodeChannel spells a channel as one token per dotted segment; an empty
// segment is a lone %.
func EncodeChannel(c Channel) string { return encode(string(c), true) }

const hexDigits = "0123456789ABCDEF"

// encode spells s as a token, or with dots as several. It returns s itself
// when there is nothing to do, which is nearly always.
func encode(s string, dots bool) string {
	if isPlain(s, dots) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	segment := 0 // bytes of s since the last dot
	for i := 0; i < len(s); {
		c := s[i]
		if c == '.' && dots {
			if segment == 0 {
				b.WriteByte('%')
			}
			b.WriteByte('.')
			segment = 0
			i++
			continue
		}
		n, escape := escapeAt(s, i)
		for _, c := range []byte(s[i : i+n]) {
			if escape || (c == '.' && !dots) {
				b.WriteByte('%')
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			} else {
				b.WriteByte(c)
			}
		}
		segment += n
		i += n
	}
	if segment == 0 {
		b.WriteByte('%')
	}
	return b.String()
}

// isPlain reports whether s is spelled as itself.
func isPlain(s string, dots bool) bool {
	segment := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x80:
			n, escape := escapeAt(s, i)
			if escape {
				return false
			}
			i += n - 1
			segment++
		case c == '.':
			if !dots || segment == 0 {
				return false
			}
			segment = 0
		case c <= ' ', c == '*', c == '>', c == '%', c == 0x7f:
			return false
		default:
			segment++
		}
	}
	return segment > 0
}

// escapeAt looks at the character at s[i:] and says how many bytes it has and
// whether they must be escaped.
func escapeAt(s string, i int) (n int, escape bool) {
	c := s[i]
	if c < utf8.RuneSelf {
		return 1, c <= ' ' || c == '*' || c == '>' || c == '%' || c == 0x7f
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && n == 1 {
		return 1, true
	}
	return n, r <= 0x9f // C1
}

// decode undoes encode, and is lenient: two hex digits after % in either case
// are a byte, a lone % is an empty segment, any other % is itself. For
// canonical text it is the exact inverse.
func decode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '%' {
			b = append(b, c)
			continue
		}
		if i+2 < len(s) {
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if hi < 16 && lo < 16 {
				b = append(b, hi<<4|lo)
				i += 2
				continue
			}
		}
		alone := (i == 0 || s[i-1] == '.') && (i+1 == len(s) || s[i+1] == '.')
		if !alone {
			b = append(b, '%')
		}
	}
	return string(b)
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}
