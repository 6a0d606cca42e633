package value

import (
	"math"
	"strconv"
	"strings"
)

// Number reads text that is a number as a query writes one (L2.5): decimal
// digits with or without a minus, 0x and hexadecimal digits, or a float with
// digits on both sides of its point, or an exponent. What fits no 64 bits, or
// no finite float, is no number. PARSE makes numbers of such values (L4.7).
func Number(text string) (v Value, ok bool) {
	if hex, is := strings.CutPrefix(text, "0x"); is {
		if hex == "" || strings.ContainsAny(hex, "+-_") {
			return v, false
		}
		u, err := strconv.ParseUint(hex, 16, 64)
		return OfUint(u), err == nil
	}
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return v, false
	}
	zeros := len(digits) - len(strings.TrimLeft(digits, "0"))
	if zeros == len(digits) {
		return OfInt(0), true
	}
	// JSON's numbers are these but for zeros in front, which say nothing.
	if c := digits[zeros]; zeros > 0 && (c < '0' || c > '9') {
		zeros--
	}
	plain := digits[zeros:]
	end, integer, err := scanNumber(plain, 0)
	if err != nil || end != len(plain) {
		return v, false
	}
	if len(digits) < len(text) {
		plain = "-" + plain
	}
	if integer {
		return parseInteger(plain)
	}
	f, err := strconv.ParseFloat(plain, 64)
	return OfFloat(f), err == nil && !math.IsInf(f, 0)
}

// parseInteger reads -digits or digits; ok is false if it fits no 64 bits.
func parseInteger(s string) (v Value, ok bool) {
	negative := s[0] == '-'
	if negative {
		s = s[1:]
	}
	if len(s) > 20 {
		return v, false
	}
	var n uint64
	for i := range len(s) {
		d := uint64(s[i] - '0')
		if i >= 19 && n > (1<<64-1-d)/10 { // nineteen digits always fit
			return v, false
		}
		n = n*10 + d
	}
	switch {
	case !negative:
		return OfUint(n), true
	case n <= 1<<63:
		return OfInt(-int64(n)), true
	}
	return v, false
}
