package invariant

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/test/harness"
)

// A watcher sees every message of the pipe.
type watcher struct {
	space subjects.Space
	conns []*nats.Conn

	mu         sync.Mutex
	beats      map[subjects.Stream]control.Beat
	settled    map[subjects.Stream]control.Settled
	tampered   bool // a test forges messages: what is seen is not only the pipe's
	violations []string
	submits    []*nats.Msg // kept while keep is set
	keep       bool
	foreign    map[string]int // subjects outside of everything that we publish
}

// newWatcher watches with two operators' connections of its own: one that is
// behind with the frames, from which the server then drops, misses no beats.
func newWatcher(connect func() (*nats.Conn, error), space subjects.Space) (*watcher, error) {
	w := &watcher{
		space: space, foreign: map[string]int{},
		beats: map[subjects.Stream]control.Beat{}, settled: map[subjects.Stream]control.Settled{},
	}
	for _, x := range []struct {
		subjects []string
		see      nats.MsgHandler
	}{{[]string{">"}, w.see}, {[]string{space.AllBeats(), space.AllSettled()}, w.hear}} {
		nc, err := connect()
		if err != nil {
			return nil, err
		}
		w.conns = append(w.conns, nc)
		for _, s := range x.subjects {
			sub, err := nc.Subscribe(s, x.see)
			if err == nil {
				err = sub.SetPendingLimits(-1, -1)
			}
			if err != nil {
				return nil, err
			}
		}
		if err := nc.Flush(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// close ends the connections.
func (w *watcher) close() {
	for _, nc := range w.conns {
		nc.Close()
	}
}

// catchUp waits until everything that was published before has been looked at.
func (p *pipe) catchUp(t testing.TB) {
	t.Helper()
	probe := fmt.Sprintf("probe.%d", nodes.Add(1))
	harness.Until(t, "the watcher has caught up", func() bool {
		if p.watcher.stray(probe) > 0 {
			return true
		}
		if err := p.operator.Publish(probe, nil); err != nil {
			t.Fatal(err)
		}
		return false
	})
}

// hear takes note of beats and of announcements.
func (w *watcher) hear(m *nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if st, err := w.space.ParseBeat(m.Subject); err == nil {
		if b, err := control.DecodeBeat(m.Data); err == nil {
			w.beats[st] = b
		}
	}
	if st, err := w.space.ParseSettled(m.Subject); err == nil {
		if s, err := control.DecodeSettled(m.Data); err == nil {
			w.settled[st] = s
		}
	}
}

// see holds everything that is published under the prefix to its form.
func (w *watcher) see(m *nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest, inside := strings.CutPrefix(m.Subject, w.space.Prefix()+".")
	class, _, _ := strings.Cut(rest, ".")
	var err error
	switch class {
	case "submit":
		if w.keep {
			w.submits = append(w.submits, m)
		}
	case "frame":
		_, _, err = w.space.ParseFrame(m.Subject)
	case "store":
		_, _, err = w.space.ParseStore(m.Subject)
	case "repair":
		_, err = w.space.ParseRepair(m.Subject)
	case "beat":
		if _, err = w.space.ParseBeat(m.Subject); err == nil {
			_, err = control.DecodeBeat(m.Data)
		}
	case "settled":
		if _, err = w.space.ParseSettled(m.Subject); err == nil {
			_, err = control.DecodeSettled(m.Data)
		}
	default:
		if !strings.HasPrefix(m.Subject, "_INBOX.") && m.Subject[0] != '$' {
			w.foreign[m.Subject]++
		}
	}
	if err == nil && inside && class != "submit" {
		err = plain(m.Subject)
	}
	if err != nil && !w.tampered && len(w.violations) < 20 {
		w.violations = append(w.violations, fmt.Sprintf("%.200q was published: %v", m.Subject, err))
	}
}

// tamper says that from now on the test itself publishes what only the pipe
// may.
func (w *watcher) tamper() {
	w.mu.Lock()
	w.tampered = true
	w.mu.Unlock()
}

// verify fails the test for what was published and is not canonical (P2.2).
func (w *watcher) verify(t testing.TB) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.violations {
		t.Error(v)
	}
	w.violations = nil
}

// stray is how often a subject outside of the pipe was published.
func (w *watcher) stray(subject string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.foreign[subject]
}

// account is what mux and ingest last said of a stream.
func (w *watcher) account(st subjects.Stream) (control.Beat, control.Settled) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.beats[st], w.settled[st]
}

// record keeps the submissions seen from now on, until stop returns them.
func (w *watcher) record() (stop func() []*nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep, w.submits = true, nil
	return func() []*nats.Msg {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.keep = false
		return w.submits
	}
}
