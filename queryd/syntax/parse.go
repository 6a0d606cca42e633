package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a query (L2.9).
const (
	MaxQuery   = 64 << 10 // bytes of a query
	MaxNesting = 64       // parentheses within each other
	MaxIn      = 10_000   // literals of an IN
	MaxMatches = 1 << 10  // bytes of an expression of MATCHES
)

// Parse reads one query. An error is an *Error.
func Parse(query string) (*Query, error) {
	if len(query) > MaxQuery {
		return nil, &Error{Column: 1, Text: fmt.Sprintf("the query has %d bytes, at most %d are allowed", len(query), MaxQuery)}
	}
	return parse(query)
}

// parse is Parse without the bound on the whole.
func parse(query string) (q *Query, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			q, err = nil, e
		}
	}()
	p := parser{lex: newLexer(query), q: &Query{}, written: map[slot]token{}}
	p.checkUTF8(query)
	p.advance()
	p.query()
	p.check()
	return p.q, nil
}

// A parser goes over the tokens once, one token ahead. It gives up at the
// first error by a panic with an *Error, which parse alone recovers: so every
// method below may assume that what it asked for was there.
type parser struct {
	lex   lexer
	tok   token // the token to read next
	prior token // the one before it
	q     *Query

	written map[slot]token // the first word of what stands once
	pattern token          // the bare word that became the pattern, if one did
	nesting int            // open parentheses of the current WHERE
	last    Condition      // what the clause before was, if it was a WHERE
}

// fail ends the parse.
func (p *parser) fail(e *Error) { panic(e) }

// advance goes on to the next token.
func (p *parser) advance() {
	t, e := p.lex.next()
	if e != nil {
		p.fail(e)
	}
	if t.kind == word && strings.HasSuffix(t.raw, ";") && p.lex.rest() == "" {
		p.fail(failAt(t, "%s ends with a semicolon; a request is one query, without one", t.shown()))
	}
	p.prior, p.tok = p.tok, t
}

// next is the token behind the current one. A broken one is no token, and is
// reported when it is reached.
func (p *parser) next() token {
	ahead := p.lex
	t, e := ahead.next()
	if e != nil {
		return token{Pos: p.lex.Pos}
	}
	return t
}

// take passes over the current token.
func (p *parser) take() token {
	t := p.tok
	p.advance()
	return t
}

// accept passes over a keyword if it stands here.
func (p *parser) accept(keyword string) bool {
	if p.tok.is(keyword) {
		p.advance()
		return true
	}
	return false
}

// acceptSign passes over a sign if it stands here.
func (p *parser) acceptSign(k kind) bool {
	if p.tok.kind == k {
		p.advance()
		return true
	}
	return false
}

// adjacent is the rest of the query from the current token on.
func (p *parser) adjacent() string { return p.lex.src[p.tok.Offset:] }

// missing fails because something else was needed after what was read.
func (p *parser) missing(after string, expected ...string) {
	p.fail(failAt(p.tok, "%s where %s goes on", p.tok.stands(), after).expecting(expected...))
}

// checkUTF8 finds the first byte that belongs to no character.
func (p *parser) checkUTF8(query string) {
	if utf8.ValidString(query) {
		return
	}
	column := 1
	for i, r := range query {
		if r == utf8.RuneError && !strings.HasPrefix(query[i:], string(utf8.RuneError)) {
			p.fail(&Error{Column: column, Text: fmt.Sprintf("byte 0x%02x is no UTF-8; a query is UTF-8 text", query[i])})
		}
		column++
	}
}

// query reads a whole query (L2).
func (p *parser) query() {
	p.q.Pos = p.tok.Pos
	p.mode()
	if p.tok.kind == lparen {
		p.q.Scope = p.scope()
	}
	p.selector()
	for p.tok.kind != end {
		p.clause()
	}
}

