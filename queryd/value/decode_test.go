package value

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// show is fields as a test reads them: path=json, one after another.
func show(f *Fields) string {
	var b strings.Builder
	for i, x := range f.List() {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%v", x.Path, x.Value)
	}
	return b.String()
}

// pairs is a MessagePack map of keys and values of any type, in order.
func pairs(t *testing.T, kv ...any) []byte {
	t.Helper()
	b := AppendMapHead(nil, len(kv)/2)
	for _, x := range kv {
		if m, ok := x.([]byte); ok { // encoded already
			b = append(b, m...)
			continue
		}
		one, err := msgpack.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, one...)
	}
	return b
}

// TestFlattening is L4.1, both forms.
func TestFlattening(t *testing.T) {
	for _, c := range []struct {
		name    string
		payload []byte
		want    string
	}{
		{"nested", []byte(`{"source":{"name":"x"}}`), `source.name="x"`},
		{"nested, MessagePack", pairs(t, "source", pairs(t, "name", "x")), `source.name="x"`},
		{"a key that is a path", []byte(`{"service.name":"x"}`), `service.name="x"`},
		{"keys that are none", []byte(`{"bad key":1,"7":2,"":3,"a..b":4,".a":5,"a.":6,"-a":7,"é":8,"ok":{"bad key":{"x":1},"y":2}}`), `ok.y=2`},
		{"keys that are none, MessagePack", pairs(t, "bad key", 1, 7, 2, "", 3, nil, 4, true, 5, "a.1b", 6, "ok", 7), `ok=7`},
		{"no field", []byte(`{}`), ``},
		{"a map without leaves", []byte(`{"a":{},"b":{"c":{}}}`), ``},
		{"coordinates", []byte(`{"timestamp":"x","node":{"id":1},"a":1}`), `payload.timestamp="x" payload.node.id=1 a=1`},
		{"coordinates, MessagePack", pairs(t, "timestamp", "x", "node", pairs(t, "id", 1), "a", 1), `payload.timestamp="x" payload.node.id=1 a=1`},
		{"a coordinate that is a path", []byte(`{"life.x":1,"channel":2,"position":3}`), `payload.life.x=1 payload.channel=2 payload.position=3`},
		{"a coordinate's name further in", []byte(`{"a":{"node":1},"nodes":2}`), `a.node=1 nodes=2`},
		{"equal paths", []byte(`{"a":{"b":1},"a.b":2,"a":{"b":3,"c":4}}`), `a.b=1 a.c=4`},
		{"null comes first", []byte(`{"a":null,"a":1}`), `a=null`},
		{"payload in both ways", []byte(`{"payload":{"node":1},"node":2}`), `payload.node=1`},
		{"arrays are not entered", []byte(`{"hops":[{"x":1},[2]]}`), `hops=[{"x":1},[2]]`},
		{"arrays are not entered, MessagePack", pairs(t, "hops", []any{map[string]any{"x": 1}, []any{2}}), `hops=[{"x":1},[2]]`},
		{"escaped keys", []byte(`{"\u0061":{"b\u002ec":1}}`), `a.b.c=1`},
		{"white space", []byte(" \n{ \"a\" :\t[ 1 , 2 ] , \"b\" : { } }\r\n"), `a=[1,2]`},
	} {
		var f Fields
		if err := All().Decode(&f, c.payload); err != nil || f.Raw() || show(&f) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, show(&f), err, c.want)
		}
	}
}

