package syntax

import "slices"

// clauseParsers read a clause behind its first word, which they are given.
var clauseParsers = map[string]func(*parser, token){
	"FROM":       (*parser).from,
	"ERROR":      (*parser).errorOnly,
	"CONTAINING": func(p *parser, t token) { p.q.Containing = p.text("the text to look for") },
	"EXCLUDING":  func(p *parser, t token) { p.q.Excluding = p.text("the text to leave out") },
	"PARSE":      (*parser).parseAs,
	"SINCE":      func(p *parser, t token) { p.q.Since = p.time() },
	"UNTIL":      func(p *parser, t token) { p.q.Until = p.time() },
	"ZONE":       (*parser).zone,
	"WHERE":      (*parser).where,
	"RATE":       (*parser).transform,
	"DELTA":      (*parser).transform,
	"P50":        (*parser).transform,
	"P95":        (*parser).transform,
	"P99":        (*parser).transform,
	"AVG":        (*parser).terminal,
	"MIN":        (*parser).terminal,
	"MAX":        (*parser).terminal,
	"SUM":        (*parser).terminal,
	"AVG_OVER":   (*parser).terminal,
	"MIN_OVER":   (*parser).terminal,
	"MAX_OVER":   (*parser).terminal,
	"SUM_OVER":   (*parser).terminal,
	"COUNT":      (*parser).countRows,
	"TOP":        (*parser).top,
	"DISTINCT":   func(p *parser, t token) { p.q.Aggregate = &Distinct{Pos: t.Pos, Field: p.field()} },
	"GROUP":      (*parser).group,
	"EVERY":      func(p *parser, t token) { p.q.Every = p.duration() },
	"SORT":       (*parser).sort,
	"SKIP":       func(p *parser, t token) { p.q.Skip = p.count() },
	"TAKE":       func(p *parser, t token) { p.q.Take = p.count() },
	"SELECT":     (*parser).selectFields,
	"WITH":       (*parser).withGaps,
	"STREAM":     func(p *parser, t token) { p.q.Stream = &Flag{t.Pos} },
	"AFTER":      func(p *parser, t token) { p.q.After = p.text("a cursor") },
}

// from reads "FROM a, b". The word behind FROM is always an origin (L2.3).
func (p *parser) from(t token) {
	f := &From{Pos: t.Pos}
	for {
		f.Origins = append(f.Origins, p.patternHere("an origin"))
		if !p.acceptSign(comma) {
			break
		}
	}
	p.q.From = f
}

func (p *parser) errorOnly(t token) {
	p.q.ErrorOnly = &Flag{t.Pos}
	if p.accept("ONLY") {
		return
	}
	quote := ""
	if p.prior.Pos == t.Pos && p.q.Pattern == nil {
		quote = "; quote it to select a channel called " + t.raw
	}
	p.fail(failAt(p.tok, "ERROR is the beginning of ERROR ONLY%s", quote).expecting("ONLY"))
}

func (p *parser) withGaps(t token) {
	p.q.WithGaps = &Flag{t.Pos}
	if !p.accept("GAPS") {
		p.missing("WITH", "GAPS")
	}
}

// parseAs reads "PARSE JSON" and the like.
func (p *parser) parseAs(t token) {
	a := &ParseAs{Pos: t.Pos}
	p.q.Parse = a
	for f, w := range formatWords {
		if !p.accept(w) {
			continue
		}
		if a.Format = Format(f); a.Format == Capture {
			if p.tok.kind != text {
				p.fail(failAt(p.tok, `PARSE PATTERN takes a string, as in PARSE PATTERN "<ip> - <_>"`).expecting(`"…"`))
			}
			a.Pattern = p.tok.value
			a.Pieces = p.pieces()
			p.advance()
		}
		return
	}
	p.missing("PARSE", formatWords...)
}

// transform reads a transform, which is a word alone.
func (p *parser) transform(t token) {
	i := slices.IndexFunc(transformWords, t.is)
	p.q.Transform = &Transform{Pos: t.Pos, Func: TransformFunc(i)}
}

