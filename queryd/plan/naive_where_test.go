package plan

import (
	"bytes"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"datastream/queryd/syntax"
	"datastream/queryd/value"
)

// This file is WHERE of the second evaluator.

func naiveWhere(q *syntax.Query, r *rec) bool {
	for _, c := range q.Where {
		if !naiveHolds(q, c, r) {
			return false
		}
	}
	if q.Mode != syntax.Logs || r.gap {
		return true
	}
	message := r.all["message"]
	has := func(t *syntax.Text) bool {
		return message.Kind() == value.String && strings.Contains(strings.ToLower(message.Text()), strings.ToLower(t.Value))
	}
	return (q.ErrorOnly == nil || r.all["is_error"].Bool()) && (q.Containing == nil || has(q.Containing)) && (q.Excluding == nil || !has(q.Excluding))
}

func naiveHolds(q *syntax.Query, c syntax.Condition, r *rec) bool {
	switch c := c.(type) {
	case *syntax.Or:
		return slices.ContainsFunc(c.Terms, func(x syntax.Expr) bool { return naiveHolds(q, x, r) })
	case *syntax.And:
		return !slices.ContainsFunc(c.Terms, func(x syntax.Expr) bool { return !naiveHolds(q, x, r) })
	}
	p := c.(syntax.Predicate)
	name := p.On().Name
	if !r.gap || q.Mode == syntax.Gaps || name == "node" || name == "life" {
		return naiveTest(q, p, r.all[name])
	}
	for n := r.from; name == "position" && n <= r.to; n++ {
		if naiveTest(q, p, value.OfUint(n)) {
			return true
		}
	}
	return name != "position"
}

func naiveTest(q *syntax.Query, p syntax.Predicate, v value.Value) bool {
	name := p.On().Name
	exact := name == "node" || name == "life" || name == "channel"
	if n, ok := p.(*syntax.IsNull); ok {
		return v.IsNull() != n.Not
	}
	if v.IsNull() {
		return false
	}
	equal := func(l syntax.Literal) bool {
		x := literal(l)
		if q.Mode == syntax.Logs && name == "is_error" && x.IsNumber() {
			return naiveEqual(x, value.OfInt(map[bool]int64{true: 1}[v.Bool()]), false)
		}
		return naiveEqual(v, x, exact)
	}
	switch p := p.(type) {
	case *syntax.In:
		return slices.ContainsFunc(p.List, equal) != p.Not
	case *syntax.Before:
		ns, ok := value.Instant(v)
		return ok && (ns < p.Time.Nanos) != p.Not
	}
	c := p.(*syntax.Compare)
	op, not := c.Op.Positive()
	switch op {
	case syntax.Equal:
		return equal(c.Value)
	case syntax.Unequal:
		return !equal(c.Value)
	case syntax.Has:
		found := false
		v.Elements(func(e value.Value) bool { found = found || naiveEqual(e, literal(c.Value), false); return true })
		return found != not
	}
	if op.Orders() {
		if !v.IsNumber() {
			return false
		}
		n := number(v).Cmp(number(literal(c.Value)))
		return op == syntax.Greater && n > 0 || op == syntax.AtLeast && n >= 0 || op == syntax.Less && n < 0 || op == syntax.AtMost && n <= 0
	}
	return naiveText(op, v, literal(c.Value).Text(), exact) != not
}

func naiveText(op syntax.Op, v value.Value, needle string, exact bool) bool {
	if v.Kind() != value.String {
		return false
	}
	s := v.Text()
	if op == syntax.Matches {
		return regexp.MustCompile(needle).MatchString(s)
	}
	if !exact {
		s, needle = strings.ToLower(s), strings.ToLower(needle)
	}
	switch op {
	case syntax.StartsWith:
		return strings.HasPrefix(s, needle)
	case syntax.EndsWith:
		return strings.HasSuffix(s, needle)
	}
	return strings.Contains(s, needle)
}

func number(v value.Value) *big.Float {
	x := new(big.Float).SetPrec(256)
	if n, ok := v.Int64(); ok {
		return x.SetInt64(n)
	}
	if n, ok := v.Uint64(); ok {
		return x.SetUint64(n)
	}
	f, _ := v.Float64()
	return x.SetFloat64(f)
}

func rank(v value.Value) int {
	switch {
	case v.IsNull():
		return 0
	case v.Kind() == value.Bool:
		return 1
	case v.IsNumber():
		return 2
	}
	return 3 + int(v.Kind()-value.String)
}

func naiveEqual(a, b value.Value, exact bool) bool {
	switch {
	case rank(a) != rank(b) || a.Kind() == value.Array:
		return false // no literal is an array
	case a.IsNumber():
		return number(a).Cmp(number(b)) == 0
	case a.Kind() == value.String && !exact:
		return strings.ToLower(a.Text()) == strings.ToLower(b.Text())
	}
	return a.Text() == b.Text() && a.Bool() == b.Bool()
}

func naiveCompare(a, b value.Value) int {
	switch {
	case rank(a) != rank(b):
		return rank(a) - rank(b)
	case a.IsNumber():
		return number(a).Cmp(number(b))
	case a.Kind() == value.Bool:
		return strings.Compare(a.String(), b.String()) // false < true
	case a.Kind() == value.Array:
		return bytes.Compare(value.AppendMsgpack(nil, a), value.AppendMsgpack(nil, b))
	case a.Kind() == value.String:
		if c := strings.Compare(strings.ToLower(a.Text()), strings.ToLower(b.Text())); c != 0 {
			return c
		}
	}
	return strings.Compare(a.Text(), b.Text())
}
