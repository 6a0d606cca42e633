package value

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestInstantBySize is L3.3: a number's size tells its unit.
func TestInstantBySize(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want int64
	}{
		{OfInt(1735689600), 1735689600e9}, {OfInt(99999999999), math.MaxInt64}, {OfInt(1735689600_123), 1735689600_123e6},
		{OfInt(1735689600_123456), 1735689600_123456e3}, {OfInt(1735689600_123456789), 1735689600_123456789},
		{OfInt(1e11), 1e17}, {OfInt(1e14), 1e17}, {OfInt(1e17), 1e17}, {OfInt(0), 0}, {OfInt(-5), -5e9},
		{OfFloat(1735689600.25), 1735689600.25e9}, {OfFloat(1735689600_123.5), 1735689600_123500000}, {OfTime(1), 1},
		{OfUint(math.MaxUint64), math.MaxInt64}, {OfFloat(1e300), math.MaxInt64}, {OfFloat(-1e300), math.MinInt64},
		{OfInt(math.MaxInt64), math.MaxInt64}, {OfInt(math.MinInt64), math.MinInt64},
	} {
		if ns, ok := Instant(c.v); !ok || ns != c.want {
			t.Errorf("%v: %d %v, want %d", c.v, ns, ok, c.want)
		}
	}
	for _, v := range []Value{{}, OfBool(true), OfFloat(math.NaN()), OfFloat(math.Inf(1)), OfBinary([]byte("2026-01-01T00:00:00Z")), OfArray(OfInt(1)), OfString("1735689600")} {
		if ns, ok := Instant(v); ok {
			t.Errorf("%v is no instant, and yet %d", v, ns)
		}
	}
}

// TestInstantAgreesWithTime: RFC 3339 text means what package time says.
func TestInstantAgreesWithTime(t *testing.T) {
	check := func(s string) bool {
		want, err := time.Parse(time.RFC3339Nano, s)
		ns, ok := Instant(OfString(s))
		if ok != (err == nil) {
			return false
		}
		return !ok || ns == want.UnixNano() || want.Year() < 1679 || want.Year() > 2261
	}
	for _, s := range []string{
		"2026-11-30T14:41:08.164117822Z", "2024-02-29T00:00:00Z", "2025-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2000-02-29T00:00:00Z",
		"2026-01-01T00:00:00+14:00", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "2026-1-01T00:00:00Z",
		"2026-01-01T00:00:00-00:00", "2026-13-01T00:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:00Z ", "1969-12-31T23:59:59.5Z",
		"2026-01-01T00:00:00.1234567891Z", "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00+01:0a",
	} {
		if !check(s) {
			ns, ok := Instant(OfString(s))
			t.Errorf("%q: %d, %v", s, ns, ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`(19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-][01][0-9]:[0-5][0-9])`).Draw(t, "text")
		if !check(s) {
			ns, ok := Instant(OfString(s))
			t.Fatalf("%q: %d, %v", s, ns, ok)
		}
	})
}

// TestInstantEnds: the forms that time.Parse has none of, and times that no
// int64 holds.
func TestInstantEnds(t *testing.T) {
	for s, want := range map[string]int64{
		"0001-01-01T00:00:00Z": math.MinInt64, "9999-12-31T23:59:59Z": math.MaxInt64,
		"2262-04-11T23:47:16.854775807Z": math.MaxInt64, "2262-04-11T23:47:16.854775806Z": math.MaxInt64 - 1, "2262-04-11T23:47:17Z": math.MaxInt64,
		"2016-12-31T23:59:60Z": 1483228800e9, "2026-01-01t00:00:00z": 1767225600e9, "2026-01-01 00:00:00Z": 1767225600e9,
	} {
		if ns, ok := Instant(OfString(s)); !ok || ns != want {
			t.Errorf("%q: %d %v, want %d", s, ns, ok, want)
		}
	}
}
