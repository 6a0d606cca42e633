package syntax

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// String is the query's canonical text: clauses in one order, keywords in
// upper case, literals quoted, names bare unless they could be read as a
// keyword. It parses to the same query (L2.11). Quoting can make it longer
// than what was parsed, for a query near MaxQuery longer than Parse takes.
func (q *Query) String() string { return printed(q) }

// printed is a node's canonical text.
func printed(n Node) string {
	w := printer{glued: true}
	w.node(n)
	return w.text.String()
}

// A printer collects canonical text.
type printer struct {
	text  strings.Builder
	glued bool // no space goes before the next word
}

// put writes words, each with a space before it unless it is glued.
func (w *printer) put(words ...string) {
	for _, s := range words {
		if !w.glued {
			w.text.WriteByte(' ')
		}
		w.text.WriteString(s)
		w.glued = false
	}
}

// open writes an opening bracket, behind and before which is no space.
func (w *printer) open(bracket string) {
	w.text.WriteString(bracket)
	w.glued = true
}

// shut writes what has no space before it.
func (w *printer) shut(sign string) {
	w.text.WriteString(sign)
	w.glued = false
}

// commas writes nodes with commas between.
func commas[N Node](w *printer, nodes []N) {
	for i, n := range nodes {
		if i > 0 {
			w.shut(",")
		}
		w.node(n)
	}
}

// flag writes words if they were written.
func (w *printer) flag(f *Flag, words ...string) {
	if f != nil {
		w.put(words...)
	}
}

// clause writes a keyword and its argument, if that is there.
func clause[T any, P interface {
	*T
	Node
}](w *printer, keyword string, n P) {
	if n != nil {
		w.put(keyword)
		w.node(n)
	}
}

func (w *printer) query(q *Query) {
	w.put(q.Mode.String())
	one(q.Scope, w.node)
	one(q.Pattern, w.node)
	one(q.Labels, w.node)
	if q.From != nil {
		w.put("FROM")
		commas(w, q.From.Origins)
	}
	w.flag(q.ErrorOnly, "ERROR", "ONLY")
	if q.Containing != nil {
		w.put("CONTAINING", quote(q.Containing.Value))
	}
	if q.Excluding != nil {
		w.put("EXCLUDING", quote(q.Excluding.Value))
	}
	one(q.Parse, w.node)
	clause(w, "SINCE", q.Since)
	clause(w, "UNTIL", q.Until)
	one(q.Zone, w.node)
	for _, c := range q.Where {
		w.put("WHERE")
		w.node(c)
	}
	one(q.Transform, w.node)
	one(q.Terminal, w.node)
	if q.Aggregate != nil {
		w.node(q.Aggregate)
	}
	clause(w, "EVERY", q.Every)
	if q.Sort != nil {
		w.put("SORT")
		commas(w, q.Sort)
	}
	clause(w, "SKIP", q.Skip)
	clause(w, "TAKE", q.Take)
	if q.Select != nil {
		w.put("SELECT")
		commas(w, q.Select)
	}
	w.flag(q.WithGaps, "WITH", "GAPS")
	w.flag(q.Stream, "STREAM")
	clause(w, "AFTER", q.After)
}

func (w *printer) node(n Node) {
	switch n := n.(type) {
	case *Query:
		w.query(n)
	case *Scope:
		w.put("")
		w.open("(")
		w.scopeName(n.Node)
		w.shut(",")
		w.scopeName(n.Life)
		w.shut(")")
	case *Name:
		w.put(bareOr(n.Value, isBareName))
	case *Text:
		w.put(bareOr(n.Value, isBareName))
	case *Pattern:
		w.put(bareOr(n.Value, isBarePattern))
	case *Field:
		w.put(bareOr(n.Name, func(s string) bool { return pathProblem(s) == "" }))
	case *Labels:
		w.open("[")
		commas(w, n.Predicates)
		w.shut("]")
	case *ParseAs:
		w.put("PARSE", n.Format.String())
		if n.Format == Capture {
			w.put(quote(n.Pattern))
		}
	case *Zone:
		w.put("ZONE", quote(n.Name))
	case *Transform:
		w.put(n.Func.String())
	case *Time:
		w.time(n)
	case *Duration:
		w.put(strconv.FormatUint(n.Count, 10) + n.Unit)
	case *Count:
		w.put(strconv.FormatUint(n.Value, 10))
	case *Key:
		w.node(n.Field)
		if n.Desc {
			w.put("DESC")
		}
	case Condition:
		w.condition(n)
	case Literal:
		w.literal(n)
	default:
		w.summary(n)
	}
}

