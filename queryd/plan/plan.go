package plan

import (
	"slices"
	"time"

	"datastream/queryd/catalog"
	"datastream/queryd/syntax"
	"datastream/queryd/value"
	"datastream/queryd/view"
	"datastream/subjects"
)

// A Plan is what a query comes to.
type Plan struct {
	// Query is what was planned.
	Query *syntax.Query
	// Read says what its runs want to be given.
	Read Read
	// Spec opens its runs; Spec.Watch those of the watch that STREAM begins.
	Spec *view.Spec
	// After is the cursor of AFTER: what it lies before is not read, and the
	// initial set is empty (S2.4).
	After string
}

// A Read says which frames and accounts a run wants.
type Read struct {
	// None is true when nothing can match: the times are empty, or the scope
	// names what no stream can be. It is no error. (L3.2)
	None bool
	// Selector is the scope and the pattern.
	Selector subjects.Selector
	// Since and Until are the times, Until exclusive and with HasUntil alone.
	Since, Until int64
	HasUntil     bool
	// Frames is whether frames are wanted at all, Payloads whether with their
	// bytes, and Accounts whether the accounts of the streams in scope come
	// first.
	Frames, Payloads, Accounts bool
	// Order is the commit order in which frames must come. With NewestFirst
	// and StopsEarly the reader begins at the newest commit and stops when the
	// run is full.
	Order      view.Order
	StopsEarly bool
}

// New plans a query, given the catalog and the evaluation time. An error is a
// *syntax.Error or wraps ErrAbsent.
func New(q *syntax.Query, c *catalog.Catalog, now int64) (*Plan, error) {
	if err := checkAbsent(q); err != nil {
		return nil, err
	}
	b := builder{q: q, now: now, zone: q.Location(), spec: &view.Spec{Mode: modes[q.Mode], Catalog: c, Now: now}}
	b.scope()
	if err := b.times(); err != nil {
		return nil, err
	}
	if err := b.conditions(); err != nil {
		return nil, err
	}
	b.limits()
	if q.Aggregate == nil {
		b.order()
	} else {
		b.group()
	}
	for _, f := range q.Select {
		b.spec.Select = append(b.spec.Select, f.Name)
		b.names = append(b.names, f.Name)
	}
	p := &Plan{Query: q, Spec: b.spec, Read: b.read()}
	if q.After != nil {
		p.After = q.After.Value
	}
	return p, nil
}

var modes = map[syntax.Mode]view.Mode{
	syntax.Events: view.Events, syntax.Logs: view.Logs, syntax.Frames: view.Frames, syntax.Latest: view.Latest,
	syntax.Channels: view.Channels, syntax.Streams: view.Streams, syntax.Gaps: view.Gaps,
}

// A builder is a plan being made.
type builder struct {
	q     *syntax.Query
	now   int64
	zone  *time.Location
	spec  *view.Spec
	names []string // of all fields that the query speaks of
}

func (b *builder) scope() {
	sel := &b.spec.Selector
	sel.Pattern = "*"
	if b.q.Pattern != nil {
		sel.Pattern = subjects.Pattern(b.q.Pattern.Value)
	}
	if b.q.From != nil {
		for _, o := range b.q.From.Origins {
			b.spec.From = append(b.spec.From, o.Value)
		}
	}
	if b.q.Scope == nil {
		return
	}
	if n := b.q.Scope.Node; n != nil {
		node := subjects.Node(n.Value)
		sel.Node = &node
	}
	if l := b.q.Scope.Life; l != nil {
		life, err := subjects.ParseLife(l.Value)
		if err != nil {
			b.spec.NoStream = true // (n1, x) is as WHERE life == "x": no record
			return
		}
		sel.Life = &life
	}
}

func (b *builder) times() (err error) {
	if t := b.q.Since; t != nil {
		if b.spec.Since, err = t.Resolve(b.now, b.zone); err != nil {
			return err
		}
	}
	if t := b.q.Until; t != nil {
		b.spec.HasUntil = true
		b.spec.Until, err = t.Resolve(b.now, b.zone)
	}
	return err
}

func (b *builder) limits() {
	if n := b.q.Skip; n != nil {
		b.spec.Skip = n.Value
	}
	if n := b.q.Take; n != nil {
		b.spec.Take, b.spec.HasTake = n.Value, true
	}
}

// order says in which order records come out, and so in which they are read
// (L7.1).
func (b *builder) order() {
	s, q := b.spec, b.q
	s.WithGaps = q.WithGaps != nil || q.Mode == syntax.Frames && q.Sort == nil && q.Stream == nil
	keys := q.Sort
	if raw := q.Mode == syntax.Events || q.Mode == syntax.Logs; raw && len(keys) == 1 && keys[0].Field.Name == "timestamp" && keys[0].Desc {
		keys = nil // with its ties this is the default order, which need not be sorted
		if q.Stream != nil {
			s.Order = view.NewestFirst
			return
		}
	}
	for _, k := range keys {
		s.Sort = append(s.Sort, view.SortKey{Ref: b.ref(k.Field.Name), Desc: k.Desc})
	}
	ties := tieFields[q.Mode]
	switch {
	case keys == nil && q.Stream != nil:
		s.Last = true
		if s.HasTake && s.Skip == 0 && !s.WithGaps {
			s.Order = view.NewestFirst
		}
	case ties == nil && keys == nil:
		s.Order = view.NewestFirst
	case keys == nil || s.Mode.Columns() != nil:
		for _, name := range ties {
			s.Sort = append(s.Sort, view.SortKey{Ref: b.ref(name)})
		}
	}
}

// tieFields are the default orders of the modes that have others than commit
// order (L7.1), and the ties of those whose rows have no place in it (L7.2).
var tieFields = map[syntax.Mode][]string{
	syntax.Frames:   {"node", "life", "position"},
	syntax.Latest:   {"node", "life", "channel", "position"},
	syntax.Channels: {"node", "life", "channel"},
	syntax.Streams:  {"node", "life"},
	syntax.Gaps:     {"node", "life", "gap_from"},
}

// ref resolves a field, and asks for its path if it is a payload's.
func (b *builder) ref(name string) view.Ref {
	b.names = append(b.names, name)
	if columns := b.spec.Mode.Columns(); columns != nil {
		return view.Column(slices.Index(columns, name)) // the parser let no other name through
	}
	if slices.Contains(b.q.Mode.Fields(), name) {
		return view.Fixed(name)
	}
	want := slices.IndexFunc(b.spec.Wants, func(w value.Want) bool { return w.Path == name })
	if want < 0 {
		want = len(b.spec.Wants)
		b.spec.Wants = append(b.spec.Wants, value.Want{Path: name})
	}
	return view.Path(want)
}

func (b *builder) read() Read {
	s := b.spec
	r := Read{
		None:     s.NoStream || s.HasUntil && s.Since >= s.Until,
		Selector: s.Selector, Since: s.Since, Until: s.Until, HasUntil: s.HasUntil,
		Frames: s.Mode != view.Streams && s.Mode != view.Gaps, Accounts: s.Accounts(),
		Order: s.Order, StopsEarly: s.Order == view.NewestFirst && s.HasTake,
	}
	r.Payloads = r.Frames && s.Mode != view.Channels
	if s.Mode == view.Frames && s.Select != nil {
		r.Payloads = slices.Contains(b.names, "payload") || slices.Contains(b.names, "size")
	}
	return r
}
