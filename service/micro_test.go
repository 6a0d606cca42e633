package service_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"datastream/service"
)

var microConfig = service.MicroConfig{Name: "muxd", Description: "numbers frames", Metadata: map[string]string{"node": "n1"}}

// TestMicro is promise 5: the service answers `nats micro`, on a connection
// whose user the server lets publish nothing but answers (P2.4). It is
// registered before there is a server.
func TestMicro(t *testing.T) {
	addr := freeAddr(t)
	reg := prometheus.NewRegistry()
	n := service.NATS{URL: addr, User: "muxd", Password: "pw", ServiceUser: "service", ServicePassword: "pw"}
	m, err := service.Micro(t.Context(), n, service.Options{Name: "muxd", Log: zerolog.Nop(), Retry: true, Metrics: service.NewConnMetrics(reg)}, microConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Conn.Close)
	start(t, t.TempDir(), addr)
	if err := m.Conn.WaitConnected(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := m.Conn.FlushWithContext(within(t)); err != nil {
		t.Fatal(err)
	}
	asker, err := nats.Connect(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(asker.Close)
	reply, err := asker.Request("$SRV.INFO.muxd", nil, patience)
	if err != nil {
		t.Fatal(err)
	}
	var info micro.Info
	if err := json.Unmarshal(reply.Data, &info); err != nil {
		t.Fatal(err)
	}
	if info.Name != "muxd" || info.Version != service.Version || info.Description != "numbers frames" || info.Metadata["node"] != "n1" {
		t.Errorf("info is %+v", info)
	}
	for _, verb := range []string{"PING", "STATS"} {
		if _, err := asker.Request("$SRV."+verb, nil, patience); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
	tap, err := asker.SubscribeSync("ds.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := asker.PublishRequest("$SRV.PING.muxd", "ds.frame.n1.x", nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the forged answer to be refused", func() bool {
		return metric(t, reg, "ds_nats_denied_total", "muxd-srv", "publish") == 1
	})
	if err := m.Stop(within(t)); err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := asker.Request("$SRV.PING.muxd", nil, patience); err != nats.ErrNoResponders {
		t.Errorf("a ping after the stop: %v", err)
	}
	if n, _, _ := tap.Pending(); n != 0 {
		t.Errorf("%d forged answers arrived", n)
	}
}

// TestMicroWithoutIdentity: it says so when it has to use the daemon's.
func TestMicroWithoutIdentity(t *testing.T) {
	s := start(t, t.TempDir(), "127.0.0.1:0")
	for _, c := range []struct {
		n    service.NATS
		says bool
	}{
		{service.NATS{URL: s.URL(), User: "muxd", Password: "pw"}, true},
		{service.NATS{URL: s.URL(), User: "muxd", Password: "pw", ServiceUser: "service", ServicePassword: "pw"}, false},
		{service.NATS{URL: s.URL()}, false},
	} {
		var log record
		m, err := service.Micro(t.Context(), c.n, service.Options{Name: "muxd", Log: zerolog.New(&log)}, microConfig)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Stop(within(t)); err != nil {
			t.Error(err)
		}
		if got := strings.Contains(log.String(), "DS_SERVICE_USER"); got != c.says {
			t.Errorf("user %q, service user %q: warned %v", c.n.User, c.n.ServiceUser, got)
		}
	}
	if _, err := service.Micro(t.Context(), service.NATS{URL: s.URL()}, service.Options{Name: "x"}, service.MicroConfig{Name: "no good"}); err == nil {
		t.Error("a bad name is registered")
	}
}
