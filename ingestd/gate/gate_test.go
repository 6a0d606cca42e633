package gate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"datastream/ingestd/gate"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/test/harness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	stream  = "DATASTREAM"
	subject = "ds.store.n1.01JD0000000000000000000000.a"
	named   = "$JS.API.CONSUMER.CREATE." + stream + ".c"
)

// A scene is a server with a stream and a gate.
type scene struct {
	server  *server.Server
	metrics *prometheus.Registry
	ingestd *nats.Conn
	gate    *gate.Gate
	js      jetstream.JetStream // ingestd's
	user    *nats.Conn
}

func open(t *testing.T) *scene {
	t.Helper()
	srv, err := server.Start(server.Options{Dir: t.TempDir(), Space: subjects.Default(), InProc: true, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	s := &scene{server: srv, metrics: prometheus.NewRegistry()}
	s.ingestd, s.user = s.dial(t, server.Ingestd), s.dial(t, server.Anonymous)
	if s.gate, err = gate.Start(s.ingestd, gate.Config{Space: subjects.Default()}, s.metrics); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.gate.Close)
	if s.js, err = jetstream.New(s.ingestd); err != nil {
		t.Fatal(err)
	}
	if _, err := s.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: stream, Subjects: []string{"ds.store.>"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.js.Publish(t.Context(), subject, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) dial(t *testing.T, u server.User) *nats.Conn {
	t.Helper()
	opts := []nats.Option{nats.InProcessServer(s.server)}
	if u != server.Anonymous {
		opts = append(opts, nats.UserInfo(s.server.Credentials(u)), nats.CustomInboxPrefix(server.InboxPrefix))
	}
	nc, err := nats.Connect("", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// ask is a request of the user's, and the error in its answer.
func (s *scene) ask(t *testing.T, subject, body string) *jetstream.APIError {
	t.Helper()
	m, err := s.user.Request(subject, []byte(body), harness.Patience)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	var answer struct{ Error *jetstream.APIError }
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		t.Fatalf("%s: %s: %v", subject, m.Data, err)
	}
	return answer.Error
}

// consumers are the names of the stream's.
func (s *scene) consumers(t *testing.T) (names []string) {
	t.Helper()
	st, err := s.js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	l := st.ConsumerNames(t.Context())
	for n := range l.Name() {
		names = append(names, n)
	}
	if l.Err() != nil {
		t.Fatal(l.Err())
	}
	return names
}

// count is a metric's value; the reason is "" where there is none.
func (s *scene) count(t *testing.T, name, reason string) float64 {
	t.Helper()
	all, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (reason == "" || m.GetLabel()[0].GetValue() == reason) {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// TestClientsAreServed: what the libraries of users do to read works through
// each door: ordered, named and durable consumers, pulled and pushed; a filter
// in the subject with its wildcards; and JetStream's own refusal as it came
// (promises 1 and 5). There is no ingest beside the gate (promise 7).
func TestClientsAreServed(t *testing.T) {
	s := open(t)
	js, err := jetstream.New(s.user)
	if err != nil {
		t.Fatal(err)
	}
	for i, filter := range []string{"ds.store.>", "ds.store.*.*.a", subject} {
		oc, err := js.OrderedConsumer(t.Context(), stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := oc.Next(jetstream.FetchMaxWait(harness.Patience)); err != nil || string(m.Data()) != "hello" {
			t.Errorf("an ordered consumer: %v", err)
		}
		c, err := js.CreateOrUpdateConsumer(t.Context(), stream, jetstream.ConsumerConfig{Name: fmt.Sprint("named", i), FilterSubject: filter})
		if err != nil {
			t.Fatal(err)
		}
		if c.CachedInfo().Config.FilterSubject != filter {
			t.Errorf("the filter %q is %q", filter, c.CachedInfo().Config.FilterSubject)
		}
		if m, err := c.Next(jetstream.FetchMaxWait(harness.Patience)); err != nil || m.Ack() != nil {
			t.Errorf("a named consumer: %v", err)
		}
	}
	inbox, err := s.user.SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	old := `{"stream_name":"DATASTREAM","config":{"deliver_subject":"` + inbox.Subject + `","durable_name":"%s","ack_policy":"none","deliver_policy":"all","replay_policy":"instant"}}`
	if e := s.ask(t, "$JS.API.CONSUMER.DURABLE.CREATE.DATASTREAM.d", fmt.Sprintf(old, "d")); e != nil {
		t.Errorf("a durable consumer: %v", e)
	}
	if e := s.ask(t, "$JS.API.CONSUMER.CREATE.DATASTREAM", fmt.Sprintf(old, "")); e != nil {
		t.Errorf("an ephemeral consumer: %v", e)
	}
	for range 2 {
		if m, err := inbox.NextMsg(harness.Patience); err != nil || string(m.Data) != "hello" {
			t.Errorf("a push consumer delivers %v, %v", m, err)
		}
	}
	if e := s.ask(t, "$JS.API.CONSUMER.DURABLE.CREATE.DATASTREAM.e", fmt.Sprintf(old, "f")); e == nil || e.Code != 400 {
		t.Errorf("two names for one consumer: %v", e)
	}
	if n := s.count(t, "ds_gate_refused_total", ""); n != 0 {
		t.Errorf("%v requests are counted as refused", n)
	}
	if n := s.count(t, "ds_gate_requests_total", ""); n < 9 {
		t.Errorf("%v requests are counted", n)
	}
}

// TestRefusalsAreAnswered: through each door a bad request is answered, makes
// nothing, and is counted by its reason (promises 1, 2, 5 and 6).
func TestRefusalsAreAnswered(t *testing.T) {
	s := open(t)
	for i, door := range []string{"$JS.API.CONSUMER.CREATE.DATASTREAM", named, named + ".ds.store.>", "$JS.API.CONSUMER.DURABLE.CREATE.DATASTREAM.c"} {
		for reason, body := range map[string]string{
			"form":    "not JSON",
			"stream":  `{"stream_name":"KV_DATASTREAM","config":{"name":"c"}}`,
			"deliver": `{"stream_name":"DATASTREAM","config":{"name":"c","deliver_subject":"$JS.API.STREAM.DELETE.DATASTREAM","idle_heartbeat":100000000}}`,
			"idle":    `{"stream_name":"DATASTREAM","config":{"name":"c","inactive_threshold":86400000000000}}`,
			"size":    strings.Repeat(" ", 70_000) + "{}",
		} {
			if e := s.ask(t, door, body); e == nil || e.Code != 400 || e.ErrorCode == 0 || e.Description == "" {
				t.Errorf("%s: %s: answered %v", door, reason, e)
			}
			if n := s.count(t, "ds_gate_refused_total", reason); n != float64(i+1) {
				t.Errorf("%s: %v refusals are counted, want %d", reason, n, i+1)
			}
		}
	}
	if names := s.consumers(t); len(names) != 0 {
		t.Errorf("there are consumers: %v", names)
	}
}

// TestAnswersGoToInboxesAlone is promise 4: a request with another reply
// subject makes nothing and is answered nowhere (P2.4).
func TestAnswersGoToInboxesAlone(t *testing.T) {
	s := open(t)
	all, err := s.dial(t, server.Operator).SubscribeSync("ds.>")
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"stream_name":"DATASTREAM","config":{"name":"c"}}`)
	if err := s.user.Publish(named, body); err != nil {
		t.Fatal(err)
	}
	replies := []string{subject, "ds.settled.n1.x", "$JS.API.STREAM.DELETE.DATASTREAM", "_PIPE.x", "_INBOX"}
	for _, reply := range replies {
		if err := s.user.PublishRequest(named, reply, body); err != nil {
			t.Fatal(err)
		}
	}
	harness.Until(t, "all are refused", func() bool {
		return s.count(t, "ds_gate_refused_total", "reply") == float64(1+len(replies))
	})
	if names := s.consumers(t); len(names) != 0 {
		t.Errorf("there are consumers: %v", names)
	}
	if err := s.ingestd.Flush(); err != nil {
		t.Fatal(err)
	}
	for n, _, _ := all.Pending(); n > 0; n-- {
		if m, err := all.NextMsg(harness.Patience); err != nil || !strings.HasPrefix(m.Subject, "ds.api.") {
			t.Errorf("%s: %s, %v", m.Subject, m.Data, err)
		}
	}
}

// TestBusyAndClosed is promise 6: while JetStream is silent, 64 requests are
// under way and one more is told to come again; and Close ends what is under
// way with an answer.
func TestBusyAndClosed(t *testing.T) {
	nc := silence(t)
	metrics := prometheus.NewRegistry()
	g, err := gate.Start(nc, gate.Config{Space: subjects.Default()}, metrics)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	door, body := "ds.api.CONSUMER.CREATE.DATASTREAM.c", []byte(`{"stream_name":"DATASTREAM","config":{"name":"c"}}`)
	answers, err := nc.SubscribeSync("_INBOX.answers")
	if err != nil {
		t.Fatal(err)
	}
	for range 80 {
		if err := nc.PublishRequest(door, answers.Subject, body); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(n int, says string) {
		t.Helper()
		for range n {
			m, err := answers.NextMsg(harness.Patience)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(m.Data), `"code":503`) || !strings.Contains(string(m.Data), says) {
				t.Errorf("answered %s", m.Data)
			}
		}
	}
	expect(16, "too many")
	g.Close()
	g.Close()
	expect(64, "does not answer")
	if _, err := nc.Request(door, body, harness.Patience); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a gate that is closed: %v", err)
	}
}

// silence is a connection to a server where JetStream takes requests and
// answers none.
func silence(t *testing.T) *nats.Conn {
	t.Helper()
	srv, err := natsd.NewServer(&natsd.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	nc, err := nats.Connect("", nats.InProcessServer(srv))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if _, err := nc.SubscribeSync("$JS.API.>"); err != nil {
		t.Fatal(err)
	}
	return nc
}

// TestStartNeedsAConnection: a connection that is closed is an error.
func TestStartNeedsAConnection(t *testing.T) {
	s := open(t)
	s.ingestd.Close()
	if _, err := gate.Start(s.ingestd, gate.Config{Space: subjects.Default()}, prometheus.NewRegistry()); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("it opens: %v", err)
	}
}
