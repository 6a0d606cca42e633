package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/ingestd/store"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// A kept is a frame as the store holds it.
type kept struct {
	stream  subjects.Stream
	channel subjects.Channel
	pos     subjects.Position
	payload string
}

// readStore reads everything committed, in order of stream and position.
// Foreign messages, which only we could have written here, fail the test, as
// does a position that is stored twice.
func readStore(t *testing.T, nc *nats.Conn) []kept {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	var all []kept
	_, foreign, err := store.Scan(ctx, nc, store.Config{}, 1, false, func(m store.Stored) error {
		for i := range m.Run.Len() {
			all = append(all, kept{m.Stream, m.Run.Channel, m.Run.Pos(i), string(m.Run.Payload(i))})
		}
		return nil
	})
	if err != nil || foreign > 0 {
		t.Fatalf("read the store: %d foreign messages, %v", foreign, err)
	}
	sort.SliceStable(all, func(i, j int) bool {
		if a, b := all[i].stream.String(), all[j].stream.String(); a != b {
			return a < b
		}
		return all[i].pos < all[j].pos
	})
	for i := 1; i < len(all); i++ {
		if all[i].stream == all[i-1].stream && all[i].pos == all[i-1].pos {
			t.Fatalf("position %v of %v is stored twice: %q and %q", all[i].pos, all[i].stream, all[i-1].payload, all[i].payload)
		}
	}
	return all
}

// count counts payloads.
func count(all []kept) map[string]int {
	n := make(map[string]int, len(all))
	for _, k := range all {
		n[k.payload]++
	}
	return n
}

// messages is how many messages the store holds.
func messages(t *testing.T, nc *nats.Conn) uint64 {
	t.Helper()
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	info, err := js.StreamInfo("DATASTREAM")
	if err != nil {
		return 0
	}
	return info.State.LastSeq
}

// ask submits a payload with a request, as nats req does, and returns the
// answer.
func ask(nc *nats.Conn, subject, payload string, headers ...string) (control.Answer, error) {
	m := nats.NewMsg(subject)
	m.Data = []byte(payload)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		m.Header.Set(name, value)
	}
	reply, err := nc.RequestMsg(m, harness.Patience)
	if err != nil {
		return control.Answer{}, err
	}
	a, err := control.DecodeAnswer(reply.Data)
	if err == nil && a.Error != "" {
		err = fmt.Errorf("refused: %s", a.Error)
	}
	return a, err
}

// commit submits a payload, waits until it is fsynced and returns where it is.
// While nobody takes it, it tries again.
func commit(t *testing.T, nc *nats.Conn, subject, payload string) control.Answer {
	t.Helper()
	var a control.Answer
	harness.Until(t, subject+" is committed", func() bool {
		var err error
		a, err = ask(nc, subject, payload, "Ds-Ack:committed")
		return err == nil
	})
	return a
}

// A beatSeen is a beat with whose it is.
type beatSeen struct {
	stream subjects.Stream
	control.Beat
}

// parseBeat reads a message of a subscription to beats.
func parseBeat(t *testing.T, m *nats.Msg) beatSeen {
	t.Helper()
	st, err := subjects.Default().ParseBeat(m.Subject)
	if err != nil {
		t.Fatal(err)
	}
	b, err := control.DecodeBeat(m.Data)
	if err != nil {
		t.Fatal(err)
	}
	return beatSeen{st, b}
}

// subscribe subscribes at once, without limits.
func subscribe(t *testing.T, nc *nats.Conn, subject string) *nats.Subscription {
	t.Helper()
	sub, err := nc.SubscribeSync(subject)
	if err == nil {
		err = sub.SetPendingLimits(-1, -1)
	}
	if err == nil {
		err = nc.FlushTimeout(harness.Patience)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// next waits for a message.
func next(t *testing.T, sub *nats.Subscription) *nats.Msg {
	t.Helper()
	m, err := sub.NextMsg(harness.Patience)
	if err != nil {
		t.Fatalf("wait for a message on %s: %v", sub.Subject, err)
	}
	return m
}

// drained takes what a subscription has received already.
func drained(sub *nats.Subscription) []*nats.Msg {
	var all []*nats.Msg
	for {
		m, err := sub.NextMsg(time.Millisecond)
		if err != nil {
			return all
		}
		all = append(all, m)
	}
}

func decodeJSON(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%q is no JSON: %v", text, err)
	}
}

// sh runs a line as a shell would, with ds and nats on the PATH and NATS_URL
// set.
func sh(t *testing.T, url, line string) (p *harness.Proc, code int) {
	t.Helper()
	p = spawnSh(t, url, line)
	return p, p.Wait(t)
}

func spawnSh(t *testing.T, url, line string) *harness.Proc {
	t.Helper()
	return harness.Command{Path: "/bin/sh", Args: []string{"-c", line}, Env: []string{"NATS_URL=" + url}}.Spawn(t)
}
