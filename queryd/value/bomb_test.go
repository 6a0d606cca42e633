package value

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// TestBombs is promise 1: what other decoders die of is refused, or read, in
// memory bounded by the payload's size.
func TestBombs(t *testing.T) {
	const mib = 1 << 20
	field := func(v string) string { return "\x81\xa1a" + v }
	wide := func(n int) string { // n fields of JSON
		return "{" + strings.TrimSuffix(strings.Repeat(`"a":0,`, n), ",") + "}"
	}
	for name, c := range map[string]struct {
		payload string
		want    error
	}{
		"an array of 2^32-1":               {field("\xdd\xff\xff\xff\xff"), ErrTruncated},
		"a map of 2^32-1":                  {"\xdf\xff\xff\xff\xff", ErrTruncated},
		"a binary of 4 GiB":                {field("\xc6\xff\xff\xff\xffa"), ErrTruncated},
		"a text of 4 GiB":                  {field("\xdb\xff\xff\xff\xffa"), ErrTruncated},
		"an extension of 4 GiB":            {field("\xc9\xff\xff\xff\xff\x05a"), ErrTruncated},
		"arrays in arrays, 10 000 deep":    {field(strings.Repeat("\x91", 10000) + "\xc0"), ErrDepth},
		"maps in maps, 10 000 deep":        {strings.Repeat("\x81\xa1a", 10000) + "\xc0", ErrDepth},
		"arrays of arrays of 2^20":         {field(strings.Repeat("\xdd\x00\x0f\xff\xff", 200)), ErrTruncated},
		"a MiB of nils":                    {field("\xdd\x00\x10\x00\x00" + strings.Repeat("\xc0", mib)), nil},
		"a MiB of empty maps":              {field("\xdd\x00\x10\x00\x00" + strings.Repeat("\x80", mib)), nil},
		"a MiB of pairs":                   {"\xdf\x00\x05\x55\x55" + strings.Repeat("\xa1a\xc0", 0x55555), ErrFields},
		"JSON, 100 000 arrays deep":        {`{"a":` + strings.Repeat("[", 100000), ErrDepth},
		"JSON, 100 000 objects deep":       {strings.Repeat(`{"a":`, 100000), ErrDepth},
		"JSON, under a key that is none":   {`{"":` + strings.Repeat(`{"":`, 100000), ErrDepth},
		"JSON, a MiB of zeros":             {`{"a":[` + strings.Repeat("0,", mib/2) + "0]}", nil},
		"JSON, a MiB of digits":            {`{"a":` + strings.Repeat("1", mib) + "}", nil},
		"JSON, a MiB of escapes":           {`{"a":"` + strings.Repeat(`\u0000`, mib/6) + `"}`, nil},
		"JSON, a MiB of one key":           {`{"` + strings.Repeat("a.", mib/2) + `a":0}`, ErrFields},
		"JSON, a key of half a MiB":        {`{"` + strings.Repeat("a.", mib/4) + `a":{"x":0,"y":1,"z":{}}}`, ErrFields},
		"JSON, as many fields as may be":   {wide(MaxFields), nil},
		"JSON, one field more":             {wide(MaxFields + 1), ErrFields},
		"JSON, as deep as may be":          {strings.Repeat(`{"a":`, MaxDepth-1) + "{}" + strings.Repeat("}", MaxDepth-1), nil},
		"JSON, one level deeper":           {strings.Repeat(`{"a":`, MaxDepth) + "{}" + strings.Repeat("}", MaxDepth), ErrDepth},
		"JSON, arrays as deep as may be":   {`{"a":` + strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1) + "}", nil},
		"JSON, one array deeper":           {`{"a":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + "}", ErrDepth},
		"arrays as deep as may be":         {field(strings.Repeat("\x91", MaxDepth-1) + "\xc0"), nil},
		"one array deeper":                 {field(strings.Repeat("\x91", MaxDepth) + "\xc0"), ErrDepth},
		"maps as deep as may be":           {strings.Repeat("\x81\xa1a", MaxDepth) + "\xc0", nil},
		"one map deeper":                   {strings.Repeat("\x81\xa1a", MaxDepth+1) + "\xc0", ErrDepth},
		"deep keys, that are no strings":   {"\x81" + strings.Repeat("\x91", 10000) + "\xc0\xc0", ErrDepth},
		"JSON, a MiB of spaces":            {strings.Repeat(" ", mib), ErrNoMap},
		"JSON, a MiB of spaces and a map":  {strings.Repeat(" ", mib) + "{}", nil},
		"JSON, commas":                     {"{" + strings.Repeat(",", mib), ErrSyntax},
		"JSON, a MiB in a nested key once": {`{"a":{"` + strings.Repeat("b", mib-16) + `":1}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var f Fields
			used := allocated(func() {
				if err := All().Decode(&f, []byte(c.payload)); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			})
			if limit := uint64(8*len(c.payload) + 1<<20); used > limit {
				t.Errorf("decoding %d bytes allocated %d, at most %d are promised", len(c.payload), used, limit)
			}
			used = allocated(func() {
				for _, x := range f.List() {
					AppendKey(nil, x.Value)
					AppendJSON(nil, x.Value)
					AppendMsgpack(nil, x.Value)
				}
			})
			if used > 64<<20 {
				t.Errorf("writing it allocated %d bytes", used)
			}
		})
	}
}

// allocated is how many bytes f allocates. The tests of this package do not
// run at once.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestAnyMebibyteIsBounded is promise 1 for bytes that nobody chose.
func TestAnyMebibyteIsBounded(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	alphabets := []string{"", `{}[]",:\u0a1 `, "\x80\x81\x90\x91\xa1a\xc0\xdc\xdd\xde\xdf\x00\x01"}
	for i := range 12 {
		p := make([]byte, 1<<20)
		for j := range p {
			if a := alphabets[i%3]; a != "" {
				p[j] = a[r.IntN(len(a))]
			} else {
				p[j] = byte(r.Uint32())
			}
		}
		copy(p, []string{`{"a":`, "\xdf\x00\x05\x00\x00", "\x81\xa1a\xdd\x00\x0f\x00\x00"}[r.IntN(3)])
		var f Fields
		if used := allocated(func() { _ = All().Decode(&f, p) }); used > 64<<20 {
			t.Errorf("%d bytes allocated", used)
		}
		if f.Raw() && !bytes.Equal([]byte(f.Lookup(RawPath).Text()), p) {
			t.Error("the bytes are not kept")
		}
	}
}
