package plan

import (
	"math"
	"slices"

	"datastream/queryd/syntax"
	"datastream/queryd/view"
)

// group plans an aggregate, and the order of its rows (L8).
func (b *builder) group() {
	g := &view.Group{Names: b.q.Outputs(), Count: true}
	var keys []*syntax.Field
	switch a := b.q.Aggregate.(type) {
	case *syntax.CountBy:
		keys = []*syntax.Field{a.Field}
	case *syntax.Top:
		keys = []*syntax.Field{a.Field}
		g.Top, g.HasTop = a.Rows.Value, true
	case *syntax.Distinct:
		keys, g.Count = []*syntax.Field{a.Field}, false
	case *syntax.Group:
		keys = a.Keys
	}
	for _, k := range keys {
		exact := slices.Contains([]string{"node", "life", "channel"}, k.Name)
		g.Keys = append(g.Keys, view.GroupKey{Ref: b.ref(k.Name), Exact: exact})
	}
	b.spec.Group = g
	b.groupOrder(g)
}

// groupOrder is SORT over the outputs, or count desc; then the keys asc.
func (b *builder) groupOrder(g *view.Group) {
	var usual []view.SortKey
	if g.Count {
		usual = []view.SortKey{{Ref: view.Column(len(g.Keys)), Desc: true}}
	}
	var byKeys []view.SortKey
	for i := range g.Keys {
		byKeys = append(byKeys, view.SortKey{Ref: view.Column(i)})
	}
	usual = append(usual, byKeys...)
	g.TopSort = usual
	b.spec.Sort = usual
	if b.q.Sort != nil {
		b.spec.Sort = nil
		for _, k := range b.q.Sort {
			b.spec.Sort = append(b.spec.Sort, view.SortKey{Ref: view.Column(slices.Index(g.Names, k.Field.Name)), Desc: k.Desc})
		}
		b.spec.Sort = append(b.spec.Sort, byKeys...)
	}
	if g.HasTop && g.Top == math.MaxUint64 {
		g.HasTop = false // as many as there are
	}
}
