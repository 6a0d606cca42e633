package syntax

import (
	"errors"
	"strconv"
	"strings"
)

// noLiterals are words that look like values and are none (L2.1).
var noLiterals = []string{"NULL", "NAN", "INFINITY", "INF"}

// literal reads a value.
func (p *parser) literal() Literal {
	t := p.tok
	switch t.kind {
	case text:
		p.advance()
		return &Str{t.Pos, t.value}
	case binary:
		p.advance()
		return &Bytes{t.Pos, t.value}
	case word:
		l := p.wordLiteral(t)
		p.advance()
		return l
	case end:
		p.fail(failAt(t, "the query ends where a value is needed"))
	}
	e := failAt(t, "%s where a value is needed", t.stands())
	if t.kind == assign && p.prior.kind == equal {
		e = failAt(t, `"===" is no operator`).meaning("==")
	}
	p.fail(e)
	return nil
}

func (p *parser) wordLiteral(t token) Literal {
	switch w := t.raw; {
	case t.is("true"), t.is("false"):
		return &Bool{t.Pos, t.is("true")}
	case t.in(noLiterals):
		if t.is("NULL") {
			p.fail(failAt(t, "%s is no value: write IS NULL or IS NOT NULL, or quote it if text is meant", t.shown()))
		}
		p.fail(failAt(t, "%s is no value: numbers are finite; quote it if text is meant", t.shown()))
	case w == "X" && p.next().kind == text && p.next().Offset == t.end():
		p.fail(failAt(t, `the x of a binary is lower case`).meaning("x" + shorten(p.next().raw)))
	case isBareLiteral(w):
		return &Str{t.Pos, w}
	case strings.HasPrefix(w, "0x"):
		return p.hexadecimal(t)
	case isInteger(w):
		return p.integer(t)
	case isFloat(w):
		return p.float(t)
	}
	p.noLiteral(t)
	return nil
}

func isInteger(w string) bool { return allDigits(strings.TrimPrefix(w, "-")) }

// isFloat reports whether a word has a float's shape: digits, and a fraction
// or an exponent or both.
func isFloat(w string) bool {
	whole, rest := leadingDigits(strings.TrimPrefix(w, "-"))
	if whole == "" {
		return false
	}
	fraction, point := "", false
	if rest, point = strings.CutPrefix(rest, "."); point {
		if fraction, rest = leadingDigits(rest); fraction == "" {
			return false
		}
	}
	if rest == "" {
		return point
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	return allDigits(rest)
}

func leadingDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[:n], s[n:]
}

// integer reads a decimal: int64 if it has a sign, else uint64 (L2.5).
func (p *parser) integer(t token) Literal {
	digits, negative := strings.CutPrefix(t.raw, "-")
	n, ok := decimal(digits)
	switch {
	case negative && (!ok || n > 1<<63):
		p.fail(failAt(t, "%s is out of range: a negative integer is at least -9223372036854775808", t.shown()))
	case !ok:
		p.fail(failAt(t, "%s is out of range: an integer is at most 18446744073709551615; write a point for a float", t.shown()))
	case negative && n > 0:
		return &Int{t.Pos, -int64(n-1) - 1}
	}
	return &Uint{t.Pos, n}
}

// hexadecimal reads 0x….
func (p *parser) hexadecimal(t token) Literal {
	digits := t.raw[2:]
	for i := range len(digits) {
		if !isHex(digits[i]) {
			p.fail(failAt(t, "%s is no hexadecimal number", t.shown()))
		}
	}
	if digits == "" {
		p.fail(failAt(t, "%s has no digits", t.shown()))
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		p.fail(failAt(t, "%s is out of range: an integer is at most 0xffffffffffffffff", t.shown()))
	}
	return &Uint{t.Pos, n}
}

// float reads the nearest finite float64.
func (p *parser) float(t token) Literal {
	f, err := strconv.ParseFloat(t.raw, 64)
	if errors.Is(err, strconv.ErrRange) {
		p.fail(failAt(t, "%s is out of range: a float is at most about 1.8e308", t.shown()))
	}
	return &Float{t.Pos, f}
}

// noLiteral fails at a word that is no value, and says what to do.
func (p *parser) noLiteral(t token) {
	w := t.raw
	switch {
	case w[0] == '\'':
		p.singleQuoted(t)
	case w[0] == '+' && (isInteger(w[1:]) || isFloat(w[1:])):
		p.fail(failAt(t, "%s is no number: numbers have no leading plus", t.shown()).meaning(shorten(w[1:])))
	case strings.HasPrefix(w, "0X"), strings.HasPrefix(w, "-0x"):
		p.fail(failAt(t, "%s is no number: a hexadecimal one begins with 0x and has no sign", t.shown()))
	case dateShape(w), dateTimeShape(w):
		p.fail(failAt(t, "%s is no value: compare instants with BEFORE or NOT_BEFORE, or quote it if text is meant", t.shown()))
	case gluedWord(w) != "":
		p.fail(failAt(t, "%s is one word; put a space before %s", t.shown(), gluedWord(w)))
	case isDuration(w):
		p.fail(failAt(t, "%s is no value: write BEFORE or NOT_BEFORE %s ago for an instant, or quote it if text is meant", t.shown(), shorten(w)))
	case strings.HasPrefix(w, "."), strings.HasSuffix(w, ".") && isInteger(strings.TrimSuffix(w, ".")):
		p.fail(failAt(t, "%s is no value: digits stand on both sides of a point", t.shown()))
	}
	p.fail(failAt(t, "%s is neither a number nor a bare word; quote it if text is meant", t.shown()))
}
