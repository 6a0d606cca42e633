package invariant

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// denials collects what the server refuses a connection.
type denials struct {
	mu  sync.Mutex
	all []string
}

func (d *denials) handler() nats.Option {
	return nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.all = append(d.all, err.Error())
	})
}

func (d *denials) has(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.all {
		if strings.Contains(s, text) {
			return true
		}
	}
	return false
}

// inside are subjects of a life that only the pipe may publish to, or
// that would change something if a daemon published there for somebody else.
func (p *pipe) inside(st subjects.Stream) []string {
	s := p.Space()
	return []string{s.Frame(st, "x"), s.Beat(st), s.Settled(st), s.Repair(st), s.Store(st, "x")}
}

// undisturbed submits one more frame to a stream and checks that it has just
// those that were submitted, all settled, none lost; and that the subjects of
// the list were never published.
func (p *pipe) undisturbed(t *testing.T, nc *nats.Conn, st subjects.Stream, frames int) {
	t.Helper()
	again, pos := p.submit(t, nc, st.Node, "after", []byte("after"))
	if again != st || pos != subjects.Position(frames) {
		t.Errorf("the next frame has position %v of %v; %d of %v was due", pos, again, frames, st)
	}
	l := p.stored(t, st, frames+1)
	gapsAre(t, l)
	if len(l.frames) != frames+1 {
		t.Errorf("%d frames are stored, not %d", len(l.frames), frames+1)
	}
	harness.Until(t, "all is settled", func() bool {
		_, s := p.watcher.account(st)
		return s.Below == subjects.Position(frames+1) && s.Lost == 0
	})
}

// TestAnonymousMayOnlySubmit: a client without credentials may not publish what
// the stages tell each other (P2.3): the server says so, nobody hears it, and
// nothing changes.
func TestAnonymousMayOnlySubmit(t *testing.T) {
	p, n := shared(t), node(t)
	var d denials
	nc := p.dial(t, server.Anonymous, d.handler())
	st, _ := p.submit(t, nc, n, "c", []byte("0"))
	p.settled(t)
	heard, err := p.operator.SubscribeSync("ds.*." + subjects.EncodeNode(n) + "." + st.Life.String() + ".>")
	if err != nil {
		t.Fatal(err)
	}
	flush(t, p.operator)
	for _, subject := range append(p.inside(st), "$KV.DATASTREAM.x", "_INBOX.x", "$JS.API.STREAM.DELETE.DATASTREAM",
		"$JS.API.STREAM.PURGE.DATASTREAM", "$JS.API.STREAM.UPDATE.DATASTREAM", "$JS.API.STREAM.MSG.DELETE.DATASTREAM", "ds.client.x", "ds.x") {
		m := &nats.Msg{Subject: subject, Data: []byte(`{"below":1,"seq":1}`), Header: nats.Header{frame.HeaderPos: {"7"}}}
		publish(t, nc, m)
		flush(t, nc)
		harness.Until(t, "the server refuses "+subject, func() bool {
			return d.has(fmt.Sprintf("Permissions Violation for Publish to %q", subject))
		})
	}
	p.undisturbed(t, nc, st, 1)
	if m, err := heard.NextMsg(1); err == nil && !strings.HasPrefix(m.Subject, "ds.frame.") && !strings.HasPrefix(m.Subject, "ds.store.") {
		t.Errorf("%q was heard", m.Subject)
	}
	_ = heard.Unsubscribe()
}

// TestServiceRequestsChangeNothing: the micro framework answers to any reply
// subject that an asker names; on the $SRV connection of every daemon that
// reaches no subject of the pipe (P2.4).
func TestServiceRequestsChangeNothing(t *testing.T) {
	p, n := shared(t), node(t)
	nc := p.dial(t, server.Anonymous)
	st, _ := p.submit(t, nc, n, "c", []byte("0"))
	p.settled(t)
	forged := append(p.inside(st), p.Space().Submit(n, "c"), p.Space().Submit("other", "c"), "evil", "$KV.DATASTREAM.x")
	for _, daemon := range []string{"muxd", "ingestd"} {
		for _, verb := range []string{"PING", "INFO", "STATS"} {
			for _, subject := range []string{"$SRV." + verb, "$SRV." + verb + "." + daemon} {
				for _, reply := range forged {
					if err := nc.PublishRequest(subject, reply, nil); err != nil {
						t.Fatal(err)
					}
				}
				// Answers are given in turn: after this one all others were tried.
				if _, err := nc.Request("$SRV."+verb+"."+daemon, nil, harness.Patience); err != nil {
					t.Fatalf("%s does not answer: %v", daemon, err)
				}
			}
		}
	}
	p.catchUp(t)
	if n := p.watcher.stray("evil"); n > 0 {
		t.Errorf("%d answers went to a subject of the asker's choice", n)
	}
	p.undisturbed(t, nc, st, 1)
	if p.archive.read(t); len(p.archive.of("other")) > 0 {
		t.Error("an answer was submitted")
	}
}

