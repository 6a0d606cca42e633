package syntax

import (
	"fmt"
	"strings"
)

// field reads a field: a path, bare or quoted. In METRIC a quoted one is a
// label of any text (L2.3).
func (p *parser) field() *Field {
	f := &Field{Pos: p.tok.Pos}
	if p.q.Mode == Metric {
		f.Name = p.label()
		return f
	}
	t := p.tok
	f.Name = t.raw
	if t.kind == text {
		f.Name = t.value
	}
	p.checkPath(t, f.Name)
	p.advance()
	return f
}

// label reads a label's name: a bare path or any quoted text.
func (p *parser) label() string {
	t := p.tok
	if t.kind != text {
		p.checkPath(t, t.raw)
		p.advance()
		return t.raw
	}
	p.advance()
	return t.value
}

// checkPath fails unless a token is a path.
func (p *parser) checkPath(t token, path string) {
	if t.kind != word && t.kind != text {
		p.fail(failAt(t, "%s where a field is needed", t.stands()))
	}
	why := pathProblem(path)
	switch {
	case why == "":
		return
	case t.kind == text:
		p.fail(failAt(t, "%s is no field, and quotes do not make it one: %s", t.shown(), why))
	case p.prior.kind == lbracket && durationShape(path):
		p.fail(failAt(t, "%s is no label; a range of time is written SINCE %s ago", t.shown(), shorten(path)))
	case path == "*":
		p.fail(failAt(t, `"*" is no field: leave SELECT out to see every field, and write COUNT without one to count rows`))
	}
	e := failAt(t, "%s is no field: %s", t.shown(), why)
	if name, _, colon := strings.Cut(path, ":"); colon && pathProblem(name) == "" {
		e.Near = shorten(name) + " == …"
	}
	p.fail(e)
}

// pathProblem says why a text is no path, or "".
func pathProblem(path string) string {
	for segment := range strings.SplitSeq(path, ".") {
		switch {
		case segment == "":
			return "a segment between dots is empty"
		case !isLetter(segment[0]) && segment[0] != '_':
			return "a segment begins with a letter or _, and " + shorten(segment) + " does not"
		}
		if r := strayRune(segment, "_-"); r != "" {
			return `"` + shorten(r) + `" may not stand in a field, which has letters, digits, _ - and dots`
		}
	}
	return ""
}

// strayRune is the first character of a word that is no ASCII letter, no
// digit and none of others, or "".
func strayRune(s, others string) string {
	for _, r := range s {
		if r >= 0x80 || !isLetter(byte(r)) && !isDigit(byte(r)) && !strings.ContainsRune(others, r) {
			return string(r)
		}
	}
	return ""
}

// isBareName reports whether a text may stand as a name or text without
// quotes.
func isBareName(s string) bool {
	return s != "" && s[0] != '.' && s[0] != '-' && strayRune(s, "_.-") == ""
}

// isBarePattern is the same for patterns.
func isBarePattern(s string) bool { return s != "" && strayRune(s, "_.-*") == "" }

// isBareLiteral is the same for literals, but for the words that are others.
func isBareLiteral(s string) bool { return isBareName(s) && !isDigit(s[0]) }

// name reads a name or text, of which what says what it is.
func (p *parser) name(what string) string {
	t := p.tok
	switch {
	case t.kind == text:
		p.advance()
		return t.value
	case t.kind != word:
		p.fail(failAt(t, "%s where %s is needed", t.stands(), what))
	case strings.HasPrefix(t.raw, "'"):
		p.singleQuoted(t)
	case !isBareName(t.raw):
		p.fail(failAt(t, "%s needs double quotes to be %s", t.shown(), what))
	}
	p.advance()
	return t.raw
}

func (p *parser) text(what string) *Text {
	at := p.tok.Pos
	return &Text{Pos: at, Value: p.name(what)}
}

