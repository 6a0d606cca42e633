package value

import (
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonText is what stands between the quotes.
type jsonText struct {
	text    string
	escaped bool
	ascii   bool
}

// scanString reads the string at i, whose quote stands there, eight bytes at a
// time, and gives the place behind it.
func scanString(p string, i int) (t jsonText, end int, err error) {
	start := i + 1
	i = start
	var high uint64 // non-zero once a byte was not ASCII
	for {
		for i+8 <= len(p) {
			w := load(p, i)
			q, b := w^'"'*ones, w^'\\'*ones
			stop := ((w-0x20*ones)&^w | (q-ones)&^q | (b-ones)&^b) & highs
			if stop == 0 {
				high |= w & highs
				i += 8
				continue
			}
			n := bits.TrailingZeros64(stop) / 8
			high |= w & highs & (1<<(8*n) - 1)
			i += n
			break
		}
		for i < len(p) && p[i] != '"' && p[i] != '\\' && p[i] >= 0x20 {
			high |= uint64(p[i] & 0x80)
			i++
		}
		switch {
		case i == len(p):
			return t, 0, ErrTruncated
		case p[i] == '"':
			t.text, t.ascii = p[start:i], high == 0
			return t, i + 1, nil
		case p[i] < 0x20:
			return t, 0, ErrSyntax
		}
		t.escaped = true
		if i, err = skipEscape(p, i); err != nil {
			return t, 0, err
		}
	}
}

// skipEscape is the place behind the escape at i.
func skipEscape(p string, i int) (int, error) {
	if i+1 == len(p) {
		return 0, ErrTruncated
	}
	switch p[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		if _, ok := hex4(p, i+2); ok {
			return i + 6, nil
		}
		if len(p) < i+6 {
			return 0, ErrTruncated
		}
	}
	return 0, ErrSyntax
}

// hex4 reads four hexadecimal digits at i.
func hex4(p string, i int) (r rune, ok bool) {
	if i+4 > len(p) {
		return 0, false
	}
	for _, c := range []byte(p[i : i+4]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendUnescaped appends a string whose escapes scanString has checked. Half
// of a surrogate pair stands for no character and becomes U+FFFD; bytes that
// are not UTF-8 stay as they are, and make the string binary.
func appendUnescaped(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		plain := strings.IndexByte(s[i:], '\\')
		if plain < 0 {
			return append(dst, s[i:]...)
		}
		dst = append(dst, s[i:i+plain]...)
		i += plain
		c := s[i+1]
		i += 2
		switch c {
		case 'u':
			r, _ := hex4(s, i)
			i += 4
			if utf16.IsSurrogate(r) {
				pair := rune(utf8.RuneError)
				if i+1 < len(s) && s[i] == '\\' && s[i+1] == 'u' {
					low, _ := hex4(s, i+2)
					pair = utf16.DecodeRune(r, low)
				}
				if pair != utf8.RuneError {
					i += 6
				}
				r = pair
			}
			dst = utf8.AppendRune(dst, r)
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
