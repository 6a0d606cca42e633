package invariant

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"pgregory.net/rapid"

	"datastream/stack/server"
	"datastream/subjects"
	"datastream/test/harness"
)

// survive submits a frame under any names and finds it in the store under the
// same.
func survive(t testing.TB, p *pipe, nc *nats.Conn, n subjects.Node, c subjects.Channel, payload string) {
	t.Helper()
	a := ask(t, nc, p.message(n, c, []byte(payload)))
	if a.Error != "" || a.Node != subjects.EncodeNode(n) {
		t.Fatalf("submit to %q, %q: %+v", n, c, a)
	}
	l := p.eventually(t, "the frame is stored", subjects.Stream{Node: n, Life: a.Life}, func(l *life) bool {
		_, ok := l.frames[a.Position]
		return ok
	})
	if got := l.frames[a.Position]; got.channel != c || got.payload != payload {
		t.Fatalf("submitted %q to %q of %q; stored is %q of %q", payload, c, n, got.payload, got.channel)
	}
}

// nameSeeds are names that something between could trip over.
var nameSeeds = []string{
	"n1", "a.b.c", ".", "..", "a..b", ".a", "a.", "%", "%%", "%25", "%zz", "%2e", "*", ">", "a.>", "a.*.b", " ", "\t", "\r\n", "\x00", "\x7f",
	"\xff", "\xc2\x85", "é", "日本", "\xed\xa0\x80", "\xf0\x9f\x98\x80", "$SYS", "$JS.API.x", "_INBOX.x", "ds.store", strings.Repeat("\xff", 128),
	strings.Repeat(".", 128), strings.Repeat("%", 128), strings.Repeat("*", 128),
}

// FuzzNamesSurvive: any node of 1…128 bytes and any channel of 1…512 bytes
// survives submit → store → decode over the real stack (P1.3, P2.1). Fuzz it with
// -fuzzminimizetime 1x: the stack's own goroutines cover code by chance, which
// the engine takes for the input's doing and tries to minimize.
func FuzzNamesSurvive(f *testing.F) {
	for i, s := range nameSeeds {
		f.Add(s, nameSeeds[len(nameSeeds)-1-i], "payload")
	}
	f.Add("n", strings.Repeat("\x00", 512), "")
	f.Fuzz(func(t *testing.T, node, channel, payload string) {
		n, err := subjects.ParseNode(node)
		c, err2 := subjects.ParseChannel(channel)
		if err != nil || err2 != nil || len(payload) > 1<<20 {
			return
		}
		p := shared(t)
		survive(t, p, p.operator, n, c, payload)
	})
}

// anyName draws a name over all 256 bytes, rich in those that mean something.
func anyName(most int) *rapid.Generator[string] {
	special := rapid.SampledFrom([]byte(".*>% \x00\x1f\x7f\x80\x85\xc2\xff\xed\xf0aZ0_$"))
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "any bytes") {
			return string(rapid.SliceOfN(rapid.Byte(), 1, most).Draw(t, "bytes"))
		}
		return string(rapid.SliceOfN(special, 1, most).Draw(t, "special bytes"))
	})
}

// TestAnyNamesSurvive is the fuzz target's claim over random names.
func TestAnyNamesSurvive(t *testing.T) {
	p := shared(t)
	nc := p.dial(t, server.Anonymous)
	rapid.Check(t, func(rt *rapid.T) {
		n := subjects.Node(anyName(subjects.MaxNode).Draw(rt, "node"))
		c := subjects.Channel(anyName(subjects.MaxChannel).Draw(rt, "channel"))
		survive(t, p, nc, n, c, rapid.String().Draw(rt, "payload"))
	})
}

// anyToken draws a piece of a subject that the server lets through, well formed or
// not.
func anyToken() *rapid.Generator[string] {
	bits := []string{
		"*", ">", "%", "%zz", "%2", "%2E", "%2e", "%25", "%00", "%20", "%C2%85", "\x00", "\x01", "\x1b", "\x7f", "\xff", "\xc2\x85", "\xc2",
		"\v", "\f", "a", "n1", "é", "日", "$", "_INBOX", "\"", "\\", "{", "'",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 1, 5).Draw(t, "bits"), "")
	})
}

// TestHostileSubjects: whatever subject a client gets past the server, with
// literal wildcards, escapes, controls and invalid UTF-8, no subject that is
// not canonical is ever published or stored; the frame is stored under the name
// that the subject decodes to, or refused and counted (P2.2).
func TestHostileSubjects(t *testing.T) {
	p := open(t, nil)
	nc := p.dial(t, server.Anonymous)
	raw := p.rawClient(t)
	serial := 0
	rapid.Check(t, func(rt *rapid.T) {
		recorded := p.watcher.record()
		before := p.count(t, "ds_mux_refused_total", "name") + p.count(t, "ds_mux_refused_total", "foreign")
		for range 20 {
			serial++
			tokens := rapid.SliceOfN(anyToken(), 1, 5).Draw(rt, "tokens")
			raw.pub("ds.submit."+strings.Join(tokens, "."), "", fmt.Sprint(serial))
		}
		raw.sync()
		sentinel, _ := p.submit(t, nc, "sentinel", "c", nil)
		p.stored(t, sentinel, 1)
		p.settled(t)
		p.catchUp(t)
		p.archive.read(t)
		p.watcher.verify(t)
		refused := uint64(0)
		for _, m := range recorded() {
			n, c, err := p.Space().ParseSubmit(m.Subject)
			if err != nil {
				refused++
			} else if n != "sentinel" && !p.archive.holds(n, c, string(m.Data)) {
				t.Fatalf("%q went in under %q and is not stored as %q of %q", m.Data, m.Subject, c, n)
			}
		}
		harness.Until(t, "refusals are counted", func() bool {
			return p.count(t, "ds_mux_refused_total", "name")+p.count(t, "ds_mux_refused_total", "foreign") == before+refused
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
	p.archive.canonical(t)
}

// holds reports whether a frame is stored in any life of a node.
func (a *archive) holds(n subjects.Node, c subjects.Channel, payload string) bool {
	for _, st := range a.of(n) {
		for _, f := range a.life(st).frames {
			if f.channel == c && f.payload == payload {
				return true
			}
		}
	}
	return false
}

// canonical asks the server itself for every subject that is stored.
func (a *archive) canonical(t testing.TB) {
	t.Helper()
	for subject := range a.subjects(t) {
		if err := plain(subject); err != nil {
			t.Errorf("%q is stored: %v", subject, err)
		}
	}
}

// plain holds a subject to what P2.1 says a token may carry, without the help
// of the package that spells them.
func plain(subject string) error {
	switch {
	case !utf8.ValidString(subject):
		return fmt.Errorf("it is no UTF-8")
	case strings.ContainsAny(subject, "*>"):
		return fmt.Errorf("it has a wildcard")
	case strings.Contains("."+subject+".", ".."):
		return fmt.Errorf("it has an empty token")
	}
	for _, r := range subject {
		if r <= ' ' || (r >= 0x7f && r <= 0x9f) {
			return fmt.Errorf("it has the control %U", r)
		}
	}
	return nil
}