func (w *printer) scopeName(n *Name) {
	if n == nil {
		w.put("*")
		return
	}
	w.node(n)
}

// summary writes aggregates, their functions and terminals.
func (w *printer) summary(n Node) {
	switch n := n.(type) {
	case *Terminal:
		if n.Over == nil {
			w.put(n.Func.String())
		}
		clause(w, n.Func.String()+"_OVER", n.Over)
	case *CountRows:
		w.put("COUNT")
	case *CountBy:
		clause(w, "COUNT BY", n.Field)
	case *Top:
		clause(w, "TOP", n.Rows)
		clause(w, "BY", n.Field)
	case *Distinct:
		clause(w, "DISTINCT", n.Field)
	case *Group:
		w.put("GROUP")
		commas(w, n.Keys)
		commas(w, n.Funcs)
	case *Func:
		w.put(n.Kind.String())
		one(n.Field, w.node)
	}
}

func (w *printer) time(t *Time) {
	switch t.Kind {
	case Ago:
		w.node(t.Span)
		w.put("ago")
	case Hence:
		w.node(t.Span)
		w.put("hence")
	case Today:
		w.put("today")
	case Yesterday:
		w.put("yesterday")
	case Quoted:
		w.put(quote(t.Text))
	case Nanos:
		w.put(strconv.FormatInt(t.Nanos, 10))
	default:
		w.put(t.Text)
	}
}

func (w *printer) condition(c Condition) {
	switch c := c.(type) {
	case *Or:
		for i, x := range c.Terms {
			if i > 0 {
				w.put("OR")
			}
			w.node(x)
		}
	case *And:
		for i, x := range c.Terms {
			if i > 0 {
				w.put("AND")
			}
			if _, or := x.(*Or); !or {
				w.node(x)
				continue
			}
			w.put("")
			w.open("(")
			w.node(x)
			w.shut(")")
		}
	case Predicate:
		w.predicate(c)
	default:
		w.cross(c)
	}
}

func (w *printer) cross(c Condition) {
	switch c := c.(type) {
	case *MetricHolds:
		w.put("METRIC")
		one(c.Scope, w.node)
		w.node(c.Pattern)
		one(c.Labels, w.node)
		w.put(c.Op.String())
		w.node(c.Value)
		w.flag(c.PerNode, "PER", "NODE")
	case *EventExists:
		w.put("EVENT")
		one(c.Scope, w.node)
		w.node(c.Pattern)
		w.put("EXISTS")
		w.flag(c.PerNode, "PER", "NODE")
	case *LogExists:
		w.put("LOG")
		one(c.Scope, w.node)
		w.node(c.Origin)
		if c.Containing != nil {
			w.put("CONTAINING", quote(c.Containing.Value))
		}
		w.put("EXISTS")
		w.flag(c.PerNode, "PER", "NODE")
	}
}

func (w *printer) predicate(x Predicate) {
	w.node(x.On())
	not := func(is bool) string {
		if is {
			return "NOT_"
		}
		return ""
	}
	switch x := x.(type) {
	case *Compare:
		w.put(x.Op.String())
		w.node(x.Value)
	case *In:
		w.put(not(x.Not)+"IN", "")
		w.open("(")
		commas(w, x.List)
		w.shut(")")
	case *IsNull:
		w.put("IS")
		if x.Not {
			w.put("NOT")
		}
		w.put("NULL")
	case *Before:
		w.put(not(x.Not) + "BEFORE")
		w.node(x.Time)
	}
}

func (w *printer) literal(l Literal) {
	switch l := l.(type) {
	case *Bool:
		w.put(strconv.FormatBool(l.Value))
	case *Int:
		w.put(strconv.FormatInt(l.Value, 10))
	case *Uint:
		w.put(strconv.FormatUint(l.Value, 10))
	case *Float:
		w.put(floatText(l.Value))
	case *Str:
		w.put(quote(l.Value))
	case *Bytes:
		w.put(`x"` + hex.EncodeToString([]byte(l.Value)) + `"`)
	}
}

// floatText is the shortest text that reads as the float and as no integer.
func floatText(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// bareOr is a name as it is if it may stand bare and is no keyword, else in
// quotes.
func bareOr(s string, bare func(string) bool) string {
	if bare(s) && !isKeyword(s) {
		return s
	}
	return quote(s)
}

// quote writes a string with the escapes of L2.6. Characters that do not
// print are escaped where an escape exists, which is up to U+FFFF.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r <= 0xffff && !unicode.IsPrint(r):
			const digits = "0123456789abcdef"
			b.Write([]byte{'\\', 'u', digits[r>>12], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
