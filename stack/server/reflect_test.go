package server_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"

	"datastream/stack/server"
)

// A victim is a subject in PIPE that users may not publish to, and a pattern
// that its rightful readers listen to.
type victim struct{ class, pattern, subject string }

var victims = []victim{
	{"store", "ds.store.>", "ds.store.n1." + life + ".x"},
	{"frame", "ds.frame.>", "ds.frame.n1." + life + ".x"},
	{"beat", "ds.beat.>", "ds.beat.n1." + life},
	{"settled", "ds.settled.>", "ds.settled.n1." + life},
	{"repair", "ds.repair.>", "ds.repair.n1." + life},
	{"client", "ds.client.>", "ds.client.alice.q"},
	{"inbox", "_PIPE.>", "_PIPE.muxd.1"},
	{"bucket", "$KV.>", "$KV.DATASTREAM.head"},
	{"api", "$JS.API.STREAM.DELETE.>", "$JS.API.STREAM.DELETE.DATASTREAM"},
	{"api", "$JS.API.STREAM.PURGE.>", "$JS.API.STREAM.PURGE.KV_DATASTREAM"},
}

// A stage is a pipe with something in it, and an attacker.
type stage struct {
	js                  jetstream.JetStream
	service, pipe, user client
}

const stored = 100

func newStage(t *testing.T, s *server.Server) stage {
	t.Helper()
	ctx := within(t)
	g := stage{js: makeStream(t, ctx, s), service: dial(t, s, server.Service), pipe: dial(t, s, server.Operator), user: dial(t, s, server.Anonymous)}
	kv, err := g.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: server.Buckets("DATASTREAM")[0]})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.PutString(ctx, "head", "good"); err != nil {
		t.Fatal(err)
	}
	fill(t, g.js, stored-1)
	// One without a payload: what deletes a stream takes none, and reads the
	// stream's name from the fifth token.
	if _, err := g.js.Publish(ctx, "ds.store.n1."+life+".DATASTREAM", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := micro.AddService(g.service.Conn, micro.Config{Name: "muxd", Version: "1.0.0"}); err != nil {
		t.Fatal(err)
	}
	g.service.flush(t)
	openGate(t, s)
	g.ask(t, "$JS.API.CONSUMER.DURABLE.CREATE.DATASTREAM.pull", `{"stream_name":"DATASTREAM","config":{"durable_name":"pull","ack_policy":"explicit","deliver_policy":"all","replay_policy":"instant"}}`)
	return g
}

// ask sends an honest request as the user.
func (g stage) ask(t *testing.T, subject, body string) *nats.Msg {
	t.Helper()
	m, err := g.user.Request(subject, []byte(body), patience)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	return m
}

// unharmed checks that everything is as newStage has made it.
func (g stage) unharmed(t *testing.T) {
	t.Helper()
	expectMessages(t, g.js, "DATASTREAM", stored)
	expectMessages(t, g.js, "KV_DATASTREAM", 1)
	kv, err := g.js.KeyValue(within(t), "DATASTREAM")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := kv.Get(within(t), "head"); err != nil || string(e.Value()) != "good" {
		t.Errorf("the key is %v, %v", e, err)
	}
}

