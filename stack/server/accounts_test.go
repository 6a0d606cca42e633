package server_test

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
	"github.com/rs/zerolog"

	"datastream/stack/server"
	"datastream/subjects"
)

// eachServer runs a test on the embedded server and on one that is set up by
// deploy/nats-server.conf: they are one (promise 8).
func eachServer(t *testing.T, test func(*testing.T, *server.Server)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { test(t, start(t)) })
	t.Run("file", func(t *testing.T) { test(t, server.StartFile(t)) })
}

func (c client) flush(t *testing.T) {
	t.Helper()
	if err := c.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
}

// listen subscribes and returns when the server knows.
func (c client) listen(t *testing.T, subject string) *nats.Subscription {
	t.Helper()
	sub, err := c.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		t.Fatal(err)
	}
	c.flush(t)
	return sub
}

// TestWhatCrosses is promise 2: a message reaches the other account on the
// subjects that are shared and on no other, and keeps its reply subject.
func TestWhatCrosses(t *testing.T) { eachServer(t, whatCrosses) }

func whatCrosses(t *testing.T, s *server.Server) {
	pipe, users := dial(t, s, server.Operator), dial(t, s, server.Anonymous)
	st := ".n1." + life
	for _, c := range []struct {
		by              server.User
		subject         string
		inPipe, inUsers bool
	}{
		{server.Anonymous, "ds.submit.n1.a.b", true, true},
		{server.Anonymous, "ds.query", true, true},
		{server.Anonymous, "ds.query.alice", true, true},
		{server.Anonymous, "ds.flow.alice.q.1", true, true},
		{server.Anonymous, "$SRV.INFO.muxd", true, true},
		{server.Muxd, "ds.frame" + st + ".a", true, true},
		{server.Muxd, "ds.beat" + st, true, true},
		{server.Ingestd, "ds.settled" + st, true, true},
		{server.Ingestd, "ds.repair" + st, true, false},
		{server.Ingestd, "ds.store" + st + ".a", true, true},
		{server.Queryd, "ds.client.alice.x", true, true},
		{server.Muxd, "_INBOX.x", true, true},
		{server.Service, "_INBOX.x.y", true, true},
		{server.Ingestd, "_INBOX.x", true, true},
		{server.Muxd, "_PIPE.x", true, false},
		{server.Operator, "ds.api.CONSUMER.CREATE.DATASTREAM.c", true, false},
		{server.Ingestd, "$KV.DATASTREAM.head", true, false},
		{server.Muxd, "$SRV.INFO.muxd", true, false},
		{server.Operator, "ds.submit.n1.a", true, false},
		{server.Operator, "ds.query", true, false},
		{server.Operator, "elsewhere", true, false},
	} {
		as := dial(t, s, c.by)
		in, out := pipe.listen(t, c.subject), users.listen(t, c.subject)
		if err := as.PublishRequest(c.subject, "_INBOX.reply", []byte("x")); err != nil {
			t.Fatal(err)
		}
		// The server has handed a message to everybody when it answers.
		as.flush(t)
		for where, x := range map[string]struct {
			sub  *nats.Subscription
			nc   client
			want bool
		}{"PIPE": {in, pipe, c.inPipe}, "USERS": {out, users, c.inUsers}} {
			x.nc.flush(t)
			n, _, _ := x.sub.Pending()
			if (n == 1) != x.want || n > 1 {
				t.Errorf("%s published %s: it arrived %d times in %s", c.by, c.subject, n, where)
			} else if n == 1 {
				if m, err := x.sub.NextMsg(patience); err != nil || m.Subject != c.subject || m.Reply != "_INBOX.reply" {
					t.Errorf("%s published %s: %+v arrived in %s, %v", c.by, c.subject, m, where, err)
				}
			}
			_ = x.sub.Unsubscribe()
		}
		as.Close()
	}
}

// TestUsersAreServed: everything that a plain client does works across the
// accounts; reading is in TestEveryoneReads.
func TestUsersAreServed(t *testing.T) { eachServer(t, usersAreServed) }

