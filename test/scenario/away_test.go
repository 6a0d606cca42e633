package scenario

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"datastream/stack/server"
	"datastream/test/harness"
)

// TestNATSComesLate: daemons wait for NATS as long as it takes (P6).
func TestNATSComesLate(t *testing.T) {
	parts := harness.NewParts(t)
	mux, ingest := parts.Muxd(t), parts.Ingestd(t, "--init")
	for _, d := range []harness.Daemon{mux, ingest} {
		d.WaitFor(t, "not connected to NATS; trying again")
		if ready, reasons := d.Ready(t); ready || !strings.Contains(reasons, "not connected to "+parts.URL) {
			t.Errorf("%s: ready %v: %s", d.Name, ready, reasons)
		}
	}
	parts.StartServer(t)
	mux.Serving(t)
	ingest.Serving(t)
	commit(t, parts.Connect(t), "ds.submit.n1.app.log", "at last")
	for _, d := range []harness.Daemon{mux, ingest} {
		harness.Until(t, d.Name+" is ready", func() bool { ready, _ := d.Ready(t); return ready })
	}
}

// TestNATSGoesAndReturns: nobody lends a hand, and ds emit, which was in the
// middle, loses nothing: what the mux could not hand on is repaired.
func TestNATSGoesAndReturns(t *testing.T) {
	parts := harness.NewParts(t)
	mux, ingest := parts.Pipe(t)
	p := emitThrough(t, parts, func() {
		parts.StopServer()
		for _, d := range []harness.Daemon{mux, ingest} {
			d.WaitFor(t, "lost the connection to NATS")
			d.WaitFor(t, "not connected to NATS; trying again")
			if ready, reasons := d.Ready(t); ready || !strings.Contains(reasons, "not connected to "+parts.URL) {
				t.Errorf("%s: ready %v: %s", d.Name, ready, reasons)
			}
		}
		parts.StartServer(t)
	})
	if code := p.Wait(t); code != 0 {
		t.Errorf("exit %d: the mux lived and had everything\n%s", code, p.Stderr())
	}
	commit(t, parts.Connect(t), "ds.submit.n1.app.log", "afterwards")
}

// TestStoreDeleted: a store that goes away under a running ingest is reported,
// and made anew by a person's word alone (P8.4).
func TestStoreDeleted(t *testing.T) {
	parts := harness.NewParts(t)
	_, ingest := parts.Pipe(t)
	nc := parts.Connect(t)
	commit(t, nc, "ds.submit.n1.app.log", "before")
	js, err := parts.ConnectAs(t, server.Operator).JetStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream("DATASTREAM"); err != nil {
		t.Fatal(err)
	}
	absent := func(when string) {
		t.Helper()
		if _, err := js.StreamInfo("DATASTREAM"); !errors.Is(err, nats.ErrStreamNotFound) {
			t.Errorf("%s the stream is there again (%v)", when, err)
		}
	}
	if _, err := ask(nc, "ds.submit.n1.app.log", "nowhere to go"); err != nil {
		t.Fatal(err)
	}
	unready := func(d harness.Daemon) {
		t.Helper()
		harness.Until(t, "ingestd names the store as the reason why it is not ready", func() bool {
			ready, reasons := d.Ready(t)
			return !ready && strings.Contains(reasons, "store:") && strings.Contains(reasons, "DATASTREAM")
		})
	}
	unready(ingest)
	ingest.WaitFor(t, "DATASTREAM")
	absent("under the running ingestd")
	if code := ingest.Stop(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	again := parts.Ingestd(t)
	again.WaitFor(t, "the store cannot be used")
	unready(again)
	absent("after a start without --init")
	if code := again.Stop(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	parts.Ingestd(t, "--init").Serving(t)
	commit(t, nc, "ds.submit.n1.app.log", "after")
	if all := readStore(t, nc); all[len(all)-1].payload != "after" {
		t.Errorf("stored: %+v", all)
	}
}
