package memstore

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"datastream/ingestd/store"
	"datastream/subjects"
	"datastream/subjects/frame"
)

// A Store holds commits in memory.
type Store struct {
	created time.Time
	foreign atomic.Uint64

	mu      sync.Mutex
	view    view
	instant int64         // of the last commit
	changed chan struct{} // closed by what is added or evicted next
}

var stores atomic.Int64

// New makes an empty store under the default subject space.
func New() *Store {
	return &Store{
		created: time.Unix(stores.Add(1), 0).UTC(),
		view:    view{first: 1},
		changed: make(chan struct{}),
	}
}

// Created tells stores apart.
func (s *Store) Created() time.Time { return s.created }

// Foreign is how many foreign messages reads have come upon.
func (s *Store) Foreign() uint64 { return s.foreign.Load() }

// FollowErr is always nil: nothing keeps a Follow from reading.
func (s *Store) FollowErr() error { return nil }

// Commit stores messages as one commit; none make none. Its instant is never
// below the one before (P8.1). It panics on a run that could not be stored.
func (s *Store) Commit(msgs []store.Message, instant int64) {
	if len(msgs) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instant = max(s.instant, instant)
	s.add(frame.Commit{First: s.view.last() + 1, Count: uint64(len(msgs)), Instant: s.instant}, msgs)
}

// AddPart stores messages that claim to be of a commit, which they need not
// make whole: what a reader may see in the middle of a commit, or after a
// crash.
func (s *Store) AddPart(c frame.Commit, msgs []store.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instant = max(s.instant, c.Instant)
	s.add(c, msgs)
}

// AddForeign stores a message that no reader takes for a run.
func (s *Store) AddForeign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.entries = append(s.view.entries, entry{foreign: true})
	s.wake()
}

// Evict lets go of everything below a sequence, as retention does.
func (s *Store) Evict(below uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if below <= s.view.first {
		return
	}
	below = min(below, s.view.last()+1)
	s.view.entries = s.view.entries[below-s.view.first:]
	s.view.first = below
	s.wake()
}

func (s *Store) add(c frame.Commit, msgs []store.Message) {
	for _, m := range msgs {
		h := map[string][]string{frame.HeaderPos: {m.Run.First().String()}}
		if lengths := m.Run.Header(); lengths != "" {
			h[frame.HeaderRun] = []string{lengths}
		}
		run, err := frame.Decode(m.Run.Channel, h, bytes.Clone(m.Run.Body()))
		if err != nil {
			panic(fmt.Sprintf("memstore: a run that cannot be stored: %v", err))
		}
		s.view.entries = append(s.view.entries, entry{
			Stored:  store.Stored{Seq: s.view.last() + 1, Stream: m.Stream, Run: run, Commit: c},
			subject: subjects.Default().Store(m.Stream, run.Channel),
		})
	}
	s.wake()
}

// wake tells those who wait that something has changed.
func (s *Store) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// look is what is stored now, and a channel that closes when that changes.
func (s *Store) look() (view, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view, s.changed
}