func (p *parser) mode() {
	for m := Events; m <= Gaps; m++ {
		if p.accept(m.String()) {
			p.q.Mode = m
			return
		}
	}
	t := p.tok
	if t.kind == end {
		p.fail(failAt(t, "the query is empty").expecting(modeWords...))
	}
	e := failAt(t, "%s is no mode, and a query begins with one", t.shown())
	if t.kind == word {
		e.Near = modeHabits[upper(t.raw)]
		if t.is("SELECT") || t.is("FROM") || t.is("SHOW") {
			p.fail(failAt(t, `%s is no mode, and a query begins with one, as in LOGS WHERE … TAKE 20`, t.shown()))
		}
	}
	p.fail(e.expecting(modeWords...))
}

// scope reads "(node, life)".
func (p *parser) scope() *Scope {
	s := &Scope{Pos: p.take().Pos}
	s.Node = p.scopeName("node")
	if p.tok.kind == rparen {
		p.fail(failAt(p.tok, "a scope has two parts, (node, life); * stands for any"))
	}
	if !p.acceptSign(comma) {
		p.missing("the scope", ",")
	}
	s.Life = p.scopeName("life")
	if !p.acceptSign(rparen) {
		p.missing("the scope", ")")
	}
	return s
}

// scopeName reads a name or *, which is nil.
func (p *parser) scopeName(what string) *Name {
	t := p.tok
	switch {
	case t.kind == word && t.raw == "*":
		p.advance()
		return nil
	case t.kind == word && strings.Contains(t.raw, "*"):
		p.fail(failAt(t, "%s is no name: a scope takes a whole %s or *, no pattern", t.shown(), what))
	}
	return &Name{Pos: t.Pos, Value: p.name("a " + what + " or *")}
}

// selector reads what stands right behind the mode and scope (L2.3).
func (p *parser) selector() {
	t := p.tok
	c, isClause := asClause(t)
	switch {
	case p.q.Mode == Metric:
		if isClause {
			p.fail(failAt(t, "%s is a keyword, so the metric's name is missing; quote it to select a metric called %s", t.shown(), t.raw))
		}
		p.q.Pattern = p.patternHere("the name of a metric")
		if p.tok.kind == lbracket {
			p.q.Labels = p.labels()
		}
	case isClause && !c.modes.has(p.q.Mode):
		p.foreign(c)
	case isClause || t.kind == end || !hasPattern(p.q.Mode):
	case t.kind == word && t.raw[0] == '|':
		p.noClause()
	case t.kind == word || t.kind == text:
		if t.kind == word {
			p.pattern = t
		}
		p.q.Pattern = p.patternHere("a pattern")
	}
}

// hasPattern reports whether the mode takes a pattern (L2.2).
func hasPattern(m Mode) bool { return m != Streams && m != Gaps }

// clause reads one clause.
func (p *parser) clause() {
	t := p.tok
	c, ok := asClause(t)
	if !ok {
		p.noClause()
	}
	if !c.modes.has(p.q.Mode) {
		p.foreign(c)
	}
	if c.slot != repeatable {
		p.once(c.slot)
	}
	p.last = nil
	p.advance()
	clauseParsers[c.word](p, t)
}

// foreign fails at a clause of other modes. Right behind the mode the word may
// have been meant for a pattern (L2.3).
func (p *parser) foreign(c clauseWord) {
	instead := ""
	next := p.next()
	_, before := asClause(next)
	switch c.word {
	case "CONTAINING":
		instead = "; write WHERE field CONTAINS …"
	case "EXCLUDING":
		instead = "; write WHERE field NOT_CONTAINS …"
	case "AVG", "MIN", "MAX", "SUM", "P50", "P95", "P99":
		instead = "; write GROUP field " + c.word + " field"
	}
	inPlace := p.q.Pattern == nil && (p.prior.Pos == p.q.Pos || p.prior.kind == rparen)
	if inPlace && hasPattern(p.q.Mode) && (instead == "" || before || next.kind == end) {
		instead = "; quote it to select a channel called " + p.tok.raw
	}
	p.fail(failAt(p.tok, "%s is for %s%s", c.word, list(c.modes.words(), "and"), instead))
}