// TestValuesOfJSON is L4.2 for JSON.
func TestValuesOfJSON(t *testing.T) {
	for in, want := range map[string]struct {
		kind Kind
		text string
	}{
		`0`: {Int, "0"}, `-0`: {Int, "0"}, `-0.0`: {Float, "-0.0"}, `1`: {Int, "1"}, `1.0`: {Float, "1.0"}, `1e2`: {Float, "100.0"}, `1E-2`: {Float, "0.01"},
		`9223372036854775807`: {Int, "9223372036854775807"}, `-9223372036854775808`: {Int, "-9223372036854775808"},
		`9223372036854775808`: {Uint, "9223372036854775808"}, `18446744073709551615`: {Uint, "18446744073709551615"},
		`18446744073709551616`: {Float, "18446744073709552000.0"}, `-9223372036854775809`: {Float, "-9223372036854776000.0"},
		`99999999999999999999`: {Float, "100000000000000000000.0"}, `100000000000000000000000`: {Float, "1e+23"},
		`1e999`: {Float, `{"$float":"+inf"}`}, `-1e999`: {Float, `{"$float":"-inf"}`}, `1e-999`: {Float, "0.0"},
		`true`: {Bool, "true"}, `false`: {Bool, "false"}, `null`: {Null, "null"},
		`"x"`: {String, `"x"`}, `""`: {String, `""`}, `"é\n"`: {String, `"é\n"`}, `"\ud83d\ude00"`: {String, `"😀"`},
		`"\ud83d"`: {String, `"` + "\ufffd" + `"`}, `"\ude00\ud83dx"`: {String, `"` + "\ufffd\ufffd" + `x"`}, `"\ud83d\u0041"`: {String, `"` + "\ufffd" + `A"`},
		`"\"\\\/\b\f\n\r\t"`: {String, `"\"\\/\u0008\u000c\n\r\t"`}, `"\u0000"`: {String, `"\u0000"`},
		"\"a\xff\"": {Binary, `{"$binary":"Yf8="}`}, "\"\\u0061\xff\"": {Binary, `{"$binary":"Yf8="}`},
		`[]`: {Array, "[]"}, `[1,2.50,"\u0041",null]`: {Array, `[1,2.5,"A",null]`},
	} {
		var f Fields
		err := All().Decode(&f, []byte(`{"v":`+in+`}`))
		v := f.Lookup("v")
		if err != nil || v.Kind() != want.kind || v.String() != want.text {
			t.Errorf("%s: %v %v, %v; want %v %s", in, v.Kind(), v, err, want.kind, want.text)
		}
	}
}

// TestValuesOfMessagePack is L4.2 for MessagePack.
func TestValuesOfMessagePack(t *testing.T) {
	for _, c := range []struct {
		in   string
		kind Kind
		text string
	}{
		{"\xc0", Null, "null"}, {"\xc2", Bool, "false"}, {"\xc3", Bool, "true"}, {"\x7f", Int, "127"}, {"\xff", Int, "-1"}, {"\xe0", Int, "-32"},
		{"\xcc\xff", Int, "255"}, {"\xcd\xff\xff", Int, "65535"}, {"\xce\xff\xff\xff\xff", Int, "4294967295"},
		{"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", Uint, "18446744073709551615"}, {"\xd0\x80", Int, "-128"}, {"\xd1\x80\x00", Int, "-32768"},
		{"\xd2\x80\x00\x00\x00", Int, "-2147483648"}, {"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", Int, "-9223372036854775808"}, {"\xd3\x00\x00\x00\x00\x00\x00\x00\x01", Int, "1"},
		{"\xca\x3f\xc0\x00\x00", Float, "1.5"}, {"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x01", Float, `{"$float":"nan"}`},
		{"\xa1x", String, `"x"`}, {"\xa1\xff", Binary, `{"$binary":"/w=="}`}, {"\xd9\x01x", String, `"x"`}, {"\xda\x00\x01x", String, `"x"`}, {"\xdb\x00\x00\x00\x01x", String, `"x"`},
		{"\xc4\x01x", Binary, `{"$binary":"eA=="}`}, {"\xc5\x00\x01x", Binary, `{"$binary":"eA=="}`}, {"\xc6\x00\x00\x00\x01x", Binary, `{"$binary":"eA=="}`},
		{"\xd6\xff\x00\x00\x00\x02", Int, "2000000000"}, {"\xd7\xff\x00\x00\x00\x0c\x00\x00\x00\x02", Int, "2000000003"},
		{"\xc7\x0c\xff\x00\x00\x00\x05\xff\xff\xff\xff\xff\xff\xff\xff", Int, "-999999995"},
		{"\xd7\xff\xff\xff\xff\xff\x00\x00\x00\x02", Binary, `{"$binary":"/////wAAAAI="}`}, // 2^30-1 nanoseconds are no second's part
		{"\xc7\x0c\xff\x00\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff", Binary, `{"$binary":"AAAAAH//////////"}`},
		{"\xd4\x05x", Binary, `{"$binary":"eA=="}`}, {"\xc7\x00\x05", Binary, `{"$binary":""}`}, {"\xc8\x00\x01\x05x", Binary, `{"$binary":"eA=="}`},
		{"\x92\x01\x81\x07\xa1x", Array, `[1,{"7":"x"}]`}, {"\xdc\x00\x01\xc0", Array, "[null]"}, {"\xdd\x00\x00\x00\x00", Array, "[]"},
		{"\x91\x81\xc4\x01x\x01", Array, `[{"{\"$binary\":\"eA==\"}":1}]`},
	} {
		var f Fields
		err := All().Decode(&f, []byte("\x81\xa1v"+c.in))
		v := f.Lookup("v")
		if err != nil || v.Kind() != c.kind || v.String() != c.text {
			t.Errorf("%x: %v %v, %v; want %v %s", c.in, v.Kind(), v, err, c.kind, c.text)
		}
	}
}

