package syntax

// Walk visits a node and all nodes under it, each before its parts, in the
// order of canonical text. Where visit returns false it does not go deeper.
func Walk(n Node, visit func(Node) bool) {
	if !visit(n) {
		return
	}
	children(n, func(c Node) { Walk(c, visit) })
}

// children calls do with each part of a node.
func children(n Node, do func(Node)) {
	switch n := n.(type) {
	case *Query:
		childrenOfQuery(n, do)
	case *Scope:
		one(n.Node, do)
		one(n.Life, do)
	case *Labels:
		all(n.Predicates, do)
	case *From:
		all(n.Origins, do)
	case *Terminal:
		one(n.Over, do)
	case *CountBy:
		do(n.Field)
	case *Top:
		do(n.Rows)
		do(n.Field)
	case *Distinct:
		do(n.Field)
	case *Group:
		all(n.Keys, do)
		all(n.Funcs, do)
	case *Func:
		one(n.Field, do)
	case *Key:
		do(n.Field)
	case *Time:
		one(n.Span, do)
	case *MetricHolds:
		one(n.Scope, do)
		do(n.Pattern)
		one(n.Labels, do)
		do(n.Value)
		one(n.PerNode, do)
	case *EventExists:
		one(n.Scope, do)
		do(n.Pattern)
		one(n.PerNode, do)
	case *LogExists:
		one(n.Scope, do)
		do(n.Origin)
		one(n.Containing, do)
		one(n.PerNode, do)
	case Expr:
		childrenOfExpr(n, do)
	}
}

func childrenOfQuery(q *Query, do func(Node)) {
	one(q.Scope, do)
	one(q.Pattern, do)
	one(q.Labels, do)
	one(q.From, do)
	one(q.ErrorOnly, do)
	one(q.Containing, do)
	one(q.Excluding, do)
	one(q.Parse, do)
	one(q.Since, do)
	one(q.Until, do)
	one(q.Zone, do)
	all(q.Where, do)
	one(q.Transform, do)
	one(q.Terminal, do)
	if q.Aggregate != nil {
		do(q.Aggregate)
	}
	one(q.Every, do)
	all(q.Sort, do)
	one(q.Skip, do)
	one(q.Take, do)
	all(q.Select, do)
	one(q.WithGaps, do)
	one(q.Stream, do)
	one(q.After, do)
}

func childrenOfExpr(x Expr, do func(Node)) {
	switch x := x.(type) {
	case *Or:
		all(x.Terms, do)
	case *And:
		all(x.Terms, do)
	case *Compare:
		do(x.Field)
		do(x.Value)
	case *In:
		do(x.Field)
		all(x.List, do)
	case *IsNull:
		do(x.Field)
	case *Before:
		do(x.Field)
		do(x.Time)
	}
}

// one visits a part that may be absent.
func one[T any, P interface {
	*T
	Node
}](n P, do func(Node)) {
	if n != nil {
		do(n)
	}
}

// all visits a list of parts.
func all[N Node](list []N, do func(Node)) {
	for _, n := range list {
		do(n)
	}
}