// patternHere reads a pattern, of which what says what it selects.
func (p *parser) patternHere(what string) *Pattern {
	t := p.tok
	x := &Pattern{Pos: t.Pos, Value: t.raw}
	switch {
	case t.kind == text:
		x.Value = t.value
	case t.kind != word:
		p.fail(failAt(t, "%s where %s is needed", t.stands(), what))
	case strings.HasPrefix(t.raw, "'"):
		p.singleQuoted(t)
	case strings.Contains(t.raw, "{") && p.q.Mode == Metric:
		p.fail(failAt(t, `%s needs double quotes; labels stand in [ ] behind the name, as in METRIC cpu[core="0"]`, t.shown()))
	case t.raw[0] == '{':
		p.fail(failAt(t, `%s is no selector: records are selected with a pattern, FROM and WHERE`, t.shown()))
	case !isBarePattern(t.raw):
		p.fail(failAt(t, "%s needs double quotes to be %s: \"%s\" may not stand in a bare one", t.shown(), what, shorten(strayRune(t.raw, "_.-*"))))
	}
	p.advance()
	return x
}

// singleQuoted fails at a word that begins with a single quote.
func (p *parser) singleQuoted(t token) {
	near := `"…"`
	if inner := strings.TrimSuffix(t.raw[1:], "'"); len(inner) == len(t.raw)-2 && !strings.ContainsAny(inner, `'\`) {
		near = `"` + shorten(inner) + `"`
	}
	p.fail(failAt(t, "%s is no string: quotes are double", t.shown()).meaning(near))
}

// count reads a number of rows (L2.8).
func (p *parser) count() *Count {
	t := p.tok
	c := &Count{Pos: t.Pos}
	after := upper(p.prior.raw)
	switch {
	case t.kind == end:
		p.fail(failAt(t, "the query ends where %s needs a count", after))
	case t.kind == word && gluedWord(t.raw) != "":
		p.fail(failAt(t, "%s is one word; put a space before %s", t.shown(), gluedWord(t.raw)))
	case t.kind != word || !allDigits(t.raw):
		p.fail(failAt(t, "%s is no count: %s takes decimal digits alone", t.shown(), after))
	}
	n, ok := decimal(t.raw)
	if !ok {
		p.fail(failAt(t, "%s is too large: a count is at most 18446744073709551615", t.shown()))
	}
	c.Value = n
	p.advance()
	return c
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// decimal is the number that digits spell, if it fits.
func decimal(digits string) (uint64, bool) {
	var n uint64
	for i := range len(digits) {
		d := uint64(digits[i] - '0')
		if n > (1<<64-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// pieces cuts the string that is the current token into literal text,
// captures and blanks (L4.7). What is not "<", a path, ">" is literal.
func (p *parser) pieces() []Piece {
	var all []Piece
	s := p.tok.value
	literal := 0 // where the literal text before i begins
	for i := 0; i < len(s); {
		name, ok := captureAt(s[i:])
		if !ok {
			i++
			continue
		}
		if i > literal {
			all = append(all, Piece{Literal: s[literal:i]})
		}
		if n := len(all); n > 0 && all[n-1].Literal == "" {
			p.fail(failAt(p.tok, "<%s> and <%s> stand side by side; put text between them, for else nothing says where one ends", shorten(all[n-1].Name), shorten(name)))
		}
		all = append(all, Piece{Name: name})
		i += len(name) + 2
		literal = i
	}
	if literal < len(s) {
		all = append(all, Piece{Literal: s[literal:]})
	}
	return all
}

// captureAt is the name of a capture that begins a text.
func captureAt(s string) (string, bool) {
	if s[0] != '<' {
		return "", false
	}
	n := strings.IndexAny(s[1:], "<>")
	if n < 0 || s[1+n] != '>' || pathProblem(s[1:1+n]) != "" {
		return "", false
	}
	return s[1 : 1+n], true
}

// gluedWord is the keyword that stands right behind digits, or "".
func gluedWord(w string) string {
	digits, rest := leadingDigits(w)
	if digits == "" || !isKeyword(rest) {
		return ""
	}
	return rest
}

func plural(n int, thing string) string {
	if n == 1 {
		return "one " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