func usersAreServed(t *testing.T, s *server.Server) {
	user := dial(t, s, server.Anonymous)
	if _, err := user.Request("ds.submit.n1.a", nil, patience); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a submission that nobody takes: %v", err)
	}
	muxd := dial(t, s, server.Muxd, nats.CustomInboxPrefix(server.InboxPrefix))
	if _, err := muxd.Subscribe("ds.submit.>", func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		t.Fatal(err)
	}
	muxd.flush(t)
	if m, err := user.Request("ds.submit.n1.a", []byte("taken"), patience); err != nil || string(m.Data) != "taken" {
		t.Errorf("a submission: %v", err)
	}
	for _, name := range []string{"muxd", "ingestd"} { // two, to be found by one question
		srv := dial(t, s, server.Service, nats.CustomInboxPrefix(server.InboxPrefix))
		if _, err := micro.AddService(srv.Conn, micro.Config{Name: name, Version: "1.0.0"}); err != nil {
			t.Fatal(err)
		}
		srv.flush(t)
	}
	for _, asker := range []client{user, dial(t, s, server.Operator)} {
		answers := asker.listen(t, nats.NewInbox())
		for _, verb := range []string{"PING", "INFO", "STATS"} {
			if err := asker.PublishRequest("$SRV."+verb, answers.Subject, nil); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := answers.NextMsg(patience); err != nil {
					t.Errorf("$SRV.%s: %v", verb, err)
				}
			}
		}
	}
	// A repair request of one daemon to the other, answered in its own inbox.
	if _, err := muxd.Subscribe("ds.repair.>", func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		t.Fatal(err)
	}
	muxd.flush(t)
	ingestd := dial(t, s, server.Ingestd, nats.CustomInboxPrefix(server.InboxPrefix))
	if m, err := ingestd.Request("ds.repair.n1."+life, []byte("again"), patience); err != nil || string(m.Data) != "again" {
		t.Errorf("a repair request: %v", err)
	}
}

// TestOrderedPushReads: the ordered push consumer of older clients, whose
// flow control and heartbeats cross, too.
func TestOrderedPushReads(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server.Server) {
		const n = 300
		fill(t, makeStream(t, within(t), s), n)
		openGate(t, s)
		js, err := dial(t, s, server.Anonymous).JetStream()
		if err != nil {
			t.Fatal(err)
		}
		sub, err := js.SubscribeSync("ds.store.>", nats.OrderedConsumer(), nats.BindStream("DATASTREAM"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if _, err := sub.NextMsg(patience); err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
		}
	})
}

// fill stores n messages.
func fill(t *testing.T, js jetstream.JetStream, n int) {
	t.Helper()
	for range n {
		if _, err := js.PublishAsync("ds.store.n1."+life+".a", []byte("stored")); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-within(t).Done():
		t.Fatal("the store does not fill")
	}
}

// TestAccountsDeriveFromSpace is promise 8: what crosses has the space's
// prefix, and another space's subjects do not.
func TestAccountsDeriveFromSpace(t *testing.T) {
	space, err := subjects.NewSpace("acme.tele")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Space: space, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	pipe, users := dial(t, s, server.Operator), dial(t, s, server.Anonymous)
	in, out := pipe.listen(t, "acme.tele.submit.>"), users.listen(t, ">")
	for _, subject := range []string{"ds.frame.n1." + life + ".a", "acme.tele.frame.n1." + life + ".a"} {
		if err := pipe.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	pipe.flush(t)
	if m, err := out.NextMsg(patience); err != nil || m.Subject != "acme.tele.frame.n1."+life+".a" {
		t.Errorf("users hear %+v, %v", m, err)
	}
	if err := users.Publish("acme.tele.submit.n1.a", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := in.NextMsg(patience); err != nil {
		t.Errorf("a submission: %v", err)
	}
	door := pipe.listen(t, "acme.tele.api.>")
	if err := users.Publish("$JS.API.CONSUMER.CREATE."+space.StreamName()+".c.acme.tele.store.>", nil); err != nil {
		t.Fatal(err)
	}
	if m, err := door.NextMsg(patience); err != nil || m.Subject != "acme.tele.api.CONSUMER.CREATE."+space.StreamName()+".c.acme.tele.store.>" {
		t.Errorf("a request for a consumer: %+v, %v", m, err)
	}
}
