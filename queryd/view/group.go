package view

import "datastream/queryd/value"

// A Group makes a row of each group of records: their keys' values, and with
// Count how many they are (L8). Without keys it is one row, of no records too.
type Group struct {
	Keys  []GroupKey
	Count bool
	Names []string // of the rows' fields: the keys, then the count
	// Top is how many rows remain, in the order of TopSort, before SORT; 0 is
	// no bound but with HasTop.
	Top     uint64
	HasTop  bool
	TopSort []SortKey
}

// A GroupKey is a field to group by, byte for byte if it is an address (L5.2).
type GroupKey struct {
	Ref   Ref
	Exact bool
}

// grouper counts records by their keys.
type grouper struct {
	spec   *Group
	m      *room
	next   operator
	out    *record
	groups map[string]*grouped
	key    []byte
	values []value.Value
}

type grouped struct {
	shown []value.Value
	count uint64
}

func (g *grouper) push(r *record) error {
	g.key, g.values = g.key[:0], g.values[:0]
	for _, k := range g.spec.Keys {
		v := r.at(k.Ref)
		g.values = append(g.values, v)
		if k.Exact {
			g.key = value.AppendKeyExact(g.key, v)
		} else {
			g.key = value.AppendKey(g.key, v)
		}
	}
	known := g.groups[string(g.key)]
	if known == nil {
		size := heldOverhead + len(g.key)
		for _, v := range g.values {
			size += v.Size()
		}
		if err := g.m.grow(size); err != nil {
			return err
		}
		known = &grouped{shown: cloned(g.values)}
		g.groups[string(g.key)] = known
	}
	known.count++
	return g.show(known)
}

// show keeps of each key the member that stands for the group: it depends on
// the set, never on the order of reading (L8).
func (g *grouper) show(known *grouped) error {
	for i, v := range g.values {
		old := known.shown[i]
		chosen := value.Represent(old, v)
		if chosen == old { // to the bit: nothing to copy
			continue
		}
		if err := g.m.grow(chosen.Size() - old.Size()); err != nil {
			return err
		}
		known.shown[i] = chosen.Clone()
	}
	return nil
}

func (g *grouper) finish() error {
	if len(g.spec.Keys) == 0 && len(g.groups) == 0 {
		g.groups[""] = &grouped{}
	}
	for _, k := range g.groups {
		columns := k.shown
		if g.spec.Count {
			columns = append(columns, value.OfUint(k.count))
		}
		g.out.setColumns(columns)
		if err := g.next.push(g.out); err != nil {
			return err
		}
	}
	return g.next.finish()
}

func (g *grouper) full() bool { return g.next.full() }

// Live is false: a count grows, and what of a set is new is for whoever keeps
// the set (S3).
func (g *grouper) Live() bool { return false }
