package server_test

import (
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
				{"$JS.API.CONSUMER.CREATE.DATASTREAM", `not JSON`},
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

// TestPushedMessagesBearTheirOwnSubject: a reader's push consumer delivers to
// any subject in the pipe, but for the stream's own. What it delivers keeps
// the subject that it was stored on, by which handlers tell it (P2.4).
func TestPushedMessagesBearTheirOwnSubject(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server.Server) {
		g := newStage(t, s)
		for i, v := range victims {
			watch := g.pipe.listen(t, v.subject)
			name := fmt.Sprint("push", i)
			answer := g.ask(t, "$JS.API.CONSUMER.CREATE.DATASTREAM."+name, `{"stream_name":"DATASTREAM","config":{"name":"`+name+
				`","deliver_subject":"`+v.subject+`","ack_policy":"none","deliver_policy":"last","replay_policy":"instant"}}`)
			if refused := strings.Contains(string(answer.Data), "forms a cycle"); refused != (v.class == "store") {
				t.Errorf("a push consumer to %s: %s", v.subject, answer.Data)
			} else if !refused {
				if m, err := watch.NextMsg(patience); err != nil || !strings.HasPrefix(m.Subject, "ds.store.") {
					t.Errorf("delivered to %s: %+v, %v", v.subject, m, err)
				}
			}
			g.ask(t, "$JS.API.CONSUMER.DELETE.DATASTREAM."+name, "")
			_ = watch.Unsubscribe()
		}
		expectMessages(t, g.js, "DATASTREAM", stored)
		kv, err := g.js.KeyValue(within(t), "DATASTREAM")
		if err != nil {
			t.Fatal(err)
		}
		if e, err := kv.Get(within(t), "head"); err != nil || string(e.Value()) != "good" {
			t.Errorf("the key is %v, %v", e, err)
		}
	})
}

// TestHeartbeatsBearTheSubjectTheyAreSentTo is the limit that the package
// comment tells of: the server sends a push consumer's heartbeats as messages
// of the pipe, without a body. It is here so that a server that no longer does
// is noticed, and the comment with it.
func TestHeartbeatsBearTheSubjectTheyAreSentTo(t *testing.T) {
	g := newStage(t, start(t))
	watch := g.pipe.listen(t, "ds.settled.n1."+life)
	g.ask(t, "$JS.API.CONSUMER.CREATE.DATASTREAM.beat", `{"stream_name":"DATASTREAM","config":{"name":"beat","deliver_subject":"`+
		watch.Subject+`","ack_policy":"none","deliver_policy":"new","replay_policy":"instant","idle_heartbeat":100000000}}`)
	m, err := watch.NextMsg(patience)
	if err != nil || m.Subject != watch.Subject || len(m.Data) != 0 || m.Header.Get("Status") != "100" {
		t.Errorf("the heartbeat is %+v, %v", m, err)
	}
	g.unharmed(t)
}