// TestReflectedAnswersStayOutside is promise 3: JetStream answers to any reply
// subject, without a permission being asked. An answer to one that a user has
// chosen ends in the users' account: the user hears it there, and nobody in
// the pipe does.
func TestReflectedAnswersStayOutside(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server.Server) {
		g := newStage(t, s)
		for _, v := range victims {
			watch, heard := g.pipe.listen(t, v.pattern), g.user.listen(t, v.subject)
			for _, a := range []struct{ subject, body string }{
				{"$JS.API.INFO", ""},
				{"$JS.API.STREAM.INFO.DATASTREAM", ""},
				{"$JS.API.STREAM.LIST", ""},
				{"$JS.API.STREAM.MSG.GET.DATASTREAM", `{"seq":1}`},
				{"$JS.API.DIRECT.GET.DATASTREAM", `{"seq":1}`},
				{"$JS.API.DIRECT.GET.DATASTREAM", fmt.Sprintf(`{"seq":%d}`, stored)}, // without a payload
				{"$JS.API.DIRECT.GET.DATASTREAM.ds.store.n1." + life + ".a", ""},
				{"$JS.API.CONSUMER.INFO.DATASTREAM.pull", ""},
				{"$JS.API.CONSUMER.MSG.NEXT.DATASTREAM.pull", ""},
				{g.ask(t, "$JS.API.CONSUMER.MSG.NEXT.DATASTREAM.pull", "").Reply, "+ACK"},
				{g.ask(t, "$JS.API.CONSUMER.MSG.NEXT.DATASTREAM.pull", "").Reply, "+NXT"},
			} {
				if err := g.user.PublishRequest(a.subject, v.subject, []byte(a.body)); err != nil {
					t.Fatal(err)
				}
				if _, err := heard.NextMsg(patience); err != nil {
					t.Errorf("%s was not answered to %s: %v", a.subject, v.subject, err)
				}
				g.pipe.flush(t)
				if n, _, _ := watch.Pending(); n != 0 {
					t.Errorf("%s with the reply %s: %d messages in the pipe", a.subject, v.subject, n)
				}
			}
			_ = watch.Unsubscribe()
			_ = heard.Unsubscribe()
		}
		g.unharmed(t)
	})
}

// TestReflectedServicesReachNobody is promise 4 for every class (P2.4): what
// the micro framework answers to a subject of the asker's choice, the server
// refuses. Subjects of clients are the service connection's own to write to.
func TestReflectedServicesReachNobody(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server.Server) {
		g := newStage(t, s)
		for _, v := range victims {
			if v.class == "client" {
				continue
			}
			watch := g.pipe.listen(t, v.pattern)
			for _, verb := range []string{"PING", "INFO", "STATS"} {
				for _, subject := range []string{"$SRV." + verb, "$SRV." + verb + ".muxd"} {
					if err := g.user.PublishRequest(subject, v.subject, nil); err != nil {
						t.Fatal(err)
					}
					g.ask(t, subject, "") // answered in turn: the one before was tried
				}
			}
			// A submission crosses with its reply, and it is the mux that refuses
			// to answer there. The server shows it to nobody else.
			if err := g.user.PublishRequest("ds.submit.n1.a", v.subject, []byte("x")); err != nil {
				t.Fatal(err)
			}
			g.user.flush(t)
			g.pipe.flush(t)
			if n, _, _ := watch.Pending(); n != 0 {
				t.Errorf("%d answers arrived on %s", n, v.subject)
			}
			_ = watch.Unsubscribe()
		}
		g.unharmed(t)
	})
}

// doors are the subjects on which users ask for a consumer x.
var doors = []string{
	"$JS.API.CONSUMER.CREATE.DATASTREAM",
	"$JS.API.CONSUMER.CREATE.DATASTREAM.x",
	"$JS.API.CONSUMER.CREATE.DATASTREAM.x.ds.store.>",
	"$JS.API.CONSUMER.DURABLE.CREATE.DATASTREAM.x",
}

// pushTo is a request for a consumer that delivers to the subject and sends a
// heartbeat ten times a second. The key is that of the subject.
func pushTo(key, subject string) string {
	return `{"stream_name":"DATASTREAM","config":{"deliver_subject":"_INBOX.x","` + key + `":"` + subject +
		`","ack_policy":"none","deliver_policy":"all","replay_policy":"instant","idle_heartbeat":100000000}}`
}

