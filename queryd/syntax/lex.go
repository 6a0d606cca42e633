package syntax

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// A lexer cuts a query into tokens, one at each call of next. It is a small
// value: a copy of it is a look ahead.
type lexer struct {
	src string // without white space at its end
	Pos        // of the next byte
}

const white = " \t\r\n"

func newLexer(query string) lexer {
	return lexer{src: strings.TrimRight(query, white), Pos: Pos{Offset: 0, Column: 1}}
}

// breaksWord reports whether a byte ends a word (L2.1).
func breaksWord(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '(', ')', '[', ']', ',', '=', '!', '<', '>', '"':
		return true
	}
	return false
}

// next is the token that begins at or behind the lexer's place.
func (l *lexer) next() (token, *Error) {
	for l.Offset < len(l.src) && strings.IndexByte(white, l.src[l.Offset]) >= 0 {
		l.skip(1)
	}
	if l.Offset == len(l.src) {
		return token{Pos: l.Pos, kind: end}, nil
	}
	switch c := l.src[l.Offset]; {
	case c == '"':
		return l.text()
	case strings.HasPrefix(l.rest(), `x"`):
		return l.binary()
	case breaksWord(c):
		return l.sign(), nil
	}
	n := 0
	for n < len(l.rest()) && !breaksWord(l.rest()[n]) {
		n++
	}
	return l.take(word, n), nil
}

// rest is what has not been read.
func (l *lexer) rest() string { return l.src[l.Offset:] }

// skip passes over n bytes of whole characters.
func (l *lexer) skip(n int) {
	l.Column += utf8.RuneCountInString(l.src[l.Offset : l.Offset+n])
	l.Offset += n
}

// take makes the next n bytes a token.
func (l *lexer) take(k kind, n int) token {
	t := token{Pos: l.Pos, kind: k, raw: l.rest()[:n]}
	l.skip(n)
	return t
}

// sign takes a token of punctuation.
func (l *lexer) sign() token {
	two := ""
	if len(l.rest()) >= 2 {
		two = l.rest()[:2]
	}
	switch two {
	case "==":
		return l.take(equal, 2)
	case "!=":
		return l.take(unequal, 2)
	case ">=":
		return l.take(atLeast, 2)
	case "<=":
		return l.take(atMost, 2)
	}
	one := map[byte]kind{
		'(': lparen, ')': rparen, '[': lbracket, ']': rbracket, ',': comma,
		'=': assign, '>': greater, '<': less, '!': bang,
	}
	return l.take(one[l.rest()[0]], 1)
}

// text takes a string: "…" with the escapes of L2.6.
func (l *lexer) text() (token, *Error) {
	raw := l.rest()
	var b strings.Builder // stays empty while there is no escape
	from := 1             // where what b lacks begins
	for i := 1; i < len(raw); {
		switch raw[i] {
		case '"':
			t := token{Pos: l.Pos, kind: text, raw: raw[:i+1], value: raw[from:i]}
			if from > 1 {
				b.WriteString(raw[from:i])
				t.value = b.String()
			}
			return l.closed(t)
		case '\\':
			r, n, e := l.escape(raw, i)
			if e != nil {
				return token{}, e
			}
			b.WriteString(raw[from:i])
			b.WriteRune(r)
			i += n
			from = i
		default:
			i++
		}
	}
	return token{}, l.open(raw, 1)
}

// escape reads the escape at raw[i] and gives what it stands for and its
// length.
func (l *lexer) escape(raw string, i int) (rune, int, *Error) {
	if i+1 == len(raw) {
		return 0, 0, l.open(raw, 1)
	}
	switch raw[i+1] {
	case '"', '\\':
		return rune(raw[i+1]), 2, nil
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case 'u':
		return l.codePoint(raw, i)
	}
	_, n := utf8.DecodeRuneInString(raw[i+1:])
	bad := l.within(raw, i, 1+n)
	return 0, 0, failAt(bad, "%s is no escape; there are \\\" \\\\ \\n \\r \\t and \\uXXXX", bad.shown())
}

// within is a part of the string that begins here, for a message.
func (l *lexer) within(raw string, i, n int) token {
	at := Pos{Offset: l.Offset + i, Column: l.Column + utf8.RuneCountInString(raw[:i])}
	return token{Pos: at, kind: word, raw: raw[i : i+n]}
}

// codePoint reads the \uXXXX at raw[i].
func (l *lexer) codePoint(raw string, i int) (rune, int, *Error) {
	digits := raw[i+2 : min(i+6, len(raw))]
	n := 0
	var r rune
	for ; n < len(digits) && isHex(digits[n]); n++ {
		r = r<<4 | rune(unhex(digits[n]))
	}
	switch {
	case n < 4:
		bad := l.within(raw, i, 2+n)
		return 0, 0, failAt(bad, "%s is no escape; \\u needs four hexadecimal digits", bad.shown())
	case !utf8.ValidRune(r):
		bad := l.within(raw, i, 6)
		return 0, 0, failAt(bad, "%s is half of a surrogate pair; write the character itself", bad.shown())
	}
	return r, 6, nil
}

func unhex(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	default:
		return upperByte(c) - 'A' + 10
	}
}

// binary takes x"…", pairs of hexadecimal digits.
func (l *lexer) binary() (token, *Error) {
	raw := l.rest()
	digits := raw[2:]
	n := 0
	for n < len(digits) && isHex(digits[n]) {
		n++
	}
	switch {
	case n == len(digits):
		return token{}, l.open(raw, 2)
	case digits[n] != '"':
		_, size := utf8.DecodeRuneInString(digits[n:])
		bad := l.within(raw, 2+n, size)
		return token{}, failAt(bad, `%s is no hexadecimal digit; x"…" holds pairs of them`, bad.shown())
	}
	t := token{Pos: l.Pos, kind: binary, raw: raw[:n+3]}
	bytes, err := hex.DecodeString(digits[:n])
	if err != nil {
		return token{}, failAt(t, "%s has an odd number of hexadecimal digits; a byte takes two", t.shown())
	}
	t.value = string(bytes)
	return l.closed(t)
}

// closed ends a string or binary, which needs a break behind it.
func (l *lexer) closed(t token) (token, *Error) {
	l.skip(len(t.raw))
	if rest := l.rest(); rest != "" && !breaksWord(rest[0]) {
		stuck, e := l.next()
		if e != nil {
			return token{}, e
		}
		return token{}, failAt(stuck, `%s stands right behind a closing quote; put a space between, or write \" for a quote inside the string`, stuck.shown())
	}
	return t, nil
}

// open says that a string is never closed.
func (l *lexer) open(raw string, quote int) *Error {
	bad := token{Pos: l.Pos, kind: text, raw: raw[:quote]}
	return failAt(bad, `this quote is never closed; a string ends with ", and \" is a quote inside`)
}
