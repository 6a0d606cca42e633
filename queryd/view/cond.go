package view

import (
	"sort"

	"datastream/queryd/value"
)

// A Cond is a condition of WHERE, made ready: a test of a field, or others of
// which all or one must hold. It never changes.
type Cond struct {
	op   condOp
	kids []*Cond
	ref  Ref
	test *value.Test
	// near are the positions at which the truth of a test on position can
	// change, ascending: between two of them it is the same.
	near []uint64
}

type condOp uint8

const (
	condTest condOp = iota
	condAll
	condAny
)

// All holds when all of its conditions do.
func All(kids ...*Cond) *Cond { return &Cond{op: condAll, kids: kids} }

// Any holds when one of its conditions does.
func Any(kids ...*Cond) *Cond { return &Cond{op: condAny, kids: kids} }

// If holds when the field's value satisfies the test.
func If(ref Ref, test *value.Test) *Cond { return &Cond{ref: ref, test: test} }

// IfPosition is If of the position. Its literals say for which missing
// positions a gap row may concern the query (L4.4).
func IfPosition(test *value.Test, literals []value.Value) *Cond {
	c := If(Fixed("position"), test)
	add := func(n uint64) {
		for _, p := range []uint64{n - 1, n, n + 1} {
			if p+1 != 0 { // 2^64-1 is no position
				c.near = append(c.near, p)
			}
		}
	}
	for _, l := range literals {
		if n, ok := floorOf(l); ok {
			add(n)
			add(n + 1)
		}
	}
	for _, size := range []uint64{1e11, 1e14, 1e17} { // where BEFORE changes its unit (L3.3)
		add(size)
	}
	for _, l := range literals { // and where an instant is, in each unit
		if ns, ok := l.Int64(); ok && ns > 0 {
			for _, unit := range []int64{1e9, 1e6, 1e3, 1} {
				add(uint64(ns / unit))
				add(uint64(ns/unit) + 1)
			}
		}
	}
	sort.Slice(c.near, func(i, j int) bool { return c.near[i] < c.near[j] })
	return c
}

// floorOf is the largest position not above a number.
func floorOf(v value.Value) (uint64, bool) {
	if n, ok := v.Uint64(); ok {
		return n, true
	}
	f, ok := v.Float64()
	if !ok || f < 0 || f >= 1<<64 {
		return 0, false
	}
	return uint64(f), true
}

// holds reports whether a record satisfies the condition.
func (c *Cond) holds(r *record) bool {
	switch c.op {
	case condAll:
		for _, k := range c.kids {
			if !k.holds(r) {
				return false
			}
		}
		return true
	case condAny:
		for _, k := range c.kids {
			if k.holds(r) {
				return true
			}
		}
		return false
	}
	return c.test.Match(r.at(c.ref))
}

// concerns reports whether a gap may hold what satisfies the condition: its
// node and life are known, its positions too, and of nothing else is anything
// known (L4.4).
func (c *Cond) concerns(g *gap) bool {
	switch c.op {
	case condAll:
		for _, k := range c.kids {
			if !k.concerns(g) {
				return false
			}
		}
		return true
	case condAny:
		for _, k := range c.kids {
			if k.concerns(g) {
				return true
			}
		}
		return false
	}
	switch c.ref.kind {
	case refNode:
		return c.test.Match(g.stream.node)
	case refLife:
		return c.test.Match(g.stream.life)
	case refPosition:
		return c.within(uint64(g.from), uint64(g.to))
	}
	return true
}

// within reports whether a position of a range satisfies the test.
func (c *Cond) within(from, to uint64) bool {
	if c.test.Match(value.OfUint(from)) || c.test.Match(value.OfUint(to)) {
		return true
	}
	i := sort.Search(len(c.near), func(i int) bool { return c.near[i] > from })
	for ; i < len(c.near) && c.near[i] < to; i++ {
		if c.test.Match(value.OfUint(c.near[i])) {
			return true
		}
	}
	return false
}

// costly reports whether judging the condition means to decode a payload or
// to read a text.
func (c *Cond) costly() bool {
	if c.op == condTest {
		return c.ref.costly()
	}
	for _, k := range c.kids {
		if k.costly() {
			return true
		}
	}
	return false
}

// split parts conditions, all of which hold, into those that are cheap and
// the rest. An All among them is taken apart.
func split(conds []*Cond) (cheap, rest []*Cond) {
	for _, c := range conds {
		switch {
		case c.op == condAll:
			a, b := split(c.kids)
			cheap, rest = append(cheap, a...), append(rest, b...)
		case c.costly():
			rest = append(rest, c)
		default:
			cheap = append(cheap, c)
		}
	}
	return cheap, rest
}
