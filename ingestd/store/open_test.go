package store

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"datastream/subjects"
)

func streamInfo(t *testing.T, nc *nats.Conn, name string) *jetstream.StreamInfo {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo()
}

// A store that is not there is only made by a person's word (P8.4).
func TestOnlyInitMakesTheStream(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	_, err := Open(t.Context(), nc, Config{})
	wantError(t, err, ErrNoStream, "DATASTREAM", "--init")
	_, _, err = Scan(t.Context(), nc, Config{}, 0, true, nil)
	wantError(t, err, ErrNoStream)
	openWriter(t, nc, Config{Init: true})
	openWriter(t, nc, Config{Init: true}) // it is there: found, not made
	openWriter(t, nc, Config{})
	c := streamInfo(t, nc, "DATASTREAM").Config
	if c.MaxAge != 7*24*time.Hour || c.MaxBytes > 10_000_000_000 || c.MaxBytes < leastMaxBytes || c.Replicas != 1 {
		t.Errorf("the stream has the limits %v, %d, %d", c.MaxAge, c.MaxBytes, c.Replicas)
	}
	if (Config{}).withDefaults().drift(c) != nil {
		t.Error("the stream that Init makes drifts")
	}
	space, err := subjects.NewSpace("a.b")
	if err != nil {
		t.Fatal(err)
	}
	w := openWriter(t, nc, Config{Space: space, Init: true, MaxAge: time.Hour, MaxBytes: 1 << 28, Replicas: 1})
	if err := w.Commit(t.Context(), 1, singles(0, 2)); err != nil {
		t.Fatal(err)
	}
	c = streamInfo(t, nc, "DATASTREAM_A_B").Config
	if c.MaxAge != time.Hour || c.MaxBytes != 1<<28 || c.Subjects[0] != "a.b.store.>" {
		t.Errorf("got %v, %d, %v", c.MaxAge, c.MaxBytes, c.Subjects)
	}
}

// Every field that breaks a promise is named; what the operator may choose is
// not looked at.
func TestDriftIsNamed(t *testing.T) {
	good := Config{}.withDefaults().stream(1 << 30)
	good.MaxAge, good.MaxBytes, good.Replicas, good.Compression = time.Hour, -1, 3, jetstream.S2Compression
	if err := (Config{}).withDefaults().drift(good); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*jetstream.StreamConfig){
		"subjects":             func(c *jetstream.StreamConfig) { c.Subjects = []string{"ds.>"} },
		"retention":            func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
		"discard":              func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardNew },
		"storage":              func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"allow_atomic":         func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = false },
		"deny_delete":          func(c *jetstream.StreamConfig) { c.DenyDelete = false },
		"deny_purge":           func(c *jetstream.StreamConfig) { c.DenyPurge = false },
		"persist_mode":         func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode },
		"no_ack":               func(c *jetstream.StreamConfig) { c.NoAck = true },
		"sealed":               func(c *jetstream.StreamConfig) { c.Sealed = true },
		"allow_rollup_hdrs":    func(c *jetstream.StreamConfig) { c.AllowRollup = true },
		"allow_msg_ttl":        func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true },
		"allow_msg_counter":    func(c *jetstream.StreamConfig) { c.AllowMsgCounter = true },
		"allow_msg_schedules":  func(c *jetstream.StreamConfig) { c.AllowMsgSchedules = true },
		"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 },
		"max_msg_size":         func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1000 },
		"mirror":               func(c *jetstream.StreamConfig) { c.Mirror = &jetstream.StreamSource{Name: "X"} },
		"sources":              func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "X"}} },
		"subject_transform":    func(c *jetstream.StreamConfig) { c.SubjectTransform = &jetstream.SubjectTransformConfig{} },
	} {
		bad := good
		change(&bad)
		wantError(t, Config{}.withDefaults().drift(bad), ErrConfig, field+" is", "DATASTREAM")
	}
}