// once fails if what stands once stands again.
func (p *parser) once(s slot) {
	first, again := p.written[s]
	switch {
	case !again:
		p.written[s] = p.tok
		return
	case s == slotTransform || s == slotTerminal || s == slotAggregate:
		p.fail(failAt(p.tok, "%s is a second %s; %s stands at column %d already", upper(p.tok.raw), s, upper(first.raw), first.Column))
	}
	p.fail(failAt(p.tok, "%s stands at column %d already; every clause but WHERE and SELECT stands once", upper(p.tok.raw), first.Column))
}

// noClause fails at a token that begins no clause. The word before it may be
// the wrong one: in "EVENTS TAEK 10" the pattern is a misspelled clause.
func (p *parser) noClause() {
	may := clausesOf(p.q.Mode)
	t := p.tok
	behindPattern := p.pattern.raw != "" && p.prior == p.pattern
	if behindPattern && (clauseHabits[upper(p.pattern.raw)] != "" || clauseMeant(t, may) == "") {
		if near := clauseMeant(p.pattern, may); near != "" {
			p.fail(failAt(p.pattern, "%s is no clause", p.pattern.shown()).expecting(may...).meaning(near))
		}
	}
	if hint := p.strayHint(); hint != "" {
		p.fail(failAt(t, "%s is no clause; %s", t.shown(), hint))
	}
	if p.last != nil {
		may = append([]string{"AND", "OR"}, may...)
	}
	why := ""
	switch {
	case behindPattern:
		why = " (" + shorten(p.pattern.raw) + " is the pattern)"
	case !hasPattern(p.q.Mode) && p.prior.Pos == p.q.Pos:
		why = ", and " + p.q.Mode.String() + " takes no pattern"
	}
	if strings.HasPrefix(p.adjacent(), "|=") {
		t.raw = "|="
	}
	p.fail(failAt(t, "%s is no clause%s", t.shown(), why).meaning(clauseMeant(t, may)).expecting(may...))
}

// clauseMeant is the clause that a token was probably meant to begin. A habit
// of other languages is followed only where the mode has that clause.
func clauseMeant(t token, may []string) string {
	if meant := clauseHabits[upper(t.raw)]; meant != "" {
		for _, m := range may {
			if m == meant {
				return meant
			}
		}
	}
	if t.kind != word {
		return ""
	}
	return nearest(t.raw, may)
}

// strayHint says what to do about a token that often stands between clauses
// by mistake.
func (p *parser) strayHint() string {
	switch t := p.tok; {
	case p.last != nil && p.crossLast() && (t.is("AND") || t.is("OR")):
		return "a cross-type condition is a whole WHERE: write another WHERE for the rest"
	case t.is("NOT"):
		return "there is no NOT: write != or an operator with NOT_"
	case t.kind == greater && p.prior.end() == t.Offset && p.q.Pattern != nil:
		return "the wildcard is *, which stands for any run of characters"
	case t.kind == rparen:
		return "no ( is open"
	case t.kind == comma && p.last != nil:
		return "write AND between conditions"
	case t.kind == comma:
		return "nothing before it takes a list"
	case t.kind == lbracket:
		return "labels in [ ] stand right behind the name of a metric"
	case t.raw == "|":
		if strings.HasPrefix(p.adjacent(), "|=") {
			return ""
		}
		return "there are no pipes: clauses stand side by side, in any order"
	case p.behindOrigin() && clauseMeant(t, clausesOf(p.q.Mode)) == "":
		return "a comma stands between two origins"
	}
	return ""
}

// behindOrigin reports whether the token before was the last of FROM.
func (p *parser) behindOrigin() bool {
	return p.q.From != nil && p.prior.Pos == p.q.From.Origins[len(p.q.From.Origins)-1].Pos
}

// crossLast reports whether the WHERE just read was a cross-type condition.
func (p *parser) crossLast() bool {
	_, plain := p.last.(Expr)
	return !plain
}
