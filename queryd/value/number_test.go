package value

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumberCases(t *testing.T) {
	for text, want := range map[string]Value{
		"0": OfInt(0), "-0": OfInt(0), "007": OfInt(7), "-9223372036854775808": OfInt(math.MinInt64), "18446744073709551615": OfUint(math.MaxUint64),
		"0x1F01FF": OfInt(0x1F01FF), "0xffffffffffffffff": OfUint(math.MaxUint64), "-1.25e-3": OfFloat(-1.25e-3), "1e6": OfFloat(1e6), "0.001": OfFloat(0.001),
		"00.5": OfFloat(0.5), "00e1": OfFloat(0), "1E+2": OfFloat(100), "00000000000000000000000012": OfInt(12), "-0.0": OfFloat(math.Copysign(0, -1)),
	} {
		if v, ok := Number(text); !ok || v.Kind() != want.Kind() || v.String() != want.String() {
			t.Errorf("%q: %v %v, want %v", text, v, ok, want)
		}
	}
	for _, text := range []string{"", "-", "+5", "1.", ".5", "1e", "1e999", "18446744073709551616", "-9223372036854775809", "0x", "0X1", "0x1_0", "0xg", "-0x1",
		"0x+1", "0x10000000000000000", "1_000", "NaN", "Infinity", "inf", "1 ", " 1", "1.5.2", "--1", "1e5.5", "٣", "0-1"} {
		if v, ok := Number(text); ok {
			t.Errorf("%q is no number, and yet %v", text, v)
		}
	}
}

// TestNumberIsTheGrammar against the grammar as an expression (L2).
func TestNumberIsTheGrammar(t *testing.T) {
	integer := regexp.MustCompile(`^-?[0-9]+$`)
	float := regexp.MustCompile(`^-?[0-9]+(\.[0-9]+([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)$`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{0,21}(\.[0-9]{0,3})?([eE][+-]?[0-9]{0,3})?`).Draw(t, "text")
		var want Value
		ok := false
		switch {
		case integer.MatchString(text):
			if i, err := strconv.ParseInt(text, 10, 64); err == nil {
				want, ok = OfInt(i), true
			} else if u, err := strconv.ParseUint(strings.TrimPrefix(text, "-"), 10, 64); err == nil && text[0] != '-' {
				want, ok = OfUint(u), true
			}
		case float.MatchString(text):
			f, err := strconv.ParseFloat(text, 64)
			want, ok = OfFloat(f), err == nil
		}
		if v, got := Number(text); got != ok || (ok && !same(v, want)) {
			t.Fatalf("%q: %v %v, want %v %v", text, v, got, want, ok)
		}
	})
}