// terminal reads "AVG" or "AVG_OVER 5m".
func (p *parser) terminal(t token) {
	for f, w := range terminalWords {
		switch {
		case t.is(w):
			p.q.Terminal = &Terminal{Pos: t.Pos, Func: TerminalFunc(f)}
		case t.is(w + "_OVER"):
			p.q.Terminal = &Terminal{Pos: t.Pos, Func: TerminalFunc(f), Over: p.duration()}
		}
	}
}

// countRows reads "COUNT" or "COUNT BY f".
func (p *parser) countRows(t token) {
	p.q.Aggregate = &CountRows{t.Pos}
	if p.tok.kind == lparen {
		p.fail(failAt(p.tok, "functions take no parentheses: COUNT, COUNT BY f, GROUP f COUNT"))
	}
	if p.accept("BY") {
		p.q.Aggregate = &CountBy{Pos: t.Pos, Field: p.field()}
	}
}

// top reads "TOP 5 BY f".
func (p *parser) top(t token) {
	rows := p.count()
	if !p.accept("BY") {
		p.missing("TOP", "BY")
	}
	p.q.Aggregate = &Top{Pos: t.Pos, Rows: rows, Field: p.field()}
}

// group reads "GROUP a, b COUNT, P95 ms".
func (p *parser) group(t token) {
	if p.tok.is("BY") && !p.next().in(funcWords) && p.next().kind != comma {
		p.fail(failAt(p.tok, "GROUP takes its fields without BY, and then its functions: GROUP f COUNT"))
	}
	g := &Group{Pos: t.Pos, Keys: p.fields()}
	for {
		g.Funcs = append(g.Funcs, p.function(len(g.Keys)))
		if !p.acceptSign(comma) {
			break
		}
	}
	p.q.Aggregate = g
}

// function reads one function of GROUP.
func (p *parser) function(keys int) *Func {
	t := p.tok
	i := slices.IndexFunc(funcWords, t.is)
	if i < 0 {
		e := failAt(t, "%s is no function of GROUP", t.shown())
		if t.kind == end || isClauseOnly(t) {
			e = failAt(t, "GROUP has %s and no function", plural(keys, "field"))
		}
		p.fail(e.meaning(funcHabits[upper(t.raw)]).expecting(funcWords...))
	}
	p.advance()
	f := &Func{Pos: t.Pos, Kind: FuncKind(i)}
	if p.tok.kind == lparen {
		p.fail(failAt(p.tok, "functions take no parentheses: write %s", funcUse(f.Kind)))
	}
	if f.Kind != FuncCount {
		f.Field = p.field()
	}
	return f
}

// isClauseOnly reports whether the token begins a clause, and so ends GROUP.
func isClauseOnly(t token) bool {
	_, ok := asClause(t)
	return ok
}

func funcUse(k FuncKind) string {
	if k == FuncCount {
		return "COUNT"
	}
	return k.String() + " field"
}

// selectFields reads "SELECT a, b", which may stand more than once.
func (p *parser) selectFields(t token) {
	if p.q.Select == nil {
		p.written["SELECT"] = t
	}
	p.q.Select = append(p.q.Select, p.fields()...)
}

// sort reads "SORT a, b DESC".
func (p *parser) sort(t token) {
	if p.tok.is("BY") && p.next().kind != end && p.next().kind != comma && !isClauseOnly(p.next()) && !p.next().in(directions) {
		p.fail(failAt(p.tok, "SORT takes its fields without BY: SORT %s", shorten(p.next().raw)))
	}
	for {
		f := p.field()
		k := &Key{Pos: f.Pos, Field: f}
		if !p.accept(directions[0]) {
			k.Desc = p.accept(directions[1])
		}
		p.q.Sort = append(p.q.Sort, k)
		if !p.acceptSign(comma) {
			return
		}
	}
}

var directions = []string{"ASC", "DESC"}

// fields reads "a, b".
func (p *parser) fields() []*Field {
	var all []*Field
	for {
		all = append(all, p.field())
		if !p.acceptSign(comma) {
			return all
		}
	}
}
