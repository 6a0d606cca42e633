package syntax

import (
	"slices"
	"strings"
)

// coordinates are the fields that every record of a channel has (L4).
var coordinates = []string{"timestamp", "node", "life", "channel", "position"}

// fixedFields are the fields that each mode always knows (L4).
var fixedFields = map[Mode][]string{
	Events:   coordinates,
	Latest:   append(slices.Clone(coordinates), "kind", "size", "payload"),
	Logs:     append(slices.Clone(coordinates), "origin", "is_error", "message"),
	Frames:   append(slices.Clone(coordinates), "kind", "size", "payload"),
	Channels: {"node", "life", "channel", "kind", "frames", "timestamp"},
	Streams: {"node", "life", "first", "last", "assigned", "stored", "missing", "evicted", "pending",
		"dropped", "gaps", "timestamp", "alive"},
	Gaps:   {"node", "life", "gap_from", "gap_to", "missing", "cause", "timestamp"},
	Metric: {"timestamp", "node", "life", "name", "type", "value", "overflow"},
}

// openModes know every other path too, METRIC as a label.
var openModes = modes(Events, Latest, Metric)

// Fields are the names that records of the mode always have, in their order
// (L4.6).
func (m Mode) Fields() []string { return slices.Clone(fixedFields[m]) }

// Open reports whether the mode knows other fields than those: paths of the
// payload, and in METRIC labels. LOGS with PARSE, which knows parsed.…, is not.
func (m Mode) Open() bool { return openModes.has(m) }

// ordered are the fixed fields that > >= < <= may compare (L6.4): instants,
// positions and counts.
var ordered = []string{
	"timestamp", "position", "size", "value", "frames", "gap_from", "gap_to",
	"first", "last", "assigned", "stored", "missing", "evicted", "pending", "dropped", "gaps",
}

// fieldHabits are names that other systems have for the fixed fields.
var fieldHabits = map[string]string{
	"MSG": "message", "_MSG": "message", "LINE": "message", "BODY": "message", "TEXT": "message",
	"TIME": "timestamp", "_TIME": "timestamp", "TS": "timestamp", "HOST": "node", "HOSTNAME": "node",
	"SEQ": "position", "OFFSET": "position", "SEQUENCE": "position", "TOPIC": "channel", "SUBJECT": "channel",
	"SERVICE": "origin", "SOURCE": "origin", "APP": "origin", "STREAM": "origin", "REASON": "cause", "COUNT": "frames",
	"FROM": "gap_from", "TO": "gap_to", "DATA": "payload", "LENGTH": "size", "LOST": "missing",
}

// A use is where a field stands, where that matters.
type use uint8

const (
	used     use = iota
	selected     // in SELECT, which also takes what is under the field (L4.5)
	sorted       // in SORT, which sees what is output alone
)

// checkFields holds every field of the query to the names that its mode has,
// and every predicate to what its field can be compared with.
func (p *parser) checkFields() {
	q := p.q
	p.checkLabels(q.Labels)
	for _, c := range q.Where {
		if m, ok := c.(*MetricHolds); ok {
			p.checkLabels(m.Labels)
			continue
		}
		Walk(c, func(n Node) bool {
			x, ok := n.(Predicate)
			if ok {
				p.checkField(x.On(), used)
				p.checkPredicate(x)
			}
			return !ok
		})
	}
	for _, f := range q.Select {
		p.checkField(f, selected)
	}
	if q.Aggregate != nil {
		p.checkAggregate()
		return
	}
	for _, k := range q.Sort {
		p.checkField(k.Field, sorted)
	}
}

// checkField fails unless the mode has the field.
func (p *parser) checkField(f *Field, u use) {
	m, name := p.q.Mode, f.Name
	fixed := fixedFields[m]
	switch {
	case m == Metric && (name == "channel" || name == "position"):
		p.failField(f, "METRIC has no %s: a series is of one, and a name says which", name)
	case m == Metric && name == "overflow" && u != sorted:
		p.failField(f, "overflow is known once an answer is, so it may only be sorted by")
	case openModes.has(m) || slices.Contains(fixed, name):
		return
	case m == Logs && (strings.HasPrefix(name, "parsed.") || name == "parsed" && u == selected):
		if p.q.Parse == nil {
			p.failField(f, "%s needs PARSE JSON, PARSE LOGFMT or PARSE PATTERN", shorten(name))
		}
		return
	}
	t := p.tokenAt(f)
	e := failAt(t, "%s is no field of %s", t.shown(), m)
	if meant := fieldHabits[upper(name)]; slices.Contains(fixed, meant) {
		e.Near = meant
	}
	if e.Near == "" {
		e.Near = nearest(name, fixed)
	}
	if m == Logs {
		fixed = append(slices.Clone(fixed), "parsed.… with PARSE")
	}
	p.fail(e.expecting(fixed...))
}

func (p *parser) failField(f *Field, format string, args ...any) {
	p.fail(failAt(p.tokenAt(f), format, args...))
}

