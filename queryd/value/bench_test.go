package value

import (
	"bytes"
	"strings"
	"testing"
)

// BenchmarkContains is a folded search beside bytes.Contains, which does not
// fold: over a MiB where the text does not stand, and over one log line.
func BenchmarkContains(b *testing.B) {
	line := `2026-11-30T14:41:08Z INFO request method=GET path=/api/v1/users/4711 status=200 duration_ms=12.7 user_agent="Mozilla/5.0"` + "\n"
	big := strings.Repeat(line, 1<<20/len(line))
	for _, text := range []string{"CUDA out of memory", "status=500", "timeout", "e", "ees"} {
		n := NewNeedle(text)
		for name, s := range map[string]string{"MiB": big, "line": line} {
			b.Run(name+"/folded/"+text, func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				b.ReportAllocs()
				for b.Loop() {
					n.Find(s)
				}
			})
			raw, needle := []byte(s), []byte(text)
			b.Run(name+"/bytes.Contains/"+text, func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				for b.Loop() {
					bytes.Contains(raw, needle)
				}
			})
		}
	}
}

// BenchmarkContainsMisled is the search where every place lies to it.
func BenchmarkContainsMisled(b *testing.B) {
	hay, needles := misleading()
	n := NewNeedle(needles[0])
	b.SetBytes(int64(len(hay)))
	for b.Loop() {
		n.Find(hay)
	}
}

// BenchmarkDecode reads two fields, and all, of a record as telemetry has it.
func BenchmarkDecode(b *testing.B) {
	text := []byte(`{"level":"info","ts":1767225600.123,"source":{"name":"trainer","pid":4711},"usage_pct":91.25,"rx_bytes":123456789,"message":"step done","tags":["a","b"]}`)
	var f Fields
	if err := All().Decode(&f, text); err != nil {
		b.Fatal(err)
	}
	packed := AppendMapHead(nil, len(f.List()))
	for _, x := range f.List() {
		packed = AppendMsgpack(AppendMsgpackString(packed, x.Path), x.Value)
	}
	some, err := Compile(Want{Path: "usage_pct"}, Want{Path: "source.name"})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		payload []byte
		d       *Decoder
	}{{"json/some", text, some}, {"json/all", text, All()}, {"msgpack/some", packed, some}, {"msgpack/all", packed, All()}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.payload)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.d.Decode(&f, c.payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	var out []byte
	_ = All().Decode(&f, text)
	b.Run("answer", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out = append(out[:0], '{')
			for i, x := range f.List() {
				if i > 0 {
					out = append(out, ',')
				}
				out = AppendJSON(append(AppendJSONString(out, x.Path), ':'), x.Value)
			}
			out = append(out, '}')
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for name, p := range map[string]Predicate{
		"==": {Op: Eq, Literals: []Value{OfString("Trainer")}}, ">": {Op: Gt, Literals: []Value{OfInt(80)}},
		"IN": {Op: In, Literals: []Value{OfString("a"), OfString("trainer"), OfInt(7)}},
	} {
		x := mustTest(b, p)
		vs := []Value{OfString("trainer"), OfFloat(91.25)}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, v := range vs {
					x.Match(v)
				}
			}
		})
	}
}
