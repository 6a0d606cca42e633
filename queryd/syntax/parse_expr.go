package syntax

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// crossWords begin a cross-type condition right behind WHERE.
var crossWords = []string{"METRIC", "EVENT", "LOG"}

// where reads "WHERE a == 1 OR …" or a cross-type condition.
func (p *parser) where(token) {
	p.nesting = 0
	var c Condition
	if p.tok.in(crossWords) && !isOperator(p.next()) {
		c = p.cross()
	} else {
		c = p.or()
	}
	p.q.Where = append(p.q.Where, c)
	p.last = c
}

// or reads and-expressions between OR. Terms that are themselves an Or, in
// parentheses, are spliced in: so a tree has one shape for one meaning.
func (p *parser) or() Expr {
	o := &Or{Pos: p.tok.Pos}
	for {
		x := p.and()
		if inner, ok := x.(*Or); ok {
			o.Terms = append(o.Terms, inner.Terms...)
		} else {
			o.Terms = append(o.Terms, x)
		}
		if !p.accept("OR") {
			break
		}
	}
	if len(o.Terms) == 1 {
		return o.Terms[0]
	}
	return o
}

// and reads atoms between AND.
func (p *parser) and() Expr {
	a := &And{Pos: p.tok.Pos}
	for {
		x := p.atom()
		if inner, ok := x.(*And); ok {
			a.Terms = append(a.Terms, inner.Terms...)
		} else {
			a.Terms = append(a.Terms, x)
		}
		if !p.accept("AND") {
			break
		}
	}
	if len(a.Terms) == 1 {
		return a.Terms[0]
	}
	return a
}

// atom reads a predicate, or an expression in parentheses.
func (p *parser) atom() Expr {
	if p.tok.kind != lparen {
		return p.predicate(false)
	}
	open := p.take()
	if p.nesting++; p.nesting > MaxNesting {
		p.fail(failAt(open, "parentheses stand in each other more than %d deep", MaxNesting))
	}
	x := p.or()
	p.nesting--
	if p.tok.kind == end {
		p.fail(failAt(p.tok, "the ( at column %d is never closed", open.Column).expecting(")"))
	}
	if !p.acceptSign(rparen) {
		e := failAt(p.tok, "%s stands inside ( of column %d", p.tok.shown(), open.Column)
		p.fail(e.meaning(clauseMeant(p.tok, []string{"AND", "OR"})).expecting("AND", "OR", ")"))
	}
	return x
}

// labels reads "[a = "x", b CONTAINS "y"]" (L9.1).
func (p *parser) labels() *Labels {
	l := &Labels{Pos: p.take().Pos}
	if p.acceptSign(rbracket) {
		return l
	}
	for {
		l.Predicates = append(l.Predicates, p.predicate(true))
		if p.acceptSign(comma) {
			continue
		}
		if !p.acceptSign(rbracket) {
			if p.tok.is("AND") {
				p.fail(failAt(p.tok, "a comma stands between labels, and means AND"))
			}
			p.missing("the list of labels", ",", "]")
		}
		return l
	}
}

// compareSigns are the operators that are signs.
var compareSigns = map[kind]Op{
	equal: Equal, unequal: Unequal, greater: Greater, atLeast: AtLeast, less: Less, atMost: AtMost,
}

// fieldOps are the operators that are words, those of Op and the others.
var fieldOps = append(slices.Clone(opWords[StartsWith:]), "IN", "NOT_IN", "IS", "BEFORE", "NOT_BEFORE")

// isOperator reports whether a token may follow a field.
func isOperator(t token) bool {
	_, sign := compareSigns[t.kind]
	return sign || t.kind == assign || t.kind == bang || t.in(fieldOps)
}

