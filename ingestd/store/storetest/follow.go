package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"datastream/ingestd/store"
	"datastream/subjects"
	"datastream/subjects/frame"
)

// patience is how long the suite waits for a state.
const patience = time.Minute

// following is a Follow at work.
type following struct {
	commits chan string
	done    chan error
	cancel  context.CancelFunc
}

// follow starts one; it ends with the test.
func (m *model) follow(t *testing.T, from uint64) *following {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f := &following{commits: make(chan string), done: make(chan error, 1), cancel: cancel}
	go func() {
		f.done <- m.Follow(ctx, from, func(c store.Commit) error {
			select {
			case f.commits <- text(c):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-f.done; !errors.Is(err, context.Canceled) {
			t.Errorf("follow ends with %v", err)
		}
	})
	return f
}

// next waits for n commits.
func (f *following) next(t *testing.T, n int) (all []string) {
	t.Helper()
	limit := time.After(patience)
	for len(all) < n {
		select {
		case c := <-f.commits:
			all = append(all, c)
		case err := <-f.done:
			f.done <- err
			t.Fatalf("follow ends after %d of %d commits: %v", len(all), n, err)
		case <-limit:
			t.Fatalf("waited in vain for commit %d of %d", len(all), n)
		}
	}
	return all
}

func followGetsEachCommitOnce(t *testing.T, s Store) {
	m, r := newModel(s), random(t)
	m.fill(t, r, 20)
	early, late := m.follow(t, 0), m.follow(t, m.last+1)
	const rounds, each = 6, 15
	var fromStart, fromHere []string
	for round := range rounds {
		m.fill(t, r, each)
		m.strange(t)
		// One follower keeps up, the other has a backlog when it is disturbed.
		fromHere = append(fromHere, late.next(t, each)...)
		if m.Disturb != nil && round < rounds-1 {
			m.Disturb(t)
		}
	}
	here := m.commits[20].First
	wantSame(t, "follow from the end", fromHere, m.want(here, m.last, 0, everything))
	fromStart = early.next(t, 20+rounds*each)
	wantSame(t, "follow from the start", fromStart, m.want(0, m.last, 0, everything))

	// A commit that grows is handed on once, when it is whole, though all breaks
	// in between; one that stays short, with the next.
	msgs := m.messages(t, 3)
	c := frame.Commit{First: m.last + 1, Count: 3, Instant: 9000}
	for i := range msgs {
		m.Part(t, c, msgs[i:i+1])
		if m.Disturb != nil && i < 2 {
			m.Disturb(t)
		}
	}
	m.note(c, msgs)
	short := m.messages(t, 2)
	c = frame.Commit{First: m.last + 1, Count: 3, Instant: 9001}
	m.Part(t, c, short)
	m.note(c, short)
	m.commit(t, 1, 9002)
	for _, f := range []*following{early, late} {
		wantSame(t, "parts", f.next(t, 3), m.want(m.commits[len(m.commits)-3].First, m.last, 0, everything))
	}
	if err := m.FollowErr(); err != nil {
		t.Fatalf("follow reads, and says %v", err)
	}
}

func followReportsEvicted(t *testing.T, s Store) {
	m := newModel(s)
	m.commit(t, 2, 10)
	f := m.follow(t, 0)
	// It stands still with the first commit in hand while more is stored than
	// it can have on its way, and most of that is let go of again.
	const big, size = 24, 1 << 19
	for i := range big {
		msgs := []store.Message{{Stream: streams[0], Run: frame.Single("big", subjects.Position(m.next), []byte(strings.Repeat("x", size)))}}
		m.next++
		m.Commit(t, msgs, int64(20+i))
		m.note(frame.Commit{First: m.last + 1, Count: 1, Instant: int64(20 + i)}, msgs)
	}
	first := m.last - 1
	m.Evict(t, first)
	next := uint64(1)
	gone := false
	for next <= m.last {
		got := f.next(t, 1)[0]
		var from, to uint64
		if _, err := fmt.Sscanf(got, "gone %d-%d", &from, &to); err == nil {
			gone = true
			if from != next || to != first-1 {
				t.Fatalf("gone %d-%d is reported, %d-%d was due", from, to, next, first-1)
			}
			next = to + 1
			continue
		}
		for _, c := range m.commits {
			if c.First == next {
				wantSame(t, "follow", []string{got}, []string{text(c)})
				next = c.Last() + 1
				break
			}
		}
	}
	if !gone {
		t.Fatal("nothing was reported as gone")
	}
	late := m.follow(t, 2)
	wantSame(t, "follow from what is gone", late.next(t, 3), m.want(2, m.last, first, everything))
}

func followKnowsAnotherStore(t *testing.T, s Store) {
	m := newModel(s)
	m.commit(t, 2, 10)
	err := m.Follow(t.Context(), 4, func(store.Commit) error { return nil })
	if !errors.Is(err, store.ErrRecreated) {
		t.Fatalf("following what lies past the end gives %v", err)
	}
}
