package server_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"

	"datastream/stack/server"
	"datastream/subjects"
)

const life = "01JD0000000000000000000000"

// publish sends to a subject and returns the server's refusal, or nil: what
// the server says about a publish comes before the answer to the flush.
func (c client) publish(t *testing.T, subject string) error {
	t.Helper()
	if err := c.Publish(subject, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := c.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
	// Errors are handed over by another goroutine, in order: this one asks
	// for a refusal of its own and so knows when all before it have come.
	if err := c.Publish("$SYS.marker", nil); err != nil {
		t.Fatal(err)
	}
	var refusal error
	for {
		select {
		case err := <-c.denied:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Fatalf("publish to %s: %v", subject, err)
			}
			if strings.Contains(err.Error(), `"$SYS.marker"`) {
				return refusal
			}
			refusal = err
		case <-time.After(patience):
			t.Fatal("the marker was not refused")
		}
	}
}

// TestOnlyOwnersPublish is promise 1, the second column of the table of P2
// (P2.3): who may not publish to a subject does not reach it.
func TestOnlyOwnersPublish(t *testing.T) { eachServer(t, onlyOwnersPublish) }

func onlyOwnersPublish(t *testing.T, s *server.Server) {
	watcher := dial(t, s, server.Operator)
	watch := watcher.listen(t, ">")
	tail := ".n1." + life
	as := map[server.User]client{}
	for _, u := range server.Users() {
		as[u] = dial(t, s, u)
	}
	for _, c := range []struct {
		subject string
		may     []server.User
	}{
		{"ds.submit.n1.a.b", []server.User{server.Anonymous}},
		{"ds.frame" + tail + ".a", []server.User{server.Muxd}},
		{"ds.beat" + tail, []server.User{server.Muxd}},
		{"ds.repair" + tail, []server.User{server.Ingestd}},
		{"ds.settled" + tail, []server.User{server.Ingestd}},
		{"ds.store" + tail + ".a", []server.User{server.Ingestd}},
		{"ds.query", []server.User{server.Anonymous}},
		{"ds.query.alice", []server.User{server.Anonymous}},
		{"ds.client.alice.x", []server.User{server.Queryd, server.Service}},
		{"ds.flow.alice.q.1", []server.User{server.Anonymous}},
		{"$KV.DATASTREAM.head", []server.User{server.Ingestd}},
		{"$KV.DATASTREAM_lease.owner", []server.User{server.Ingestd}},
		{"$KV.DATASTREAM_LEASE.head", nil}, // the checkpoint of the prefix lease
		{"$KV.OTHER.head", nil},
		{"$SRV.INFO.muxd", []server.User{server.Muxd, server.Anonymous}},
		{"$SRV.INFO.queryd", []server.User{server.Anonymous}},
		{"_INBOX.x.y", []server.User{server.Muxd, server.Ingestd, server.Queryd, server.Service}},
		{"_PIPE.x.y", []server.User{server.Muxd}},
		{"$JS.API.STREAM.DELETE.DATASTREAM", nil},
		{"$JS.API.STREAM.PURGE.DATASTREAM", nil},
		{"$JS.API.STREAM.UPDATE.DATASTREAM", []server.User{server.Ingestd}},
		{"$JS.API.STREAM.CREATE.DATASTREAM", []server.User{server.Ingestd}},
		{"$JS.API.STREAM.CREATE.OTHER", nil},
		{"$JS.API.STREAM.MSG.DELETE.DATASTREAM", nil},
		{"$JS.API.STREAM.RESTORE.OTHER", nil},
		{"$JS.API.STREAM.SNAPSHOT.DATASTREAM", nil},
		{"$JS.API.CONSUMER.CREATE.DATASTREAM.c", []server.User{server.Ingestd, server.Queryd, server.Anonymous}},
		{"$JS.API.CONSUMER.CREATE.KV_DATASTREAM.c", []server.User{server.Ingestd, server.Queryd}},
		{"$JS.API.CONSUMER.PAUSE.DATASTREAM.c", nil},
		{"ds.api.CONSUMER.CREATE.DATASTREAM.c", nil},
		{"elsewhere", nil},
	} {
		may := map[server.User]bool{server.Operator: true}
		for _, u := range c.may {
			may[u] = true
		}
		for _, u := range server.Users() {
			refusal := as[u].publish(t, c.subject)
			if may[u] != (refusal == nil) {
				t.Errorf("%s publishing to %s: refusal %v, want allowed %v", u, c.subject, refusal, may[u])
			}
			if !may[u] {
				continue
			}
			if door, ok := strings.CutPrefix(c.subject, "$JS.API.CONSUMER.CREATE.DATASTREAM"); ok && u == server.Anonymous {
				next(t, watch, "ds.api.CONSUMER.CREATE.DATASTREAM"+door) // to the gate
			} else if !strings.HasPrefix(c.subject, "$JS.") {
				next(t, watch, c.subject)
			}
		}
	}
	watcher.flush(t)
	for n, _, _ := watch.Pending(); n > 0; n-- {
		if m, err := watch.NextMsg(patience); err != nil || !strings.HasPrefix(m.Subject, "$JS.") {
			t.Errorf("%+v arrived, which nobody may publish; %v", m, err)
		}
	}
}

