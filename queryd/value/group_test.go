package value

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestKeyIsEquality is promise 5: two values share a key exactly if equal.
func TestKeyIsEquality(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, a, b Value) {
		if bytes.Equal(AppendKey(nil, a), AppendKey(nil, b)) != naiveEqual(a, b) {
			t.Fatalf("%v and %v: keys %x and %x", a, b, AppendKey(nil, a), AppendKey(nil, b))
		}
		if bytes.Equal(AppendKeyExact(nil, a), AppendKeyExact(nil, b)) != EqualExact(a, b) {
			t.Fatalf("%v and %v: exact keys %x and %x", a, b, AppendKeyExact(nil, a), AppendKeyExact(nil, b))
		}
	}
	for _, a := range numbers {
		for _, b := range numbers {
			check(t, a, b)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, genValue(2).Draw(t, "a"), genValue(2).Draw(t, "b")) })
}

// TestKeysDelimitThemselves: the keys of a tuple, one after another, are equal
// only for equal tuples.
func TestKeysDelimitThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tuple := rapid.SliceOfN(genValue(1), 2, 2)
		a, b := tuple.Draw(t, "a"), tuple.Draw(t, "b")
		x := AppendKey(AppendKey(nil, a[0]), a[1])
		y := AppendKey(AppendKey(nil, b[0]), b[1])
		if bytes.Equal(x, y) != (naiveEqual(a[0], b[0]) && naiveEqual(a[1], b[1])) {
			t.Fatalf("%v and %v: %x and %x", a, b, x, y)
		}
		if bytes.HasPrefix(AppendKey(nil, a[0]), AppendKey(nil, b[0])) && !naiveEqual(a[0], b[0]) {
			t.Fatalf("the key of %v begins with that of %v", a[0], b[0])
		}
	})
}

// variants are values equal to v, v among them.
func variants(v Value) []Value {
	out := []Value{v}
	switch v.Kind() {
	case String:
		out = append(out, OfString(strings.ToUpper(v.Text())), OfString(naiveFold(v.Text())))
	case Int, Uint, Time, Float:
		f, _ := v.Float64()
		out = append(out, OfFloat(f), OfFloat(-f), OfFloat(math.Float64frombits(0x7ff8000000000001)))
		if n, ok := v.Int64(); ok {
			out = append(out, OfInt(n), OfTime(n))
		}
	case Array:
		for i, e := range elements(v) {
			for _, w := range variants(e) {
				es := elements(v)
				es[i] = w
				out = append(out, OfArray(es...))
			}
		}
	}
	equal := out[:0]
	for _, w := range out {
		if naiveEqual(v, w) {
			equal = append(equal, w)
		}
	}
	return equal
}

// TestRepresentativeDependsOnTheSet is promise 5: whatever the order in which
// the members of a group come, one and the same value stands for it.
func TestRepresentativeDependsOnTheSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := variants(genValue(2).Draw(t, "value"))
		members := rapid.SliceOfN(rapid.SampledFrom(of), 1, 5).Draw(t, "members")
		show := func(vs []Value) string {
			r := vs[0]
			for _, v := range vs {
				r = Represent(r, v)
			}
			return r.Kind().String() + " " + r.String()
		}
		want := show(members)
		for range 4 {
			p := rapid.Permutation(members).Draw(t, "order")
			if got := show(p); got != want {
				t.Fatalf("%v: %s stands for it in one order, %s in another", members, want, got)
			}
			half := rapid.IntRange(1, len(p)).Draw(t, "half")
			left, right := p[0], p[len(p)-1]
			for _, v := range p[:half] {
				left = Represent(left, v)
			}
			for _, v := range p[half:] {
				right = Represent(right, v)
			}
			if got := Represent(left, right); got.String() != Represent(right, left).String() {
				t.Fatalf("%v: merging is not commutative", members)
			}
		}
	})
}

// TestRepresentativeCases are those of L8.
func TestRepresentativeCases(t *testing.T) {
	minus := OfFloat(math.Copysign(0, -1))
	for _, c := range []struct {
		members []Value
		want    Value
	}{
		{[]Value{OfString("loregd"), OfString("Loregd"), OfString("LOREGD")}, OfString("LOREGD")},
		{[]Value{OfInt(1), OfFloat(1)}, OfFloat(1)},
		{[]Value{OfInt(1), OfInt(1)}, OfInt(1)},
		{[]Value{OfInt(0), minus}, OfFloat(0)},
		{[]Value{minus, OfFloat(0)}, OfFloat(0)},
		{[]Value{OfTime(7), OfTime(7)}, OfTime(7)},
		{[]Value{OfTime(7), OfInt(7)}, OfInt(7)},
		{[]Value{OfArray(OfFloat(1)), OfArray(OfInt(1))}, OfArray(OfInt(1))},
		{[]Value{{}, {}}, Value{}},
	} {
		got := c.members[0]
		for _, v := range c.members {
			got = Represent(got, v)
		}
		if got.Kind() != c.want.Kind() || got.String() != c.want.String() {
			t.Errorf("%v: %v, want %v", c.members, got, c.want)
		}
	}
}
