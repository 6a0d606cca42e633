package service_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"datastream/service"
)

// TestReadyNamesFailingChecks is promise 6 for checks.
func TestReadyNamesFailingChecks(t *testing.T) {
	var h service.Health
	if f := h.Failing(); len(f) != 0 {
		t.Errorf("without checks: %q", f)
	}
	h.Set("store", errors.New("gone\nfor good"))
	h.Set("nats", nil)
	h.Set("lease", errors.New("held by another"))
	h.Set("blank", errors.New(""))
	want := []string{"blank: failed", "lease: held by another", "store: gone; for good"}
	if f := h.Failing(); !slices.Equal(f, want) {
		t.Errorf("failing %q, want %q", f, want)
	}
	h.Set("store", nil)
	h.Remove("lease")
	h.Remove("blank")
	if f := h.Failing(); len(f) != 0 {
		t.Errorf("all passed: %q", f)
	}
}

// TestWedgedLoops is promise 6 for loops: alive as long as it beats.
func TestWedgedLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h service.Health
		p := h.Pulse("drain", time.Second)
		for range 3 {
			time.Sleep(900 * time.Millisecond)
			if w := h.Wedged(); len(w) != 0 {
				t.Fatalf("a loop that beats: %q", w)
			}
			p.Beat()
		}
		time.Sleep(2 * time.Second)
		if w := h.Wedged(); !slices.Equal(w, []string{"drain: no sign of life for 2s"}) || !slices.Equal(w, h.Failing()) {
			t.Errorf("a loop that stands still: %q", w)
		}
		again := h.Pulse("drain", time.Second)
		p.Stop() // replaced: ends nothing
		time.Sleep(2 * time.Second)
		if w := h.Wedged(); len(w) != 1 {
			t.Errorf("the second pulse of the name: %q", w)
		}
		again.Stop()
		if w := h.Wedged(); len(w) != 0 {
			t.Errorf("a loop that has ended: %q", w)
		}
	})
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// TestPages: /healthz, /readyz, /metrics and one of the service's own, and
// that the address is free once Run has returned.
func TestPages(t *testing.T) {
	var h service.Health
	s, err := service.NewHTTP("127.0.0.1:0", &h, service.NewRegistry("muxd"))
	if err != nil {
		t.Fatal(err)
	}
	s.Handle("GET /own", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "own") }))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	base := "http://" + s.Addr()
	expect := func(page string, code int, text string) {
		t.Helper()
		if c, got := get(t, base+page); c != code || got != text {
			t.Errorf("%s answers %d %q, want %d %q", page, c, got, code, text)
		}
	}
	expect("/healthz", 200, "ok\n")
	expect("/readyz", 200, "ok\n")
	expect("/own", 200, "own")
	h.Set("store", errors.New("gone"))
	h.Set("nats", errors.New("away"))
	expect("/readyz", 503, "nats: away\nstore: gone\n")
	expect("/healthz", 200, "ok\n")
	defer h.Pulse("drain", 0).Stop()
	if c, text := get(t, base+"/healthz"); c != 503 || !strings.HasPrefix(text, "drain: ") {
		t.Errorf("/healthz with a wedged loop answers %d %q", c, text)
	}
	_, metrics := get(t, base+"/metrics")
	for _, want := range []string{`ds_build_info{service="muxd",version="` + service.Version + `"} 1`, "go_goroutines ", "go_memstats_"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics does not have %s", want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("run: %v", err)
	}
	l, err := net.Listen("tcp", s.Addr())
	if err != nil {
		t.Fatalf("the address is not free: %v", err)
	}
	l.Close()
}

// TestHTTPAddress: a taken port says how to choose another; off is off.
func TestHTTPAddress(t *testing.T) {
	var h service.Health
	reg := service.NewRegistry("x")
	first, err := service.NewHTTP("127.0.0.1:0", &h, reg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.NewHTTP(first.Addr(), &h, reg)
	if !errors.Is(err, service.ErrPortInUse) {
		t.Fatalf("a taken port: %v", err)
	}
	for _, says := range []string{first.Addr(), "is in use", "--http or DS_HTTP"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %q", err, says)
		}
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := service.NewHTTP("8080", &h, reg); !errors.Is(err, service.ErrUsage) {
		t.Errorf("no address: %v", err)
	}
	off, err := service.NewHTTP(service.HTTPOff, &h, reg)
	if err != nil || off.Addr() != "" {
		t.Fatalf("off: %v, %s", err, off.Addr())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(off.Run(ctx), off.Close()); err != nil {
		t.Errorf("off: %v", err)
	}
}
