package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

// TestJSONCases is L4.6.
func TestJSONCases(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Value{}, "null"}, {OfBool(true), "true"}, {OfBool(false), "false"},
		{OfTime(1796049668164117822), `"2026-11-30T14:41:08.164117822Z"`}, {OfTime(0), `"1970-01-01T00:00:00.000000000Z"`},
		{OfTime(math.MaxInt64), `"2262-04-11T23:47:16.854775807Z"`},
		{OfInt(math.MinInt64), "-9223372036854775808"}, {OfUint(math.MaxUint64), "18446744073709551615"}, {OfInt(1 << 60), "1152921504606846976"},
		{OfFloat(1), "1.0"}, {OfFloat(-0.5), "-0.5"}, {OfFloat(1e20), "100000000000000000000.0"}, {OfFloat(1e21), "1e+21"}, {OfFloat(1e-7), "1e-07"},
		{OfFloat(math.Copysign(0, -1)), "-0.0"}, {OfFloat(1 << 53), "9007199254740992.0"},
		{OfFloat(math.NaN()), `{"$float":"nan"}`}, {OfFloat(math.Inf(1)), `{"$float":"+inf"}`}, {OfFloat(math.Inf(-1)), `{"$float":"-inf"}`},
		{OfBinary([]byte{0xde, 0xad}), `{"$binary":"3q0="}`}, {OfBinary(nil), `{"$binary":""}`},
		{OfArray(OfInt(1), OfFloat(1), OfBinary([]byte("x")), OfArray(), Value{}), `[1,1.0,{"$binary":"eA=="},[],null]`},
		{OfString("a\"\\/<é😀"), `"a\"\\/<é😀"`}, {OfString("a\nb\r\t\x00\x1b[31m\x7f"), `"a\nb\r\t\u0000\u001b[31m\u007f"`},
		{OfString("\u0080\u009b\u00a0\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\u206a"), `"\u0080\u009b` + "\u00a0" + `\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069` + "\u206a" + `"`},
		{OfString("a\xffb"), `"a\ufffdb"`}, {OfText([]byte("a\xffb")), `{"$binary":"Yf9i"}`}, {OfText([]byte("é")), `"é"`},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestAnswersReadBack is promise 6: whatever a value holds, JSON and
// MessagePack say it in one line and give it back.
func TestAnswersReadBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := genValue(3).Draw(r, "value")
		checkEncodings(t, v)
		if v.Kind() != String {
			return
		}
		var back string
		if err := json.Unmarshal(AppendJSON(nil, v), &back); err != nil || back != v.Text() {
			r.Fatalf("%q is read back as %q, %v", v.Text(), back, err)
		}
	})
}

// TestNoCharacterMovesTheTerminal goes through every character there is.
func TestNoCharacterMovesTheTerminal(t *testing.T) {
	for r := rune(0); r <= 0x10ffff; r++ {
		j := string(AppendJSONString(nil, string(r)))
		control := r < 0x20 || (r >= 0x7f && r <= 0x9f)
		bidi := strings.ContainsRune("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", r)
		line := r == 0x2028 || r == 0x2029
		if (control || bidi || line) && strings.ContainsRune(j, r) {
			t.Errorf("%U stays as it is: %q", r, j)
		}
		var back string
		if err := json.Unmarshal([]byte(j), &back); err != nil || back != string(r) {
			t.Fatalf("%U is written %s and read back %q, %v", r, j, back, err)
		}
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	vs := []Value{OfTime(1), OfInt(-5), OfFloat(2.5), OfString("a\x1bé"), OfBinary([]byte("xyz")), OfArray(OfInt(1), OfString("x"))}
	buf := make([]byte, 0, 4096)
	if a := testing.AllocsPerRun(100, func() {
		for _, v := range vs {
			buf = AppendMsgpack(AppendJSON(buf[:0], v), v)
			buf = AppendKey(buf, v)
		}
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// TestMessagePackIsCanonical: at each border the shortest form, as another's
// encoder writes it.
func TestMessagePackIsCanonical(t *testing.T) {
	check := func(what string, got []byte, like any) {
		t.Helper()
		want, err := msgpack.Marshal(like)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %.12x, want %.12x, %v", what, got, want, err)
		}
	}
	for shift := range 64 {
		for _, n := range []int64{1<<shift - 1, 1 << shift, -1 << shift, -1<<shift - 1} {
			got := AppendMsgpack(nil, OfInt(n))
			v, err := msgpack.NewDecoder(bytes.NewReader(got)).DecodeInt64()
			if err != nil || v != n || len(got) != shortest(n) {
				t.Errorf("%d is written %x, %d, %v", n, got, v, err)
			}
		}
	}
	check("2^64-1", AppendMsgpack(nil, OfUint(math.MaxUint64)), uint64(math.MaxUint64))
	for _, n := range []int{0, 15, 16, 31, 32, 255, 256, 65535, 65536} {
		s := strings.Repeat("x", n)
		check("text", AppendMsgpack(nil, OfString(s)), s)
		check("binary", AppendMsgpack(nil, OfBinary([]byte(s))), []byte(s))
		check("array", AppendMsgpack(nil, OfArray(make([]Value, n)...)), make([]any, n))
		var f Fields
		m := append(AppendMapHead(nil, n), strings.Repeat("\xa1a\x01", n)...)
		if err := All().Decode(&f, m); (n <= MaxFields && err != nil) || (n > MaxFields && !errors.Is(err, ErrFields)) {
			t.Errorf("a map of %d: %v", n, err)
		}
	}
}

// shortest is how many bytes an integer needs in MessagePack.
func shortest(n int64) int {
	for _, width := range []int{1, 2, 4} {
		if n >= -1<<(8*width-1) && n < 1<<(8*width) {
			if n >= -32 && n < 128 {
				return 1
			}
			return 1 + width
		}
	}
	return 9
}
