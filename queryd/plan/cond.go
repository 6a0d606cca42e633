package plan

import (
	"fmt"

	"datastream/queryd/syntax"
	"datastream/queryd/value"
	"datastream/queryd/view"
)

// conditions compiles WHERE and the selectors of LOGS, all of which hold.
func (b *builder) conditions() error {
	for _, w := range b.q.Where {
		c, err := b.condition(w)
		if err != nil {
			return err
		}
		b.spec.Where = append(b.spec.Where, c)
	}
	if b.q.ErrorOnly != nil {
		if err := b.add("is_error", value.Predicate{Op: value.Eq, Literals: []value.Value{value.OfBool(true)}}); err != nil {
			return err
		}
	}
	for _, t := range []*syntax.Text{b.q.Containing, b.q.Excluding} {
		if t == nil {
			continue
		}
		p := value.Predicate{Op: value.Contains, Not: t == b.q.Excluding, Literals: []value.Value{value.OfString(t.Value)}}
		if err := b.add("message", p); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) add(field string, p value.Predicate) error {
	c, err := b.test(field, p)
	b.spec.Where = append(b.spec.Where, c)
	return err
}

func (b *builder) condition(n syntax.Condition) (*view.Cond, error) {
	switch n := n.(type) {
	case *syntax.Or:
		kids, err := b.all(n.Terms)
		return view.Any(kids...), err
	case *syntax.And:
		kids, err := b.all(n.Terms)
		return view.All(kids...), err
	case syntax.Predicate:
		p, err := b.predicate(n)
		if err != nil {
			return nil, err
		}
		c, err := b.test(n.On().Name, p)
		if err != nil {
			return nil, &syntax.Error{Column: n.At().Column, Token: n.On().Name, Text: err.Error()}
		}
		return c, nil
	}
	return nil, fmt.Errorf("plan condition at column %d: %T is none", n.At().Column, n)
}

func (b *builder) all(terms []syntax.Expr) ([]*view.Cond, error) {
	kids := make([]*view.Cond, len(terms))
	for i, t := range terms {
		c, err := b.condition(t)
		if err != nil {
			return nil, err
		}
		kids[i] = c
	}
	return kids, nil
}

var ops = map[syntax.Op]value.Op{
	syntax.Equal: value.Eq, syntax.Unequal: value.Eq,
	syntax.Greater: value.Gt, syntax.AtLeast: value.Ge, syntax.Less: value.Lt, syntax.AtMost: value.Le,
	syntax.StartsWith: value.StartsWith, syntax.EndsWith: value.EndsWith, syntax.Contains: value.Contains,
	syntax.Has: value.Has, syntax.Matches: value.Matches,
}

func (b *builder) predicate(n syntax.Predicate) (p value.Predicate, err error) {
	switch n := n.(type) {
	case *syntax.Compare:
		op, not := n.Op.Positive()
		p = value.Predicate{Op: ops[op], Not: not || op == syntax.Unequal, Literals: []value.Value{literal(n.Value)}}
	case *syntax.In:
		p = value.Predicate{Op: value.In, Not: n.Not}
		for _, l := range n.List {
			p.Literals = append(p.Literals, literal(l))
		}
	case *syntax.IsNull:
		p = value.Predicate{Op: value.IsNull, Not: n.Not}
	case *syntax.Before:
		ns, err := n.Time.Resolve(b.now, b.zone)
		return value.Predicate{Op: value.Before, Not: n.Not, Literals: []value.Value{value.OfTime(ns)}}, err
	}
	return p, nil
}

// test makes a predicate on a field ready.
func (b *builder) test(field string, p value.Predicate) (*view.Cond, error) {
	ref := b.ref(field)
	switch field {
	case "node", "life", "channel":
		p.Exact = true // addresses (L5.2)
	case "is_error":
		if b.q.Mode == syntax.Logs && (p.Op == value.Eq || p.Op == value.In) {
			truths(p.Literals)
		}
	}
	t, err := value.NewTest(p)
	if err != nil {
		return nil, err
	}
	if ref == view.Fixed("position") {
		return view.IfPosition(t, p.Literals), nil
	}
	return view.If(ref, t), nil
}

// truths turns 1 and 0 into true and false, which is_error compares with as
// well (L4.3).
func truths(literals []value.Value) {
	for i, l := range literals {
		for n := range 2 {
			if value.Equal(l, value.OfInt(int64(n))) {
				literals[i] = value.OfBool(n == 1)
			}
		}
	}
}

// literal is the value of a literal.
func literal(l syntax.Literal) value.Value {
	switch l := l.(type) {
	case *syntax.Bool:
		return value.OfBool(l.Value)
	case *syntax.Int:
		return value.OfInt(l.Value)
	case *syntax.Uint:
		return value.OfUint(l.Value)
	case *syntax.Float:
		return value.OfFloat(l.Value)
	case *syntax.Str:
		return value.OfString(l.Value)
	case *syntax.Bytes:
		return value.OfBinary([]byte(l.Value))
	}
	return value.Value{}
}