// TestUndecodableIsRaw is L4.1: what is no map or does not decode has the one
// field raw, its bytes, and nothing of what was read before the fault.
func TestUndecodableIsRaw(t *testing.T) {
	for in, want := range map[string]error{
		"not-json{": ErrNoMap, "": ErrNoMap, "[1]": ErrNoMap, "\x91\x01": ErrNoMap, " ": ErrNoMap, "\xde\xad\xbe\xef": ErrTruncated, " \x80": ErrNoMap,
		`{"a":1`: ErrTruncated, `{"a":1}}`: ErrTrailing, `{"a":1,}`: ErrSyntax, `{"a":01}`: ErrSyntax, `{"a":1.}`: ErrSyntax, `{"a":+1}`: ErrSyntax,
		`{"a":tru}`: ErrSyntax, `{"a":nul`: ErrTruncated, `{"a" 1}`: ErrSyntax, `{a:1}`: ErrSyntax, "{\"a\":\"\n\"}": ErrSyntax, `{"a":"\q"}`: ErrSyntax,
		`{"a":"\u00g0"}`: ErrSyntax, `{"a":"\u00`: ErrTruncated, `{"a":[1 2]}`: ErrSyntax, `{"a":[1}`: ErrSyntax, `{"a":{"b":1]}`: ErrSyntax, `{"a":1 "b":2}`: ErrSyntax,
		`{"a":NaN}`: ErrSyntax, `{'a':1}`: ErrSyntax, `{"a":1e}`: ErrSyntax, `{"a":-}`: ErrSyntax, `{"a"`: ErrTruncated, `{`: ErrTruncated, `{"a":"`: ErrTruncated, `{"a":"\`: ErrTruncated,
		"\x81\xa1a": ErrTruncated, "\x82\xa1a\x01": ErrTruncated, "\x81\xa1a\xc1": ErrSyntax, "\x80\x80": ErrTrailing, "\x81\xa1a\xd4": ErrTruncated, "\xdf\xff\xff\xff\xff": ErrTruncated,
	} {
		var f Fields
		err := All().Decode(&f, []byte(in))
		if !errors.Is(err, want) || !f.Raw() || len(f.List()) != 1 || f.Lookup(RawPath).Kind() != Binary || f.Lookup(RawPath).Text() != in {
			t.Errorf("%q: %s, %v; want raw and %v", in, show(&f), err, want)
		}
		d, _ := Compile(Want{Path: "a"}, Want{Path: RawPath})
		if err := d.Decode(&f, []byte(in)); !errors.Is(err, want) || !f.At(0).IsNull() || f.At(1).Text() != in {
			t.Errorf("%q: a %v, raw %v, %v", in, f.At(0), f.At(1), err)
		}
		if err := Check([]byte(in)); !errors.Is(err, want) {
			t.Errorf("check %q: %v, want %v", in, err, want)
		}
	}
}

// TestWantsFindTheirPaths: exact wants, trees, both at once, twice, and none.
func TestWantsFindTheirPaths(t *testing.T) {
	payload := []byte(`{"z":0,"a":{"b":1,"c":{"d":2}},"timestamp":3,"payload":{"x":4},"raw":5,"a.e":6}`)
	d, err := Compile(Want{Path: "a.b"}, Want{Path: "a", Tree: true}, Want{Path: "payload.timestamp"}, Want{Path: "a.b"},
		Want{Path: "payload", Tree: true}, Want{Path: "timestamp"}, Want{Path: "a.c"}, Want{Path: "raw"}, Want{Path: "nope"})
	if err != nil {
		t.Fatal(err)
	}
	var f Fields
	if err := d.Decode(&f, payload); err != nil {
		t.Fatal(err)
	}
	if got, want := show(&f), "a.b=1 a.c.d=2 payload.timestamp=3 payload.x=4 a.e=6"; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
	for i, want := range []string{"1", "null", "3", "1", "null", "null", "null", "5", "null"} {
		if f.At(i).String() != want {
			t.Errorf("want %d: %v, want %s", i, f.At(i), want)
		}
	}
	for _, bad := range []string{"", "a..b", "hops.0.x", "bad key", "é", "a.", "-a"} {
		if _, err := Compile(Want{Path: bad}); !errors.Is(err, ErrPath) || IsPath(bad) {
			t.Errorf("%q: %v, want ErrPath", bad, err)
		}
	}
}

// TestManyWants: more wanted names in one map than are looked at one by one.
func TestManyWants(t *testing.T) {
	var wants []Want
	var payload strings.Builder
	for i := range 100 {
		wants = append(wants, Want{Path: fmt.Sprintf("m.k%d", i)})
		fmt.Fprintf(&payload, `,"k%d":%d`, i, i)
	}
	d, err := Compile(wants...)
	if err != nil {
		t.Fatal(err)
	}
	var f Fields
	if err := d.Decode(&f, []byte(`{"m":{"x":0`+payload.String()+`}}`)); err != nil {
		t.Fatal(err)
	}
	for i := range wants {
		if n, _ := f.At(i).Int64(); n != int64(i) {
			t.Fatalf("%s is %v", wants[i].Path, f.At(i))
		}
	}
}

// TestManyFields: equal paths among many are found by hash as among few, and a
// Fields that held many holds few again.
func TestManyFields(t *testing.T) {
	var payload strings.Builder
	for i := range MaxFields / 2 {
		fmt.Fprintf(&payload, `"k%d":%d,"k%d":0,`, i, i+1, i/2)
	}
	var f Fields
	for range 2 {
		if err := All().Decode(&f, []byte("{"+strings.TrimSuffix(payload.String(), ",")+"}")); err != nil {
			t.Fatal(err)
		}
		if len(f.List()) != MaxFields/2 {
			t.Fatalf("%d fields, want %d", len(f.List()), MaxFields/2)
		}
		for i, x := range f.List() {
			if n, _ := x.Value.Int64(); n != int64(i+1) || x.Path != fmt.Sprintf("k%d", i) {
				t.Fatalf("field %d is %s=%v", i, x.Path, x.Value)
			}
		}
		if err := All().Decode(&f, []byte(`{"k1":7}`)); err != nil || show(&f) != "k1=7" {
			t.Fatalf("%s, %v", show(&f), err)
		}
	}
}

// TestCloneOutlivesItsPayload is the promise on ownership.
func TestCloneOutlivesItsPayload(t *testing.T) {
	payload := []byte(`{"s":"plain","e":"\u0065sc","a":["x"]}`)
	var f Fields
	if err := All().Decode(&f, payload); err != nil {
		t.Fatal(err)
	}
	s, e, a := f.Lookup("s").Clone(), f.Lookup("e").Clone(), f.Lookup("a").Clone()
	copy(payload, strings.Repeat("#", len(payload)))
	if err := All().Decode(&f, []byte(`{"q":"\u0071\u0071\u0071"}`)); err != nil {
		t.Fatal(err)
	}
	if s.Text() != "plain" || e.Text() != "esc" || a.String() != `["x"]` || a.Len() != 1 || a.Size() < 5 {
		t.Errorf("%v %v %v", s, e, a)
	}
}

// TestDecodeAllocatesNothing is promise 8.
func TestDecodeAllocatesNothing(t *testing.T) {
	some, err := Compile(Want{Path: "usage_pct"}, Want{Path: "cpu.core"}, Want{Path: "message"})
	if err != nil {
		t.Fatal(err)
	}
	for name, payload := range map[string][]byte{
		"json":    []byte(`{"usage_pct":91.25,"cpu":{"core":3,"n":-7},"message":"a plain line","tags":["a","b"],"esc":"\n"}`),
		"msgpack": pairs(t, "usage_pct", 91.25, "cpu", pairs(t, "core", 3, "n", -7), "message", "a plain line", "tags", []string{"a"}),
		"raw":     []byte("not-json{"),
	} {
		for _, d := range []*Decoder{some, All()} {
			var f Fields
			_ = d.Decode(&f, payload)
			if a := testing.AllocsPerRun(100, func() { _ = d.Decode(&f, payload) }); a != 0 {
				t.Errorf("%s: %v allocations", name, a)
			}
		}
	}
}