// Open refuses a real stream that drifts, and names all of it at once.
func TestOpenRefusesDrift(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "DATASTREAM", Subjects: []string{"ds.store.>"}}); err != nil {
		t.Fatal(err)
	}
	for _, init := range []bool{false, true} {
		_, err = Open(t.Context(), nc, Config{Init: init})
		wantError(t, err, ErrConfig, "allow_atomic", "deny_delete", "deny_purge")
	}
	_, err = Open(t.Context(), nc, Config{BatchBytes: -1})
	wantError(t, err, ErrConfig, "BatchBytes")
}

// A stream that is changed for the worse is refused by the next Resync.
func TestResyncSeesDrift(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	worse := streamInfo(t, nc, "DATASTREAM").Config
	worse.AllowAtomicPublish = false
	if _, err := js.UpdateStream(t.Context(), worse); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.Commit(t.Context(), 1, singles(0, 2)), ErrConfig, "allow_atomic")
	wantError(t, w.Resync(t.Context(), nil), ErrConfig, "allow_atomic")
}

// The size follows the account's limit, and what the server will reserve.
func TestDefaultSize(t *testing.T) {
	for _, c := range []struct {
		used        uint64
		limit, want int64
	}{
		{0, -1, 10_000_000_000}, {0, 0, 10_000_000_000}, {0, 1 << 50, 10_000_000_000},
		{1 << 30, 3 << 30, 1 << 30}, {3 << 30, 3 << 30, leastMaxBytes}, {4 << 30, 3 << 30, leastMaxBytes},
	} {
		acc := &jetstream.AccountInfo{Tier: jetstream.Tier{Store: c.used, Limits: jetstream.AccountLimits{MaxStore: c.limit}}}
		if got := defaultMaxBytes(acc); got != c.want {
			t.Errorf("%d of %d used: %d, want %d", c.used, c.limit, got, c.want)
		}
	}
	nc := connect(t, newHost(t, func(o *server) { o.JetStreamMaxStore = 100_000_000 }).url())
	_, err := Open(t.Context(), nc, Config{Init: true, MaxBytes: 200_000_000})
	wantError(t, err, ErrFull, "200000000")
	openWriter(t, nc, Config{Init: true})
	if got := streamInfo(t, nc, "DATASTREAM").Config.MaxBytes; got > 100_000_000 || got < 50_000_000 {
		t.Errorf("the stream is made of %d bytes, the server has 100 MB", got)
	}
}

// A server that allows smaller batches is asked at Open; one that was
// configured so later refuses once.
func TestServersOwnBatchLimit(t *testing.T) {
	h := newHost(t, func(o *server) { o.JetStreamLimits.MaxBatchSize = 100 })
	nc := connect(t, h.url())
	w := openWriter(t, nc, Config{Init: true, BatchMessages: 4000})
	if n := w.Take(singles(0, 500)); n != 100 {
		t.Fatalf("Take says %d, the server's limit is 100", n)
	}
	if err := w.Commit(t.Context(), 1, singles(0, 100)); err != nil {
		t.Fatal(err)
	}
	h.stop()
	h.opts.JetStreamLimits.MaxBatchSize = 40
	h.start()
	eventually(t, "the connection is back", nc.IsConnected)
	wantError(t, w.Commit(t.Context(), 2, singles(100, 100)), ErrFull)
	if got := resync(t, w); len(got) != 0 {
		t.Fatalf("resync reports %v", got)
	}
	if n := w.Take(singles(100, 100)); n != 40 {
		t.Fatalf("Take says %d, the server's limit is 40 now", n)
	}
	if err := w.Commit(t.Context(), 2, singles(100, 40)); err != nil {
		t.Fatal(err)
	}
	all, foreign := contents(t, nc, Config{}, true)
	wantPositions(t, all, 140)
	if foreign != 0 {
		t.Fatalf("asking for the limit has stored %d messages", foreign)
	}
	larger := newHost(t, func(o *server) { o.JetStreamLimits.MaxBatchSize = 3000 })
	w = openWriter(t, connect(t, larger.url()), Config{Init: true, BatchMessages: 2500})
	if err := w.Commit(t.Context(), 1, singles(0, 2500)); err != nil {
		t.Fatal(err)
	}
}

