package plan

import (
	"sort"

	"datastream/queryd/syntax"
	"datastream/queryd/value"
)

// This file is the second evaluator's aggregates: each record is compared with
// each group.

func naiveKeys(q *syntax.Query) (keys []string) {
	switch a := q.Aggregate.(type) {
	case *syntax.CountBy:
		return []string{a.Field.Name}
	case *syntax.Top:
		return []string{a.Field.Name}
	case *syntax.Distinct:
		return []string{a.Field.Name}
	case *syntax.Group:
		for _, k := range a.Keys {
			keys = append(keys, k.Name)
		}
	}
	return keys
}

func naiveGroups(q *syntax.Query, recs []*rec) []*rec {
	keys := naiveKeys(q)
	var groups [][]*rec
	for _, r := range recs {
		at := 0
		for ; at < len(groups) && !naiveSame(keys, groups[at][0], r); at++ {
		}
		if at == len(groups) {
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], r)
	}
	if len(keys) == 0 && len(groups) == 0 {
		groups = [][]*rec{nil}
	}
	var out []*rec
	for _, members := range groups {
		row := &rec{all: map[string]value.Value{}}
		for _, k := range keys {
			row.add(k, naiveShown(members, k))
		}
		if _, distinct := q.Aggregate.(*syntax.Distinct); !distinct {
			row.add(q.Outputs()[len(keys)], value.OfInt(int64(len(members))))
		}
		out = append(out, row)
	}
	sort.Slice(out, func(i, j int) bool {
		if names := q.Outputs(); len(names) > len(keys) {
			if c := naiveCompare(out[i].all[names[len(keys)]], out[j].all[names[len(keys)]]); c != 0 {
				return c > 0
			}
		}
		return naiveKeysLess(q, out[i], out[j])
	})
	if top, ok := q.Aggregate.(*syntax.Top); ok {
		out = out[:min(uint64(len(out)), top.Rows.Value)]
	}
	return out
}

func naiveKeysLess(q *syntax.Query, a, b *rec) bool {
	for _, k := range naiveKeys(q) {
		if c := naiveCompare(a.all[k], b.all[k]); c != 0 {
			return c < 0
		}
	}
	return false
}

func naiveSame(keys []string, a, b *rec) bool {
	for _, k := range keys {
		x, y := a.all[k], b.all[k]
		exact := k == "node" || k == "life" || k == "channel"
		if same := x.Kind() == value.Array && value.Equal(x, y); !same && !naiveEqual(x, y, exact) {
			return false
		}
	}
	return true
}

// naiveShown is the integer if all are, else a float; else what sorts first.
func naiveShown(members []*rec, key string) value.Value {
	shown := members[0].all[key]
	for _, m := range members {
		switch v := m.all[key]; {
		case v.IsNumber() && !v.IsInteger():
			return v // the data has no zero of two signs
		case !v.IsNumber() && naiveCompare(v, shown) < 0:
			shown = v
		}
	}
	return shown
}
