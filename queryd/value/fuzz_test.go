package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
)

// A naive record is what L4.1 says of a payload, by another's decoder and
// without any care for time and memory.
type naive struct {
	fields []Field // every leaf at a path, equal ones included
	depth  int
}

func (n *naive) sum() (paths int) {
	for _, f := range n.fields {
		paths += len(f.Path)
	}
	return paths
}

// firsts is the fields without those whose path came before.
func (n *naive) firsts() (out []Field) {
	seen := map[string]bool{}
	for _, f := range n.fields {
		if !seen[f.Path] {
			out = append(out, f)
		}
		seen[f.Path] = true
	}
	return out
}

func naivePath(under, key string) (string, bool) {
	for _, s := range strings.Split(key, ".") {
		for i, c := range []byte(s) {
			letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
			if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
				return "", false
			}
		}
		if s == "" {
			return "", false
		}
	}
	if under != "" {
		return under + "." + key, true
	}
	if first, _, _ := strings.Cut(key, "."); slices.Contains(Coordinates[:], first) {
		return "payload." + key, true
	}
	return key, true
}

// json reads one value from d by encoding/json. Where path is no path, or
// inside an array, field is false. The value is its canonical MessagePack.
func (n *naive) json(d *json.Decoder, path string, field bool, depth int) []byte {
	t, err := d.Token()
	if err != nil {
		panic(err)
	}
	open, nested := t.(json.Delim)
	if nested {
		n.depth = max(n.depth, depth+1)
	}
	var elems [][]byte
	switch {
	case nested && open == '{':
		for d.More() {
			k, _ := d.Token()
			at, ok := "", false
			if field {
				at, ok = naivePath(path, k.(string))
			}
			elems = append(elems, AppendMsgpackString(nil, k.(string)), n.json(d, at, ok, depth+1))
		}
		_, _ = d.Token()
		return append(AppendMapHead(nil, len(elems)/2), bytes.Join(elems, nil)...)
	case nested:
		for d.More() {
			elems = append(elems, n.json(d, "", false, depth+1))
		}
		_, _ = d.Token()
		b := append(appendArrayHead(nil, len(elems)), bytes.Join(elems, nil)...)
		return n.leaf(path, field, Value{kind: Array, s: string(b)})
	}
	return n.leaf(path, field, naiveScalar(t))
}

func (n *naive) leaf(path string, field bool, v Value) []byte {
	if field {
		n.fields = append(n.fields, Field{path, v})
	}
	return AppendMsgpack(nil, v)
}

func naiveScalar(t any) Value {
	switch x := t.(type) {
	case bool:
		return OfBool(x)
	case string:
		return OfString(x)
	case json.Number:
		if !strings.ContainsAny(x.String(), ".eE") {
			if i, err := strconv.ParseInt(x.String(), 10, 64); err == nil {
				return OfInt(i)
			}
			if u, err := strconv.ParseUint(x.String(), 10, 64); err == nil {
				return OfUint(u)
			}
		}
		f, _ := strconv.ParseFloat(x.String(), 64)
		return OfFloat(f)
	}
	return Value{}
}