// TestHeartbeatsReachInboxesAlone is promise 3 for what consumers send: the
// server delivers to any subject of the pipe, and a consumer's heartbeat there
// is an empty message, so that one to $JS.API.STREAM.DELETE deletes the store
// and one to a key empties it. No user gets such a consumer, however the
// request is spelled and wherever its answer is to go; one under _INBOX. has
// its messages and heartbeats.
func TestHeartbeatsReachInboxesAlone(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server.Server) {
		g := newStage(t, s)
		for _, v := range victims {
			watch := g.pipe.listen(t, v.pattern)
			for _, door := range doors {
				for _, key := range []string{"deliver_subject", "DELIVER_SUBJECT", "deliver_\u0073ubject"} {
					body := pushTo(key, v.subject)
					if m := g.ask(t, door, body); !strings.Contains(string(m.Data), `"code":400`) {
						t.Errorf("%s to %s is answered %s", door, v.subject, m.Data)
					}
					if err := g.user.PublishRequest(door, v.subject, []byte(body)); err != nil {
						t.Fatal(err)
					}
				}
			}
			g.user.flush(t)
			g.pipe.flush(t)
			if n, _, _ := watch.Pending(); n != 0 {
				t.Errorf("%d messages on %s", n, v.pattern)
			}
			_ = watch.Unsubscribe()
		}
		if m := g.ask(t, "$JS.API.CONSUMER.NAMES.DATASTREAM", ""); !strings.Contains(string(m.Data), `"consumers":["pull"]`) {
			t.Errorf("there are consumers: %s", m.Data)
		}
		inbox := g.user.listen(t, "_INBOX.beats")
		g.ask(t, doors[0], pushTo("deliver_subject", inbox.Subject))
		for range stored {
			if m, err := inbox.NextMsg(patience); err != nil || !strings.HasPrefix(m.Subject, "ds.store.") {
				t.Fatalf("delivered: %+v, %v", m, err)
			}
		}
		if m, err := inbox.NextMsg(patience); err != nil || m.Header.Get("Status") != "100" {
			t.Errorf("the heartbeat is %+v, %v", m, err)
		}
		g.unharmed(t)
	})
}

// TestReflectedRequestsAreNone: a stored message that is a request to make a
// consumer, sent to the gate as the answer to a question, has no reply subject
// and makes nothing; nor does it reach JetStream's other subjects.
func TestReflectedRequestsAreNone(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server.Server) {
		g := newStage(t, s)
		kept, err := g.js.Publish(within(t), "ds.store.n1."+life+".b", []byte(`{"stream_name":"DATASTREAM","config":{"name":"x","durable_name":"x"}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range append(doors, "$JS.API.STREAM.CREATE.OTHER", "$JS.API.CONSUMER.CREATE.KV_DATASTREAM.x", "$JS.API.STREAM.DELETE.DATASTREAM") {
			heard := g.user.listen(t, to)
			if err := g.user.PublishRequest("$JS.API.DIRECT.GET.DATASTREAM", to, fmt.Appendf(nil, `{"seq":%d}`, kept.Sequence)); err != nil {
				t.Fatal(err)
			}
			if _, err := heard.NextMsg(patience); err != nil {
				t.Errorf("no answer to %s: %v", to, err)
			}
			_ = heard.Unsubscribe()
		}
		g.ask(t, doors[0], "the gate has had those before")
		if m := g.ask(t, "$JS.API.CONSUMER.NAMES.DATASTREAM", ""); !strings.Contains(string(m.Data), `"consumers":["pull"]`) {
			t.Errorf("there are consumers: %s", m.Data)
		}
		expectMessages(t, g.js, "DATASTREAM", stored+1)
	})
}

// TestWithoutTheGate: while ingestd is down there are no new consumers, and
// who asks for one hears so at once; those that are there go on, and so do
// direct gets.
func TestWithoutTheGate(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server.Server) {
		js := makeStream(t, within(t), s)
		fill(t, js, 1)
		if _, err := js.CreateConsumer(within(t), "DATASTREAM", jetstream.ConsumerConfig{Durable: "old"}); err != nil {
			t.Fatal(err)
		}
		user := dial(t, s, server.Anonymous)
		for _, door := range doors {
			if m, err := user.Request(door, []byte("{}"), patience); !errors.Is(err, nats.ErrNoResponders) {
				t.Errorf("%s: %+v, %v", door, m, err)
			}
		}
		for _, ask := range []struct{ subject, body string }{
			{"$JS.API.CONSUMER.MSG.NEXT.DATASTREAM.old", ""}, {"$JS.API.DIRECT.GET.DATASTREAM", `{"seq":1}`},
		} {
			if m, err := user.Request(ask.subject, []byte(ask.body), patience); err != nil || string(m.Data) != "stored" {
				t.Errorf("%s: %+v, %v", ask.subject, m, err)
			}
		}
	})
}