// next is the next message of the subscription, JetStream's talk apart, and
// must be on the subject.
func next(t *testing.T, sub *nats.Subscription, subject string) {
	t.Helper()
	for {
		m, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatalf("wait for a message on %s: %v", subject, err)
		}
		if strings.HasPrefix(m.Subject, "$JS.") {
			continue
		}
		if m.Subject != subject {
			t.Fatalf("a message arrived on %s, want %s", m.Subject, subject)
		}
		return
	}
}

// TestNobodyHearsSys: subscribing is open but for the server's own talk, and
// the service connection's subscriptions are those it serves.
func TestNobodyHearsSys(t *testing.T) {
	s := start(t)
	for _, u := range server.Users() {
		c := dial(t, s, u)
		if u == server.Service {
			if _, err := c.SubscribeSync("ds.store.>"); err != nil {
				t.Fatal(err)
			}
		} else if _, err := c.SubscribeSync("$SYS.>"); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-c.denied:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: %v", u, err)
			}
		case <-time.After(patience):
			t.Errorf("%s may subscribe", u)
		}
	}
}

// TestForgedReplyStoresNothing is promise 4: the micro framework answers any
// reply subject, and the server lets no such answer into the store (P2.4).
func TestForgedReplyStoresNothing(t *testing.T) {
	s := start(t)
	ctx := within(t)
	js := makeStream(t, ctx, s)
	srv := dial(t, s, server.Service)
	if _, err := micro.AddService(srv.Conn, micro.Config{Name: "muxd", Version: "1.0.0"}); err != nil {
		t.Fatal(err)
	}
	if err := srv.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
	asker := dial(t, s, server.Anonymous)
	if _, err := asker.Request("$SRV.PING.muxd", nil, patience); err != nil {
		t.Fatalf("an honest ping: %v", err)
	}
	forged := "ds.store.n1." + life + ".x"
	if err := asker.PublishRequest("$SRV.PING.muxd", forged, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-srv.denied:
		if !strings.Contains(err.Error(), forged) {
			t.Errorf("refused %v, want the answer to %s", err, forged)
		}
	case <-time.After(patience):
		t.Error("the answer to the forged reply was not refused")
	}
	expectMessages(t, js, "DATASTREAM", 0)
}

func expectMessages(t *testing.T, js jetstream.JetStream, stream string, want uint64) {
	t.Helper()
	st, err := js.Stream(within(t), stream)
	if err != nil {
		t.Fatal(err)
	}
	if got := st.CachedInfo().State.Msgs; got != want {
		t.Errorf("stream %s holds %d messages, want %d", stream, got, want)
	}
}

// TestEveryoneReads is promise 5: what a plain client's library does to read
// works without credentials, what would change the stream does not.
func TestEveryoneReads(t *testing.T) { eachServer(t, everyoneReads) }

func everyoneReads(t *testing.T, s *server.Server) {
	ctx := within(t)
	openGate(t, s)
	subject := "ds.store.n1." + life + ".a"
	if _, err := makeStream(t, ctx, s).Publish(ctx, subject, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	for _, u := range []server.User{server.Anonymous, server.Queryd} {
		js, err := jetstream.New(dial(t, s, u).Conn, jetstream.WithDefaultTimeout(patience))
		if err != nil {
			t.Fatal(err)
		}
		st, err := js.Stream(ctx, "DATASTREAM")
		if err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		if m, err := st.GetMsg(ctx, 1); err != nil || string(m.Data) != "hello" {
			t.Errorf("%s: get: %v", u, err)
		}
		if m, err := st.GetLastMsgForSubject(ctx, subject); err != nil || m.Sequence != 1 {
			t.Errorf("%s: direct get: %v", u, err)
		}
		oc, err := st.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
		if err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		if m, err := oc.Next(jetstream.FetchMaxWait(patience)); err != nil || string(m.Data()) != "hello" {
			t.Errorf("%s: ordered consumer: %v", u, err)
		}
		dc, err := st.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "d-" + string(u), AckPolicy: jetstream.AckExplicitPolicy})
		if err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		m, err := dc.Next(jetstream.FetchMaxWait(patience))
		if err != nil || m.DoubleAck(ctx) != nil {
			t.Errorf("%s: durable consumer: %v", u, err)
		}
		if err := st.DeleteConsumer(ctx, "d-"+string(u)); err != nil {
			t.Errorf("%s: delete its consumer: %v", u, err)
		}
		var names []string
		for n := range js.StreamNames(ctx).Name() {
			names = append(names, n)
		}
		if len(names) != 1 {
			t.Errorf("%s: lists %v", u, names)
		}
	}
}

// TestPermissionsDeriveFromSpace is promise 8, and that an unknown user may
// nothing.
func TestPermissionsDeriveFromSpace(t *testing.T) {
	space, err := subjects.NewSpace("acme.tele")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range server.Users() {
		p := server.Permissions(u, space, space.StreamName())
		for _, s := range append(p.Publish.Allow, p.Subscribe.Allow...) {
			if strings.HasPrefix(s, "ds.") || strings.HasSuffix(s, ".DATASTREAM") {
				t.Errorf("%s: %s is of another space", u, s)
			}
		}
	}
	if p := server.Permissions("nobody", space, "S"); len(p.Publish.Allow) != 0 || len(p.Publish.Deny) == 0 {
		t.Errorf("an unknown user may publish %+v", p.Publish)
	}
}