// predicate reads one comparison; among labels "=" is "==".
func (p *parser) predicate(label bool) Predicate {
	if p.tok.kind == word && !isOperator(p.next()) {
		p.notField()
	}
	f := &Field{Pos: p.tok.Pos}
	if label {
		f.Name = p.label()
	} else {
		f = p.field()
	}
	t := p.tok
	switch {
	case t.kind == assign && label:
		p.noOperator("~") // "=~" is none here either
		p.advance()
		return &Compare{Pos: f.Pos, Field: f, Op: Equal, Value: p.literal()}
	case t.in(fieldOps[len(fieldOps)-5:]):
		p.advance()
		return p.special(f, t)
	}
	op, ok := compareSigns[t.kind]
	if i := slices.IndexFunc(opWords[StartsWith:], t.is); i >= 0 {
		op, ok = StartsWith+Op(i), true
	}
	if !ok {
		p.badOperator(f)
	}
	p.advance()
	if t.kind == less && p.tok.kind == greater && t.end() == p.tok.Offset {
		p.fail(failAt(t, `"<>" is no operator`).meaning("!="))
	}
	c := &Compare{Pos: f.Pos, Field: f, Op: op}
	p.operand(c)
	return c
}

// operand reads and checks what a field is compared with (L6.4).
func (p *parser) operand(c *Compare) {
	t := p.tok
	c.Value = p.literal()
	_, isText := c.Value.(*Str)
	switch {
	case c.Op.takesText() && !isText:
		e := failAt(t, "%s takes text, and %s is none", c.Op, shorten(t.raw))
		if t.kind == word {
			e.Near = `"` + shorten(t.raw) + `"`
		}
		p.fail(e)
	case c.Op.Orders() && !isNumber(c.Value):
		p.fail(failAt(t, "%s compares numbers, and %s is none", c.Op, shorten(t.raw)))
	case c.Op == Matches || c.Op == NotMatches:
		p.checkMatches(t, c.Value.(*Str).Value)
	}
}

func isNumber(l Literal) bool {
	switch l.(type) {
	case *Int, *Uint, *Float:
		return true
	}
	return false
}

// checkMatches refuses an expression that is too long or no RE2 (L2.9). It is
// parsed and not compiled: whoever runs it compiles it once.
func (p *parser) checkMatches(t token, expr string) {
	if len(expr) > MaxMatches {
		p.fail(failAt(t, "the expression has %d bytes, at most %d are allowed", len(expr), MaxMatches))
	}
	if _, err := syntax.Parse(expr, syntax.Perl); err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		p.fail(failAt(t, "%s is no regular expression (RE2): %s", t.shown(), shorten(why)))
	}
}

// special reads what follows IN, NOT_IN, IS, BEFORE and NOT_BEFORE.
func (p *parser) special(f *Field, op token) Predicate {
	switch {
	case op.is("IS"):
		n := &IsNull{Pos: f.Pos, Field: f, Not: p.accept("NOT")}
		if !p.accept("NULL") {
			p.missing(upper(p.prior.raw), "NULL")
		}
		return n
	case op.is("BEFORE"), op.is("NOT_BEFORE"):
		return &Before{Pos: f.Pos, Field: f, Not: op.is("NOT_BEFORE"), Time: p.time()}
	}
	n := &In{Pos: f.Pos, Field: f, Not: op.is("NOT_IN")}
	if !p.acceptSign(lparen) {
		p.missing(upper(op.raw), "(")
	}
	if p.tok.kind == rparen {
		p.fail(failAt(p.tok, "the list of %s is empty", upper(op.raw)))
	}
	for {
		if len(n.List) == MaxIn {
			p.fail(failAt(p.tok, "the list of %s has more than %d values", upper(op.raw), MaxIn))
		}
		n.List = append(n.List, p.literal())
		if !p.acceptSign(comma) {
			break
		}
	}
	if !p.acceptSign(rparen) {
		p.missing("the list of "+upper(op.raw), ",", ")")
	}
	return n
}

// notField fails where words that are often meant otherwise stand in a
// field's place with no operator behind them.
func (p *parser) notField() {
	t := p.tok
	switch {
	case t.is("NOT") && p.next().kind != end:
		p.fail(failAt(t, "there is no NOT: write != or an operator with NOT_, as NOT_CONTAINS"))
	case t.in(crossWords) && p.next().kind != end:
		p.fail(failAt(t, "%s begins a cross-type condition, which is a whole WHERE by itself", upper(t.raw)))
	}
}