// FuzzJSON is promises 1 and 2 against encoding/json: the same payloads decode,
// to the same fields.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":{"c":[1,2.5,"x",null,{"d":true}]},"a":2}`, `{"timestamp":1,"node":{"x":-0}}`, `{"":1,"a.b":"\ud83d\ude00\ud83d"}`, `{"a":1e999}`, ` {} `, `{"a":"é\u0000"}`,
		strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), `{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + "}", `{"a":01}`, `{"a":tru`, "{\"a\":\"\xff\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if !utf8.Valid(p) {
			anything(t, p) // encoding/json replaces what we keep
			return
		}
		var got Fields
		err := All().Decode(&got, p)
		trimmed := bytes.TrimLeft(p, " \t\r\n")
		if len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(p) {
			if err == nil && FormOf(p) == JSON {
				t.Fatalf("%q is no JSON object, and yet %s", p, show(&got))
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(p))
		d.UseNumber()
		var n naive
		n.json(d, "", true, 0)
		compareNaive(t, p, &got, err, &n)
		anything(t, p)
	})
}

func compareNaive(t *testing.T, p []byte, got *Fields, err error, n *naive) {
	t.Helper()
	tooDeep, tooMany := n.depth > MaxDepth, len(n.fields) > MaxFields || n.sum() > MaxPathBytes
	if tooDeep || tooMany {
		if !(tooDeep && errors.Is(err, ErrDepth)) && !(tooMany && errors.Is(err, ErrFields)) {
			t.Fatalf("%q: depth %d, %d fields: %v", p, n.depth, len(n.fields), err)
		}
		return
	}
	want := n.firsts()
	if err != nil || len(got.List()) != len(want) {
		t.Fatalf("%q: %s, %v; want %v", p, show(got), err, want)
	}
	for i, x := range got.List() {
		if x.Path != want[i].Path || !same(x.Value, want[i].Value) {
			t.Fatalf("%q: field %d is %s=%v, want %s=%v", p, i, x.Path, x.Value, want[i].Path, want[i].Value)
		}
	}
}

// same is being one and the same value, not only equal.
func same(a, b Value) bool {
	return a.Kind() == b.Kind() && Equal(a, b) && bytes.Equal(AppendMsgpack(nil, a), AppendMsgpack(nil, b))
}

// anything is what must hold of any payload: some paths wanted or all, the
// values are the same; what is written of them is valid JSON in one line, and
// MessagePack that reads back.
func anything(t *testing.T, p []byte) {
	t.Helper()
	var all, some Fields
	err := All().Decode(&all, p)
	if (err != nil) != all.Raw() || (Check(p) == nil) != (err == nil) {
		t.Fatalf("%q: raw %v, %v, check %v", p, all.Raw(), err, Check(p))
	}
	wants := []Want{{Path: "never"}, {Path: "a", Tree: true}}
	for i, x := range all.List() {
		if i%2 == 0 {
			wants = append(wants, Want{Path: x.Path})
		}
		checkEncodings(t, x.Value)
		AppendKey(nil, x.Value)
	}
	d, cerr := Compile(wants...)
	if cerr != nil {
		t.Fatal(cerr)
	}
	if again := d.Decode(&some, p); !errors.Is(again, err) {
		t.Fatalf("%q: %v with some wants, %v with all", p, again, err)
	}
	for i, w := range wants[2:] {
		if v := some.At(i + 2); !same(v, all.Lookup(w.Path)) {
			t.Fatalf("%q: %s is %v alone, %v among all", p, w.Path, v, all.Lookup(w.Path))
		}
	}
	tree := slices.DeleteFunc(slices.Clone(all.List()), func(x Field) bool { return x.Path != "a" && !strings.HasPrefix(x.Path, "a.") })
	if got, want := show(&some), show(&Fields{list: tree}); got != want {
		t.Fatalf("%q: under a %s, want %s", p, got, want)
	}
}

func checkEncodings(t *testing.T, v Value) {
	t.Helper()
	j := AppendJSON(nil, v)
	if !json.Valid(j) || !utf8.Valid(j) {
		t.Fatalf("%q is no JSON", j)
	}
	for _, r := range string(j) {
		if r < 0x20 || r == 0x7f || (r > 0x7f && moves(r)) {
			t.Fatalf("%q holds %U", j, r)
		}
	}
	m := append([]byte("\x81\xa1v"), AppendMsgpack(nil, v)...)
	var f Fields
	if err := All().Decode(&f, m); err != nil || !Equal(f.Lookup("v"), v) || !bytes.Equal(AppendMsgpack(nil, f.Lookup("v")), m[3:]) {
		t.Fatalf("%v is written %x and read back %v, %v", v, m, f.Lookup("v"), err)
	}
}

// FuzzMessagePack is promises 1 and 2 against vmihailenco/msgpack, which must
// never see what our walk has not let pass.
func FuzzMessagePack(f *testing.F) {
	for _, s := range []string{
		"\x80", "\x83\xa1a\x01\xa4node\x81\xa1x\xc0\x07\x08", "\xde\x00\x01\xa1a\x93\x01\xa1\xff\xd7\xff\x00\x00\x00\x0c\x00\x00\x00\x02", "\x81\xa1a\xca\x3f\xc0\x00\x00",
		"\x82\xa3a.b\xc4\x01x\xa1a\x81\xa1b\xd3\x80\x00\x00\x00\x00\x00\x00\x00", "\x81\xa1a\xdd\xff\xff\xff\xff", strings.Repeat("\x81\xa1a", 65) + "\xc0",
		"\x81\xa1a\x91\x81\xc3\xc7\x02\x05xy", "\x81\xc0\xc0",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var got Fields
		err := All().Decode(&got, p)
		if err == nil && FormOf(p) == MessagePack {
			r := bytes.NewReader(p)
			var n naive
			n.msgpack(t, msgpack.NewDecoder(r), "", true, 0)
			if r.Len() != 0 {
				t.Fatalf("%x: %d bytes are left", p, r.Len())
			}
			compareNaive(t, p, &got, err, &n)
		}
		anything(t, p)
	})
}

// msgpack reads one value by vmihailenco/msgpack, as json does.
func (n *naive) msgpack(t *testing.T, d *msgpack.Decoder, path string, field bool, depth int) []byte {
	code, err := d.PeekCode()
	if err != nil {
		t.Fatal(err)
	}
	var elems [][]byte
	switch {
	case code&0xf0 == 0x80 || code == 0xde || code == 0xdf:
		count, _ := d.DecodeMapLen()
		n.depth = max(n.depth, depth+1)
		for range count {
			keyCode, _ := d.PeekCode()
			key := n.msgpack(t, d, "", false, depth+1)
			at, ok := "", false
			if isStr := keyCode&0xe0 == 0xa0 || (keyCode >= 0xd9 && keyCode <= 0xdb); field && isStr {
				var k string
				if k, err = msgpack.NewDecoder(bytes.NewReader(key)).DecodeString(); err == nil {
					at, ok = naivePath(path, k)
				}
			}
			elems = append(elems, key, n.msgpack(t, d, at, ok, depth+1))
		}
		return append(AppendMapHead(nil, count), bytes.Join(elems, nil)...)
	case code&0xf0 == 0x90 || code == 0xdc || code == 0xdd:
		count, _ := d.DecodeArrayLen()
		n.depth = max(n.depth, depth+1)
		for range count {
			elems = append(elems, n.msgpack(t, d, "", false, depth+1))
		}
		b := append(appendArrayHead(nil, count), bytes.Join(elems, nil)...)
		return n.leaf(path, field, Value{kind: Array, s: string(b)})
	}
	v, err := naiveMsgpackScalar(d, code)
	if err != nil {
		t.Fatal(err)
	}
	return n.leaf(path, field, v)
}

func naiveMsgpackScalar(d *msgpack.Decoder, code byte) (Value, error) {
	switch {
	case code == 0xc0:
		return Value{}, d.DecodeNil()
	case code == 0xc2 || code == 0xc3:
		b, err := d.DecodeBool()
		return OfBool(b), err
	case code == 0xca || code == 0xcb:
		x, err := d.DecodeFloat64()
		return OfFloat(x), err
	case code < 0x80 || (code >= 0xcc && code <= 0xcf):
		u, err := d.DecodeUint64()
		return OfUint(u), err
	case code >= 0xe0 || (code >= 0xd0 && code <= 0xd3):
		i, err := d.DecodeInt64()
		return OfInt(i), err
	case code >= 0xc4 && code <= 0xc6:
		b, err := d.DecodeBytes()
		return OfBinary(b), err
	case code&0xe0 == 0xa0 || (code >= 0xd9 && code <= 0xdb):
		s, err := d.DecodeString()
		return OfText([]byte(s)), err
	}
	kind, size, err := d.DecodeExtHeader()
	if err != nil {
		return Value{}, err
	}
	body := make([]byte, size)
	if err := d.ReadFull(body); err != nil {
		return Value{}, fmt.Errorf("extension: %w", err)
	}
	return extension(kind, string(body)), nil // pinned by TestValuesOfMessagePack
}
