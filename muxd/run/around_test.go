package run

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// TestStoredBytesAreNoAnswer: what a consumer delivers to the inbox in which a
// mux waits for others is not believed, though it reads like an answer (P2.4).
func TestStoredBytesAreNoAnswer(t *testing.T) {
	body := []byte(`{"name":"muxd","id":"A","metadata":{"node":"*","prefix":"ds"}}`)
	for _, c := range []struct {
		msg  nats.Msg
		want bool
	}{
		{nats.Msg{Subject: "_INBOX.x", Data: body}, true},
		{nats.Msg{Subject: "ds.store.n1.01JD0000000000000000000000.a", Data: body}, false},
		{nats.Msg{Subject: "_INBOX.x", Header: nats.Header{"Status": {"100"}}}, false}, // a heartbeat
	} {
		info, ok := answer(&c.msg, "_INBOX.x")
		if ok != c.want || ok && info.ID != "A" {
			t.Errorf("%s %q is %v, %+v", c.msg.Subject, c.msg.Data, ok, info)
		}
	}
}
