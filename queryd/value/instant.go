package value

import (
	"math"
	"time"
)

// Instant reads a value as an instant, in nanoseconds since the epoch, as
// BEFORE does (L3.3): a time, RFC 3339 text, or a number that by its size is
// seconds (below 10^11), milliseconds (10^14), microseconds (10^17) or
// nanoseconds. An instant beyond what int64 holds becomes its nearest end:
// before or after every time a query can write.
func Instant(v Value) (ns int64, ok bool) {
	switch v.kind {
	case Time:
		return int64(v.num), true
	case Int:
		return instantOfInt(int64(v.num)), true
	case Uint:
		return math.MaxInt64, true
	case Float:
		return instantOfFloat(v.float())
	case String:
		return parseRFC3339(v.s)
	}
	return 0, false
}

// unitOf is how many nanoseconds one of a number of this size stands for.
func unitOf(size float64) int64 {
	switch {
	case size < 1e11:
		return 1e9
	case size < 1e14:
		return 1e6
	case size < 1e17:
		return 1e3
	}
	return 1
}

// instantOfInt cannot overflow: each unit's largest number times the unit is
// 10^20 at most, checked below.
func instantOfInt(n int64) int64 {
	unit := unitOf(math.Abs(float64(n)))
	switch {
	case n > math.MaxInt64/unit:
		return math.MaxInt64
	case n < math.MinInt64/unit:
		return math.MinInt64
	}
	return n * unit
}

func instantOfFloat(f float64) (int64, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	unit := unitOf(math.Abs(f))
	whole, frac := math.Modf(f)
	switch {
	case whole >= float64(math.MaxInt64/unit):
		return math.MaxInt64, true
	case whole <= float64(math.MinInt64/unit):
		return math.MinInt64, true
	}
	return int64(whole)*unit + int64(math.Round(frac*float64(unit))), true
}

// maxSecond is the last second that int64 nanoseconds reach.
const maxSecond = math.MaxInt64 / int64(time.Second)

// parseRFC3339 reads RFC 3339 text: a date, T (or t, or a space), a time with
// or without a fraction, and Z or an offset. Digits of the fraction beyond the
// ninth are cut off; the leap second is the second after it. It allocates
// nothing, whatever the text.
func parseRFC3339(s string) (ns int64, ok bool) {
	if len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	if c := s[10]; c != 'T' && c != 't' && c != ' ' {
		return 0, false
	}
	year, month, day := digits(s[:4]), digits(s[5:7]), digits(s[8:10])
	hour, minute, second := digits(s[11:13]), digits(s[14:16]), digits(s[17:19])
	if year < 0 || month < 1 || month > 12 || day < 1 || day > daysIn(month, year) ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return 0, false
	}
	frac, rest, ok := fraction(s[19:])
	if !ok {
		return 0, false
	}
	offset, ok := zone(rest)
	if !ok {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, frac, time.UTC).Unix() - int64(offset)
	switch {
	case t > maxSecond || (t == maxSecond && int64(frac) > math.MaxInt64%int64(time.Second)):
		return math.MaxInt64, true
	case t < -maxSecond:
		return math.MinInt64, true
	}
	return t*1e9 + int64(frac), true
}

// digits is a run of digits as a number, or -1.
func digits(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

func daysIn(month, year int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// fraction reads .digits, if any, as nanoseconds.
func fraction(s string) (ns int, rest string, ok bool) {
	if s == "" || s[0] != '.' {
		return 0, s, true
	}
	i, unit := 1, 100_000_000
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		ns += int(s[i]-'0') * unit
		unit /= 10
	}
	return ns, s[i:], i > 1
}

// zone reads Z or ±HH:MM as seconds east.
func zone(s string) (seconds int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || (s[0] != '+' && s[0] != '-') || s[3] != ':' {
		return 0, false
	}
	h, m := digits(s[1:3]), digits(s[4:6])
	if h < 0 || h > 23 || m < 0 || m > 59 {
		return 0, false
	}
	seconds = h*3600 + m*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}
