package value

import (
	"bytes"
	"math"
	"math/big"
	"strings"

	"pgregory.net/rapid"
)

// numbers are those at which comparing goes wrong: about zero, 2^53, the ends
// of int64 and uint64, and what is no number.
var numbers = []Value{
	OfInt(0), OfFloat(0), OfFloat(math.Copysign(0, -1)), OfInt(1), OfFloat(1), OfInt(-1), OfFloat(-1), OfFloat(0.5), OfFloat(-0.5),
	OfInt(1 << 53), OfInt(1<<53 + 1), OfFloat(1 << 53), OfFloat(1<<53 + 2), OfInt(-1<<53 - 1), OfFloat(-1 << 53),
	OfInt(math.MaxInt64), OfInt(math.MinInt64), OfFloat(1 << 63), OfFloat(-1 << 63), OfUint(1 << 63), OfUint(1<<63 + 1),
	OfUint(math.MaxUint64), OfFloat(1 << 64), OfFloat(math.MaxFloat64), OfFloat(-math.MaxFloat64), OfFloat(math.SmallestNonzeroFloat64),
	OfFloat(math.NaN()), OfFloat(math.Float64frombits(0xfff8000000000123)), OfFloat(math.Inf(1)), OfFloat(math.Inf(-1)),
	OfTime(0), OfTime(1 << 53), OfTime(math.MaxInt64), OfFloat(2.5), OfInt(2), OfInt(3),
}

func genNumber() *rapid.Generator[Value] {
	return rapid.OneOf(
		rapid.SampledFrom(numbers),
		rapid.Map(rapid.Int64(), OfInt),
		rapid.Map(rapid.Int64(), func(i int64) Value { return OfFloat(float64(i)) }),
		rapid.Map(rapid.Uint64(), OfUint),
		rapid.Map(rapid.Float64(), OfFloat),
		rapid.Map(rapid.Int64Range(0, math.MaxInt64), OfTime),
	)
}

func genText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[aAbB@\[`+"`"+`{éÉ]{0,10}`), rapid.String())
}

// genValue is any value, arrays of arrays included.
func genValue(depth int) *rapid.Generator[Value] {
	kinds := []*rapid.Generator[Value]{
		rapid.Just(Value{}),
		rapid.Map(rapid.Bool(), OfBool),
		genNumber(),
		rapid.Map(genText(), OfString),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 10), OfBinary),
	}
	if depth > 0 {
		elems := rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[Value] { return genValue(depth - 1) }), 0, 4)
		kinds = append(kinds, rapid.Map(elems, func(e []Value) Value { return OfArray(e...) }))
	}
	return rapid.OneOf(kinds...)
}

// naiveFold folds as L6.1 says, a byte at a time.
func naiveFold(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// exactNumber is a finite number without rounding; ok is false for the rest.
func exactNumber(v Value) (*big.Float, bool) {
	f := new(big.Float).SetPrec(200)
	switch v.Kind() {
	case Int, Time:
		n, _ := v.Int64()
		return f.SetInt64(n), true
	case Uint:
		n, _ := v.Uint64()
		return f.SetUint64(n), true
	}
	x, _ := v.Float64()
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, false
	}
	return f.SetFloat64(x), true
}

// naiveEqual is L6 by its words.
func naiveEqual(a, b Value) bool {
	switch {
	case a.IsNumber() && b.IsNumber():
		x, xok := exactNumber(a)
		y, yok := exactNumber(b)
		if xok && yok {
			return x.Cmp(y) == 0
		}
		f, _ := a.Float64()
		g, _ := b.Float64()
		return xok == yok && (f == g || (math.IsNaN(f) && math.IsNaN(g)))
	case a.Kind() != b.Kind():
		return false
	case a.Kind() == String:
		return naiveFold(a.Text()) == naiveFold(b.Text())
	case a.Kind() == Binary:
		return bytes.Equal([]byte(a.Text()), []byte(b.Text()))
	case a.Kind() == Bool:
		return a.Bool() == b.Bool()
	case a.Kind() == Array:
		x, y := elements(a), elements(b)
		for i := range x {
			if len(x) != len(y) || !naiveEqual(x[i], y[i]) {
				return false
			}
		}
		return len(x) == len(y)
	}
	return true
}

func elements(v Value) (out []Value) {
	v.Elements(func(e Value) bool { out = append(out, e); return true })
	return out
}