// badOperator fails at a token that is no operator.
func (p *parser) badOperator(f *Field) {
	t := p.tok
	p.noOperator("")
	switch {
	case t.kind == end:
		p.fail(failAt(t, "the query ends where %s is to be compared: an operator follows a field, as == CONTAINS IN or IS NULL", shorten(f.Name)))
	case t.is("NOT"):
		n := p.next()
		if near := "NOT_" + upper(n.raw); slices.Contains(fieldOps, near) {
			p.fail(failAt(t, "%s is no operator", `"`+t.raw+" "+n.raw+`"`).meaning(near))
		}
		near := opHabits[upper(n.raw)]
		if near == "CONTAINS" || near == "MATCHES" {
			near = "NOT_" + near
		}
		p.fail(failAt(t, "there is no NOT: write != or an operator with NOT_").meaning(near))
	case t.is("BETWEEN"):
		p.fail(failAt(t, "there is no BETWEEN: write %s >= … AND %s <= …", shorten(f.Name), shorten(f.Name)))
	}
	e := failAt(t, "%s is no operator", t.shown())
	e.Near = opHabits[upper(t.raw)]
	if t.kind != word {
		e.Token = ""
	}
	e.expecting(append(slices.Clone(opWords), fieldOps[len(fieldOps)-5:]...)...)
	e.Token = t.raw
	p.fail(e)
}

// noOperator fails at an operator of another language. With a second sign it
// looks only for one that has it right behind "=".
func (p *parser) noOperator(second string) {
	rest := p.adjacent()
	if second != "" && !strings.HasPrefix(rest, "="+second) {
		return
	}
	for _, h := range signHabits {
		if strings.HasPrefix(rest, h.written) {
			if h.written == "=" {
				p.fail(failAt(p.tok, `"=" is no operator here`).meaning("=="))
			}
			p.fail(failAt(p.tok, `"%s" is no operator`, h.written).meaning(h.meant))
		}
	}
}

// cross reads a cross-type condition (L10).
func (p *parser) cross() Condition {
	t := p.take()
	var c Condition
	var perNode **Flag
	switch {
	case t.is("METRIC"):
		m := &MetricHolds{Pos: t.Pos, Scope: p.maybeScope(), Pattern: p.patternHere("the name of a metric")}
		if p.tok.kind == lbracket {
			m.Labels = p.labels()
		}
		p.threshold(m)
		c, perNode = m, &m.PerNode
	case t.is("EVENT"):
		e := &EventExists{Pos: t.Pos, Scope: p.maybeScope(), Pattern: p.patternHere("a pattern")}
		if !p.accept("EXISTS") {
			p.missing("an EVENT condition", "EXISTS")
		}
		c, perNode = e, &e.PerNode
	default:
		l := &LogExists{Pos: t.Pos, Scope: p.maybeScope(), Origin: p.patternHere("an origin")}
		if p.accept("CONTAINING") {
			l.Containing = p.text("the text to look for")
		}
		if !p.accept("EXISTS") {
			p.missing("a LOG condition", "CONTAINING", "EXISTS")
		}
		c, perNode = l, &l.PerNode
	}
	if per := p.tok; p.accept("PER") {
		if *perNode = (&Flag{per.Pos}); !p.accept("NODE") {
			p.missing("PER", "NODE")
		}
	}
	return c
}

func (p *parser) maybeScope() *Scope {
	if p.tok.kind != lparen {
		return nil
	}
	return p.scope()
}

// threshold reads the "> 80" of a METRIC condition.
func (p *parser) threshold(m *MetricHolds) {
	t := p.tok
	op, ok := compareSigns[t.kind]
	if !ok {
		p.noOperator("")
		p.fail(failAt(t, "%s where the METRIC condition goes on, which compares with a number", t.stands()).expecting(opWords[:StartsWith]...))
	}
	p.advance()
	t = p.tok
	m.Op, m.Value = op, p.literal()
	if !isNumber(m.Value) {
		p.fail(failAt(t, "a METRIC condition compares with a number, and %s is none", shorten(t.raw)))
	}
}