// A stream that is gone, another one, or shorter than what was committed
// ends the Writer (P8.4).
func TestStreamGoneOrAnother(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	if err := w.Commit(t.Context(), 1, singles(0, 3)); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), "DATASTREAM"); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.Commit(t.Context(), 1, singles(3, 3)), ErrNoStream)
	wantError(t, w.Resync(t.Context(), nil), ErrNoStream)
	other := openWriter(t, nc, Config{Init: true})
	wantError(t, w.Resync(t.Context(), nil), ErrRecreated)
	if err := other.Commit(t.Context(), 1, singles(0, 3)); err != nil {
		t.Fatal(err)
	}
	other.last.Store(5) // as if two commits were lost with the disk's cache
	wantError(t, other.Resync(t.Context(), nil), ErrRecreated, "ends at 3")
}

// A deleted stream is told from a server that is not ready.
func TestStoppedServerIsUnclear(t *testing.T) {
	h := newHost(t, nil)
	nc := connect(t, h.url())
	w := openWriter(t, nc, quickly())
	if err := w.Commit(t.Context(), 1, singles(0, 3)); err != nil {
		t.Fatal(err)
	}
	h.stop()
	wantError(t, w.Commit(t.Context(), 1, singles(3, 3)), ErrUnclear)
	if err := w.Resync(t.Context(), nil); err == nil {
		t.Fatal("resync succeeds without a server")
	}
	h.start()
	if got := resync(t, w); len(got) != 0 {
		t.Fatalf("resync reports %v", got)
	}
	if err := w.Commit(t.Context(), 1, singles(3, 3)); err != nil {
		t.Fatal(err)
	}
	all, _ := contents(t, nc, Config{}, false)
	wantPositions(t, all, 6)
}

// Nothing stays behind: no subscription, no consumer.
func TestCloseLeavesNothing(t *testing.T) {
	nc := connect(t, newHost(t, nil).url())
	w := openWriter(t, nc, Config{Init: true})
	if err := w.Commit(t.Context(), 1, singles(0, 3)); err != nil {
		t.Fatal(err)
	}
	contents(t, nc, Config{}, true)
	resync(t, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.Commit(t.Context(), 1, singles(3, 1)), ErrResync)
	eventually(t, "no consumer is left", func() bool { return streamInfo(t, nc, "DATASTREAM").State.Consumers == 0 })
	if n := nc.NumSubscriptions(); n > 1 { // the client's own for requests
		t.Fatalf("%d subscriptions are left", n)
	}
}

// The answers of a server are classed by their codes.
func TestReadAck(t *testing.T) {
	for body, want := range map[string]error{
		``:     ErrUnclear,
		`{`:    ErrUnclear,
		`"no"`: ErrUnclear,
		`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"}}`:               ErrFence,
		`{"error":{"code":400,"err_code":10164,"description":"wrong last sequence"}}`:                  ErrFence,
		`{"error":{"code":404,"err_code":10059,"description":"stream not found"}}`:                     ErrNoStream,
		`{"error":{"code":503,"err_code":10023,"description":"insufficient resources"}}`:               ErrFull,
		`{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}}`:               ErrFull,
		`{"error":{"code":500,"err_code":10047,"description":"insufficient storage"}}`:                 ErrFull,
		`{"error":{"code":429,"err_code":10167,"description":"too many requests"}}`:                    ErrFull,
		`{"error":{"code":400,"err_code":10199,"description":"atomic publish batch is too large: 7"}}`: ErrFull,
		`{"error":{"code":400,"err_code":10176,"description":"atomic publish batch is incomplete"}}`:   ErrUnclear,
		`{"error":{"code":400,"err_code":10174,"description":"atomic publish is disabled"}}`:           ErrConfig,
	} {
		_, err := readAck(&nats.Msg{Data: []byte(body)})
		wantError(t, err, want)
		if limit := batchLimit(err); (limit == 7) != strings.Contains(body, "10199") {
			t.Errorf("%s: limit %d", body, limit)
		}
	}
	if _, err := readAck(&nats.Msg{Data: []byte(`{"stream":"S","seq":3,"domain":"x"}`)}); err != nil {
		t.Errorf("an extra field: %v", err)
	}
}
