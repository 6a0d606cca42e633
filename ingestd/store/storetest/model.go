package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"datastream/ingestd/store"
	"datastream/subjects"
	"datastream/subjects/frame"
)

var streams = []subjects.Stream{
	{Node: "n1", Life: subjects.MintLife(time.UnixMilli(1_700_000_000_000))},
	{Node: "n.2", Life: subjects.MintLife(time.UnixMilli(1_700_000_000_001))},
}

// model is what the suite believes to be stored.
type model struct {
	Store
	commits []store.Commit // whole ones and their messages, never evicted
	next    uint64         // the position to come
	last    uint64         // the last sequence given out
	instant int64          // of the last commit of fill
}

func newModel(s Store) *model { return &model{Store: s, instant: 1000} }

// random makes the source of a test's randomness and logs its seed.
func random(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// messages makes n messages of runs at the next positions, on seven channels.
func (m *model) messages(t *testing.T, n int) []store.Message {
	t.Helper()
	msgs := make([]store.Message, n)
	for i := range msgs {
		var cut frame.Cutter
		c := subjects.Channel(fmt.Sprintf("c.%d", m.next%7))
		for range 1 + m.next%3 {
			cut.AddFrame(c, subjects.Position(m.next), fmt.Appendf(nil, "payload\n%d", m.next), false)
			m.next++
		}
		runs := cut.Runs(nil)
		if len(runs) != 1 {
			t.Fatalf("%d runs were cut, not one", len(runs))
		}
		msgs[i] = store.Message{Stream: streams[m.next%2], Run: runs[0].Run}
	}
	return msgs
}

// note keeps messages that are stored next as a commit.
func (m *model) note(c frame.Commit, msgs []store.Message) {
	k := store.Commit{Commit: c}
	for _, msg := range msgs {
		m.last++
		k.Messages = append(k.Messages, store.Stored{Seq: m.last, Stream: msg.Stream, Run: msg.Run, Commit: c})
	}
	m.commits = append(m.commits, k)
}

// commit stores a commit of n messages.
func (m *model) commit(t *testing.T, n int, instant int64) {
	t.Helper()
	msgs := m.messages(t, n)
	m.Commit(t, msgs, instant)
	m.note(frame.Commit{First: m.last + 1, Count: uint64(n), Instant: instant}, msgs)
}

// fill stores commits of random sizes; instants repeat and leap.
func (m *model) fill(t *testing.T, r *rand.Rand, commits int) {
	t.Helper()
	for range commits {
		m.instant += int64(r.IntN(4)) * 5
		m.commit(t, 1+r.IntN(1+r.IntN(40)), m.instant)
	}
}

// strange stores a foreign message.
func (m *model) strange(t *testing.T) {
	t.Helper()
	m.Strange(t)
	m.last++
}

// want is what a read of a range hands on: what keep lets through, and before
// it the place of what was evicted below first.
func (m *model) want(from, to, first uint64, keep func(store.Stored) bool) []string {
	var all []string
	from = max(from, 1)
	if gone := min(first-1, to); first > 0 && gone >= from {
		all = append(all, fmt.Sprintf("gone %d-%d", from, gone))
		from = first
	}
	for _, c := range m.commits {
		k := store.Commit{Commit: c.Commit}
		for _, s := range c.Messages {
			if s.Seq >= from && s.Seq <= to && keep(s) {
				k.Messages = append(k.Messages, s)
			}
		}
		if len(k.Messages) > 0 {
			all = append(all, text(k))
		}
	}
	return all
}

func everything(store.Stored) bool { return true }

// text is all that can be seen of a commit.
func text(c store.Commit) string {
	if c.Gone {
		if c.Instant != 0 || len(c.Messages) > 0 {
			return fmt.Sprintf("gone, but with %v", c)
		}
		return fmt.Sprintf("gone %d-%d", c.First, c.Last())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "commit %v:", c.Commit)
	for _, s := range c.Messages {
		fmt.Fprintf(&b, " %s", message(s))
		if s.Commit != c.Commit {
			fmt.Fprintf(&b, " of commit %v", s.Commit)
		}
	}
	return b.String()
}

func message(s store.Stored) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d=%s/%s/%s", s.Seq, s.Stream.Node, s.Stream.Life, s.Run.Channel)
	for i := range s.Run.Len() {
		fmt.Fprintf(&b, " %v:%q", s.Run.Pos(i), s.Run.Payload(i))
	}
	return b.String()
}

// read is what a Read hands on.
func (m *model) read(t *testing.T, from, to uint64, filter string) (all []string) {
	t.Helper()
	err := m.Read(t.Context(), from, to, filter, func(c store.Commit) error {
		all = append(all, text(c))
		return nil
	})
	if err != nil {
		t.Fatalf("read %d-%d %s: %v", from, to, filter, err)
	}
	return all
}

// end asks for the end.
func (m *model) end(t *testing.T) store.End {
	t.Helper()
	e, err := m.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !e.Created.Equal(m.Created()) {
		t.Fatalf("the end is of a store created at %v, the reader's at %v", e.Created, m.Created())
	}
	return e
}

// wantEnd fails unless the end is this.
func (m *model) wantEnd(t *testing.T, seq uint64, instant int64, first uint64) store.End {
	t.Helper()
	e := m.end(t)
	if e.Seq != seq || e.Instant != instant || e.First != first {
		t.Fatalf("the end is %+v, want sequence %d, instant %d, first %d", e, seq, instant, first)
	}
	return e
}

// wantFind fails unless the first commit at an instant begins at seq.
func (m *model) wantFind(t *testing.T, instant int64, e store.End, seq uint64) {
	t.Helper()
	got, err := m.Find(t.Context(), instant, e)
	if err != nil || got != seq {
		t.Fatalf("instant %d is found at %d, want %d (%v)", instant, got, seq, err)
	}
}

// wantSame fails unless two lists are the same.
func wantSame(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%s: number %d of %d is\n%s\nwant, of %d,\n%s", what, i, len(got), g, len(want), w)
		}
	}
}