// TestForgedDeliveriesChangeNothing: a push consumer delivers stored bytes of
// its maker's choice to a subject of his choice. Users get none that delivers
// into the pipe; and were there one, as the operator can make, the handlers
// look at the message's own subject and refuse it, and count that (P2.4).
func TestForgedDeliveriesChangeNothing(t *testing.T) {
	p, n := open(t, nil), node(t)
	nc := p.dial(t, server.Anonymous)
	payloads := []string{
		string(control.Settled{Below: 3, Lost: 3}.Encode()),
		string(control.Beat{Assigned: 9, Drained: 9, Oldest: 9, Closed: true}.Encode()),
		`{"ranges":[[0,0]]}`,
	}
	var st subjects.Stream
	for i, s := range payloads {
		st, _ = p.submit(t, nc, n, "forged", []byte(s))
		p.stored(t, st, i+1) // each a message of its own
	}
	p.settled(t)
	p.watcher.tamper()
	for _, x := range []struct{ deliver, counter string }{
		{p.Space().Settled(st), "ds_mux_refused_total"},
		{p.Space().Repair(st), "ds_mux_refused_total"},
		{p.Space().Submit(n, "c"), "ds_mux_refused_total"},
		{p.Space().Beat(st), "ds_mux_refused_total"}, // it listens for other muxes
		{p.Space().Beat(st), "ds_ingest_refused_total"},
		{p.Space().Frame(st, "c"), "ds_ingest_refused_total"},
	} {
		refused := p.grows(t, x.counter, "foreign")
		p.deliver(t, nc, x.deliver, p.Space().Store(st, "forged"))
		refused(uint64(len(payloads)))
	}
	p.undisturbed(t, nc, st, len(payloads))
	if n := p.count(t, "ds_nats_denied_total", "muxd"); n > 0 {
		t.Errorf("the mux tried %d times to publish what it may not: answers go under _INBOX. alone", n)
	}
	js, _ := json.Marshal(map[string]any{"stream_name": "DATASTREAM", "config": map[string]any{
		"name": "loop", "deliver_subject": p.Space().Store(st, "forged"), "ack_policy": "none", "deliver_policy": "all",
	}})
	for _, c := range []*nats.Conn{nc, p.operator} {
		r, err := c.Request("$JS.API.CONSUMER.CREATE.DATASTREAM.loop", js, harness.Patience)
		if err != nil || !strings.Contains(string(r.Data), `"error"`) {
			t.Errorf("a consumer may deliver back into the stream: %v %+v", err, r)
		}
	}
	p.undisturbed(t, nc, st, len(payloads)+1)
}

// deliver makes a push consumer that delivers what is stored under a subject to
// another one: the gate refuses the forger, and an operator makes it. The
// server begins when somebody listens to just that subject: the forger does,
// and an operator, whom the server may let hear more.
func (p *pipe) deliver(t testing.TB, nc *nats.Conn, to, from string) {
	t.Helper()
	for _, c := range []*nats.Conn{nc, p.operator} {
		sub, err := c.SubscribeSync(to)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = sub.Unsubscribe() })
		flush(t, c)
	}
	name := fmt.Sprintf("forged-%d", nodes.Add(1))
	req, err := json.Marshal(map[string]any{"stream_name": "DATASTREAM", "config": map[string]any{
		"name": name, "deliver_subject": to, "filter_subject": from, "ack_policy": "none", "deliver_policy": "all", "replay_policy": "instant",
	}})
	if err != nil {
		t.Fatal(err)
	}
	door := "$JS.API.CONSUMER.CREATE.DATASTREAM." + name + "." + from
	if r, err := nc.Request(door, req, harness.Patience); err != nil || !strings.Contains(string(r.Data), `"code":400`) {
		t.Errorf("anybody makes a consumer that delivers to %s: %v %+v", to, err, r)
	}
	r, err := p.operator.Request(door, req, harness.Patience)
	if err != nil || strings.Contains(string(r.Data), `"error"`) {
		t.Fatalf("make a push consumer: %v %+v", err, r)
	}
	t.Cleanup(func() { _, _ = nc.Request("$JS.API.CONSUMER.DELETE.DATASTREAM."+name, nil, harness.Patience) })
}

// TestRepliesGoToInboxesOnly: a reply subject outside of _INBOX. is never
// published to, whatever becomes of the submission (P2.4).
func TestRepliesGoToInboxesOnly(t *testing.T) {
	p, n := shared(t), node(t)
	nc := p.dial(t, server.Anonymous)
	st, _ := p.submit(t, nc, n, "c", []byte("0"))
	replies := p.grows(t, "ds_mux_refused_total", "reply")
	denied := p.count(t, "ds_nats_denied_total", "muxd")
	raw := p.rawClient(t)
	subject := p.Space().Submit(n, "c")
	victim := p.Space().Store(st, "x")
	for _, reply := range []string{"evil", "_INBOX", "_INBOXES.x", "ds.submit.n1.a", victim, "$SYS.REQ.SERVER.PING", ">", "_inbox.x"} {
		raw.pub(subject, reply, "hi")                                    // taken, not answered
		raw.pub("ds.submit."+string(n)+".%", reply, "")                  // an empty channel
		raw.pub("ds.submit."+strings.Repeat("n", 200), reply, "hi")      // no channel
		raw.pub("ds.submit."+strings.Repeat("n", 200)+".c", reply, "hi") // a node that is too long
	}
	raw.sync()
	replies(4 * 8)
	gapsAre(t, p.stored(t, st, 1+8))
	p.catchUp(t)
	for _, s := range []string{"evil", "_INBOX", "_INBOXES.x", "_inbox.x", ">"} {
		if n := p.watcher.stray(s); n > 0 {
			t.Errorf("%d messages went to %q", n, s)
		}
	}
	if n := p.count(t, "ds_nats_denied_total", "muxd"); n > denied {
		t.Errorf("the mux tried %d times to publish what it may not", n-denied)
	}
}
