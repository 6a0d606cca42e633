package invariant

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// A forger publishes what a mux would for one life, with a mux's permissions.
// Nobody answers repair requests for a life of its own.
type forger struct {
	t  testing.TB
	p  *pipe
	nc *nats.Conn
	st subjects.Stream
}

// forge makes a forger for a life that exists, or is to.
func (p *pipe) forge(t testing.TB, st subjects.Stream) *forger {
	t.Helper()
	return &forger{t: t, p: p, nc: p.dial(t, server.Muxd), st: st}
}

// invent makes a forger for a new life of a node, which its first beat makes
// known.
func (p *pipe) invent(t testing.TB, n subjects.Node) *forger {
	t.Helper()
	f := p.forge(t, subjects.Stream{Node: n, Life: subjects.MintLife(time.Now())})
	f.beat(control.Beat{})
	return f
}

func (f *forger) publish(m *nats.Msg) {
	f.t.Helper()
	publish(f.t, f.nc, m)
	flush(f.t, f.nc)
}

// beat publishes a beat as it is.
func (f *forger) beat(b control.Beat) {
	f.t.Helper()
	f.publish(&nats.Msg{Subject: f.p.Space().Beat(f.st), Data: b.Encode()})
}

// frame publishes one frame.
func (f *forger) frame(c subjects.Channel, pos subjects.Position, payload string) {
	f.t.Helper()
	f.raw(f.p.Space().Frame(f.st, c), payload, frame.HeaderPos, pos.String())
}

// raw publishes anything.
func (f *forger) raw(subject, payload string, headers ...string) {
	f.t.Helper()
	m := &nats.Msg{Subject: subject, Data: []byte(payload), Header: nats.Header{}}
	for i := 0; i+1 < len(headers); i += 2 {
		m.Header[headers[i]] = append(m.Header[headers[i]], headers[i+1])
	}
	f.publish(m)
}

// object is JSON that control would not write.
func object(t testing.TB, v map[string]any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// texts are the numbers from … to-1.
func texts(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprint(i))
	}
	return out
}