// checkPredicate refuses to order what has no order (L6.4), and to compare
// labels with anything but text (L9.1).
func (p *parser) checkPredicate(x Predicate) {
	name := x.On().Name
	fixed := slices.Contains(fixedFields[p.q.Mode], name)
	if p.q.Mode == Metric && (!fixed || name == "node") {
		p.checkLabel(x)
		return
	}
	c, ok := x.(*Compare)
	if !ok || !c.Op.Orders() || !fixed || slices.Contains(ordered, name) {
		return
	}
	with := slices.DeleteFunc(slices.Clone(fixedFields[p.q.Mode]), func(s string) bool { return !slices.Contains(ordered, s) })
	p.failField(c.Field, "%s has no order, so %s does not compare it; here %s", name, c.Op, haveOrder(with))
}

func haveOrder(names []string) string {
	if len(names) == 1 {
		return names[0] + " has one"
	}
	return list(names, "and") + " have one"
}

// checkLabels holds the predicates in brackets to labels. Of the fixed names
// only node is a label too (L9).
func (p *parser) checkLabels(l *Labels) {
	if l == nil {
		return
	}
	for _, x := range l.Predicates {
		name := x.On().Name
		if name != "node" && slices.Contains(fixedFields[Metric], name) || name == "channel" || name == "position" {
			p.failField(x.On(), "%s is no label; [ ] takes labels, and WHERE the other fields of METRIC", name)
		}
		p.checkLabel(x)
	}
}

// checkLabel refuses to compare a label with anything but text.
func (p *parser) checkLabel(x Predicate) {
	var values []Literal
	switch x := x.(type) {
	case *Compare:
		if x.Op.Orders() {
			p.failField(x.Field, "the label %s is text, which %s does not compare", shorten(x.Field.Name), x.Op)
		}
		values = []Literal{x.Value}
	case *In:
		values = x.List
	case *Before:
		p.failField(x.Field, "the label %s is text, and no instant", shorten(x.Field.Name))
	}
	for _, v := range values {
		if _, ok := v.(*Str); !ok {
			t := p.tokenAt(v)
			e := failAt(t, "%s is no text, and the label %s compares with text alone", shorten(t.raw), shorten(x.On().Name))
			if t.kind == word {
				e.Near = `"` + shorten(t.raw) + `"`
			}
			p.fail(e)
		}
	}
}

// checkAggregate holds the aggregate's fields to the mode, refuses to say one
// thing twice, and holds SORT to the outputs (L8.1).
func (p *parser) checkAggregate() {
	Walk(p.q.Aggregate, func(n Node) bool {
		if f, ok := n.(*Field); ok {
			p.checkField(f, used)
		}
		return true
	})
	if g, ok := p.q.Aggregate.(*Group); ok {
		p.checkRepeats(g)
	}
	outputs := p.q.Outputs()
	for _, k := range p.q.Sort {
		if slices.Contains(outputs, k.Field.Name) {
			continue
		}
		t := p.tokenAt(k.Field)
		e := failAt(t, "%s is no output of %s", t.shown(), aggregateWords(p.q.Aggregate))
		e.Near = nearest(k.Field.Name, outputs)
		p.fail(e.expecting(outputs...))
	}
}

// checkRepeats refuses two equal keys or functions, which one row cannot show.
func (p *parser) checkRepeats(g *Group) {
	keys := map[string]bool{}
	for _, k := range g.Keys {
		if keys[k.Name] {
			p.failField(k, "%s is a key of GROUP already", shorten(k.Name))
		}
		keys[k.Name] = true
	}
	funcs := map[string]bool{}
	for _, f := range g.Funcs {
		if name := f.output(2); funcs[name] {
			p.fail(failAt(p.tokenAt(f), "GROUP computes %s already", printed(f)))
		}
		funcs[f.output(2)] = true
	}
}

// Outputs are the names of an aggregate's fields as a record has them: the
// bucket's start with EVERY, the keys, the functions (L8). An output that a
// key names already has _ behind it. Of a raw query they are nil.
func (q *Query) Outputs() []string {
	if q.Aggregate == nil {
		return nil
	}
	keys, funcs := namesOf(q.Aggregate)
	taken := map[string]bool{}
	for _, k := range keys {
		taken[k] = true
	}
	free := func(name string) string {
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		return name
	}
	var outputs []string
	if q.Every != nil {
		outputs = []string{free("timestamp")}
	}
	outputs = append(outputs, keys...)
	for _, f := range funcs {
		outputs = append(outputs, free(f))
	}
	return outputs
}

// namesOf are an aggregate's keys and functions before any gets _.
func namesOf(a Aggregate) (keys, funcs []string) {
	switch a := a.(type) {
	case *CountRows:
		funcs = []string{"count"}
	case *CountBy:
		keys, funcs = []string{a.Field.Name}, []string{"count"}
	case *Top:
		keys, funcs = []string{a.Field.Name}, []string{"count"}
	case *Distinct:
		keys = []string{a.Field.Name}
	case *Group:
		for _, k := range a.Keys {
			keys = append(keys, k.Name)
		}
		for _, f := range a.Funcs {
			funcs = append(funcs, f.output(len(a.Funcs)))
		}
	}
	return keys, funcs
}

// output is the name of a function's field, given how many functions GROUP
// has: sum, or sum_x beside others.
func (f *Func) output(of int) string {
	name := strings.ToLower(f.Kind.String())
	if f.Field == nil || of == 1 {
		return name
	}
	return name + "_" + f.Field.Name
}
