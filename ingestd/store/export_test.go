package store

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"datastream/subjects/frame"
)

// Real is a real store for the suite, which cannot be run from inside of this
// package: a server, a Writer beside it, and a Reader behind a proxy.
type Real struct {
	host   *host
	proxy  *proxy
	direct *nats.Conn
	w      *Writer
	Reader *Reader
	turns  int
}

func NewReal(t *testing.T) *Real {
	t.Helper()
	h := newHost(t, nil)
	r := &Real{host: h, proxy: newProxy(t, h.url()[len("nats://"):]), direct: connect(t, h.url())}
	r.w = openWriter(t, r.direct, Config{Init: true})
	var err error
	if r.Reader, err = NewReader(t.Context(), connect(t, r.proxy.url()), Config{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// Commit commits, after a Resync where something else has been stored.
func (r *Real) Commit(t *testing.T, msgs []Message, instant int64) {
	t.Helper()
	err := r.w.Commit(t.Context(), instant, msgs)
	for _, again := range []error{ErrUnclear, ErrFence} { // the connection was cut; a stranger has written
		if errors.Is(err, again) {
			if ps := resync(t, r.w); errors.Is(again, ErrUnclear) && len(ps) > 0 {
				t.Fatalf("an unclear commit has landed: %v", ps)
			}
			err = r.w.Commit(t.Context(), instant, msgs)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Part publishes past the Writer.
func (r *Real) Part(t *testing.T, c frame.Commit, msgs []Message) {
	t.Helper()
	for _, m := range msgs {
		headers := []string{frame.HeaderPos, m.Run.First().String(), frame.HeaderCommit, c.String()}
		if lengths := m.Run.Header(); lengths != "" {
			headers = append(headers, frame.HeaderRun, lengths)
		}
		publish(t, r.direct, r.w.cfg.Space.Store(m.Stream, m.Run.Channel), string(m.Run.Body()), headers...)
	}
}

func (r *Real) Strange(t *testing.T) {
	t.Helper()
	publish(t, r.direct, "ds.store.n1."+life.String()+".c.1", "", "Status", "404")
}

// Evict makes the server let go of the oldest, by number or, if of all, by age.
func (r *Real) Evict(t *testing.T, below uint64) {
	t.Helper()
	info, err := r.w.find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	was, cfg := info.Config, info.Config
	if keep := int64(info.State.LastSeq+1) - int64(below); keep > 0 {
		cfg.MaxMsgs = keep
	} else {
		cfg.MaxAge, cfg.Duplicates = 100*time.Millisecond, 100*time.Millisecond
	}
	r.update(t, cfg)
	eventually(t, "the oldest messages are gone", func() bool {
		info, err := r.w.find(t.Context())
		return err == nil && info.State.FirstSeq == below
	})
	r.update(t, was)
}

func (r *Real) update(t *testing.T, cfg jetstream.StreamConfig) {
	t.Helper()
	if _, err := r.w.js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

// Disturb cuts the Reader's connection, or stops the server and starts it.
func (r *Real) Disturb(t *testing.T) {
	t.Helper()
	if r.turns++; r.turns%2 == 1 {
		r.proxy.cut()
		return
	}
	before := r.direct.Stats().Reconnects
	r.host.stop()
	r.host.start()
	eventually(t, "the writer is connected again", func() bool {
		return r.direct.IsConnected() && r.direct.Stats().Reconnects > before
	})
}
