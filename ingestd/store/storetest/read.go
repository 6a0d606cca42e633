package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"datastream/ingestd/store"
	"datastream/subjects"
	"datastream/subjects/frame"
)

func emptyStore(t *testing.T, s Store) {
	m := newModel(s)
	e := m.wantEnd(t, 0, 0, 1)
	m.wantFind(t, 0, e, 1)
	wantSame(t, "read", m.read(t, 0, math.MaxUint64, ""), nil)
	wantSame(t, "filtered", m.read(t, 0, 10, "ds.store.n1.>"), nil)
	wantSame(t, "read back", m.back(t, math.MaxUint64), nil)
}

func commitsComeWholeAndInOrder(t *testing.T, s Store) {
	m, r := newModel(s), random(t)
	m.fill(t, r, 40)
	m.wantEnd(t, m.last, m.commits[len(m.commits)-1].Instant, 1)
	wantSame(t, "all", m.read(t, 0, math.MaxUint64, ""), m.want(0, m.last, 0, everything))
	for range 20 {
		from, to := r.Uint64N(m.last+3), r.Uint64N(m.last+3)
		wantSame(t, fmt.Sprintf("%d-%d", from, to), m.read(t, from, to, ""), m.want(from, to, 0, everything))
	}
}

func rangesAddUp(t *testing.T, s Store) {
	const parts = 4
	m := newModel(s)
	m.fill(t, random(t), 40)
	var got [parts][]string
	var errs [parts]error
	var wg sync.WaitGroup
	for i := range parts {
		from, to := m.last*uint64(i)/parts+1, m.last*uint64(i+1)/parts
		wg.Go(func() {
			errs[i] = m.Read(t.Context(), from, to, "", func(c store.Commit) error {
				for _, s := range c.Messages {
					got[i] = append(got[i], message(s))
				}
				return nil
			})
		})
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range m.commits {
		for _, s := range c.Messages {
			want = append(want, message(s))
		}
	}
	wantSame(t, "ranges", slices.Concat(got[:]...), want)
}

func filtersKeepCommitsTogether(t *testing.T, s Store) {
	m := newModel(s)
	m.fill(t, random(t), 40)
	m.strange(t)
	space := subjects.Default()
	node := streams[0].Node
	for _, c := range []struct {
		sel  subjects.Selector
		keep func(store.Stored) bool
	}{
		{subjects.Selector{Pattern: "*"}, everything},
		{subjects.Selector{Pattern: "c.3"}, func(s store.Stored) bool { return s.Run.Channel == "c.3" }},
		{subjects.Selector{Node: &node, Pattern: "c.*"}, func(s store.Stored) bool { return s.Stream.Node == node }},
		{subjects.Selector{Pattern: "absent"}, func(store.Stored) bool { return false }},
	} {
		filter, exact := space.Filter(c.sel)
		if !exact {
			t.Fatalf("the filter %s is not exact", filter)
		}
		for _, to := range []uint64{math.MaxUint64, m.last / 2} {
			wantSame(t, filter, m.read(t, 5, to, filter), m.want(5, to, 0, c.keep))
		}
	}
}

func findIsTheFirstNotTooEarly(t *testing.T, s Store) {
	m := newModel(s)
	m.fill(t, random(t), 40)
	e := m.end(t)
	for instant := int64(998); instant <= e.Instant+1; instant++ {
		want := m.last + 1
		for _, c := range slices.Backward(m.commits) {
			if c.Instant >= instant {
				want = c.First
			}
		}
		m.wantFind(t, instant, e, want)
	}
	m.commit(t, 3, e.Instant+10)
	m.wantFind(t, e.Instant+1, e, e.Seq+1) // not beyond the end that was captured
	m.wantFind(t, math.MinInt64, e, 1)
	e.Created = e.Created.Add(1)
	if _, err := m.Find(t.Context(), 0, e); !errors.Is(err, store.ErrRecreated) {
		t.Fatalf("the end of another store: %v", err)
	}
}

// back reads all back and puts it in order, and fails if a commit is divided.
func (m *model) back(t *testing.T, to uint64) (all []string) {
	t.Helper()
	var older uint64 = math.MaxUint64
	err := m.ReadBack(t.Context(), to, func(msgs []store.Stored) (bool, error) {
		if len(msgs) == 0 || msgs[len(msgs)-1].Seq >= older {
			t.Errorf("%d messages before %d", len(msgs), older)
			return false, nil
		}
		older = max(msgs[0].Seq, msgs[0].Commit.First)
		var window []string
		for _, s := range msgs {
			window = append(window, message(s))
		}
		if first := msgs[0]; first.Seq != first.Commit.First {
			t.Logf("the window begins at %d inside of %v", first.Seq, first.Commit)
		}
		all = append(window, all...)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readBackIsNewestFirst(t *testing.T, s Store) {
	m, r := newModel(s), random(t)
	m.fill(t, r, 60)
	m.commit(t, 700, 5000) // more than a window
	m.commit(t, 1, 5000)
	for _, to := range []uint64{m.last, m.last - 1, m.last - 2, r.Uint64N(m.last), math.MaxUint64, 1, 0} {
		var want []string
		for _, c := range m.commits {
			for _, s := range c.Messages {
				if s.Seq <= to {
					want = append(want, message(s))
				}
			}
		}
		wantSame(t, fmt.Sprintf("back from %d", to), m.back(t, to), want)
	}
	whole := func(msgs []store.Stored) bool {
		return msgs[0].Seq == msgs[0].Commit.First && msgs[len(msgs)-1].Seq == msgs[len(msgs)-1].Commit.Last()
	}
	calls := 0
	err := m.ReadBack(t.Context(), m.last, func(msgs []store.Stored) (bool, error) {
		calls++
		if !whole(msgs) {
			t.Errorf("a commit is divided: %d-%d", msgs[0].Seq, msgs[len(msgs)-1].Seq)
		}
		return calls < 2, nil
	})
	if err != nil || calls != 2 {
		t.Fatalf("%d windows, 2 were wanted (%v)", calls, err)
	}
	enough := errors.New("enough")
	if err := m.ReadBack(t.Context(), m.last, func([]store.Stored) (bool, error) { return true, enough }); err != enough {
		t.Fatalf("got %v, not the caller's own error", err)
	}
}

func halfACommitIsNotShown(t *testing.T, s Store) {
	m := newModel(s)
	m.commit(t, 2, 10)
	c := frame.Commit{First: 3, Count: 3, Instant: 20}
	msgs := m.messages(t, 3)
	for n := range msgs {
		m.Part(t, c, msgs[n:n+1])
		if n < 2 {
			e := m.wantEnd(t, 2, 10, 1)
			m.wantFind(t, 11, e, 3)
			wantSame(t, "read", m.read(t, 0, math.MaxUint64, ""), m.want(0, 2, 0, everything))
			wantSame(t, "filtered", m.read(t, 0, math.MaxUint64, "ds.store.>"), m.want(0, 2, 0, everything))
			if back := m.back(t, math.MaxUint64); len(back) != 2 {
				t.Fatalf("read back gives %v", back)
			}
		}
	}
	m.note(c, msgs)
	e := m.wantEnd(t, 5, 20, 1)
	m.wantFind(t, 11, e, 3)
	wantSame(t, "whole", m.read(t, 0, math.MaxUint64, ""), m.want(0, 5, 0, everything))
}

func aCommitCutShort(t *testing.T, s Store) {
	m := newModel(s)
	m.commit(t, 2, 10)
	c := frame.Commit{First: 3, Count: 5, Instant: 20}
	msgs := m.messages(t, 2)
	m.Part(t, c, msgs)
	m.wantEnd(t, 2, 10, 1)
	m.note(c, msgs)
	m.strange(t) // whatever comes next proves that it stays short
	m.wantEnd(t, 5, 20, 1)
	wantSame(t, "read", m.read(t, 0, math.MaxUint64, ""), m.want(0, 5, 0, everything))
	m.commit(t, 2, 30)
	m.wantEnd(t, 7, 30, 1)
	wantSame(t, "read", m.read(t, 0, math.MaxUint64, ""), m.want(0, 7, 0, everything))
	wantSame(t, "up to it", m.read(t, 0, 4, ""), m.want(0, 4, 0, everything))
}

func foreignMessages(t *testing.T, s Store) {
	m := newModel(s)
	m.strange(t)
	m.wantEnd(t, 1, 0, 1)
	m.commit(t, 3, 10)
	m.strange(t)
	m.strange(t)
	m.commit(t, 1, 20)
	m.strange(t)
	m.wantEnd(t, 8, 20, 1)
	before := m.Foreign()
	wantSame(t, "read", m.read(t, 0, math.MaxUint64, ""), m.want(0, 8, 0, everything))
	if n := m.Foreign() - before; n != 4 {
		t.Fatalf("%d foreign messages were counted, want 4", n)
	}
	if back := m.back(t, 8); len(back) != 4 {
		t.Fatalf("read back gives %v", back)
	}
}

func findPassesForeign(t *testing.T, s Store) {
	m := newModel(s)
	m.commit(t, 2, 10)
	for range 100 {
		m.strange(t)
	}
	m.commit(t, 1, 20)
	for range 100 {
		m.strange(t)
	}
	e := m.wantEnd(t, m.last, 20, 1)
	for instant, want := range map[int64]uint64{0: 1, 10: 1, 11: 103, 20: 103, 21: m.last + 1} {
		m.wantFind(t, instant, e, want)
	}
}

func evictedHeads(t *testing.T, s Store) {
	m := newModel(s)
	for i := range 10 {
		m.commit(t, 5, int64(10*i))
	}
	stale := m.end(t)
	m.Evict(t, 13) // inside of the third commit
	e := m.wantEnd(t, 50, 90, 13)
	for _, c := range [][2]uint64{{0, 50}, {1, 12}, {4, 9}, {12, 30}, {13, 30}, {14, 16}} {
		wantSame(t, fmt.Sprint(c), m.read(t, c[0], c[1], ""), m.want(c[0], c[1], 13, everything))
	}
	wantSame(t, "filtered", m.read(t, 1, 50, "ds.store.*.*.c.3"),
		m.want(1, 50, 13, func(s store.Stored) bool { return s.Run.Channel == "c.3" }))
	for _, e := range []store.End{e, stale} {
		m.wantFind(t, 0, e, 13)
		m.wantFind(t, 20, e, 13)
		m.wantFind(t, 21, e, 16)
	}
	if back := m.back(t, 50); len(back) != 50-12 {
		t.Fatalf("read back gives %d messages", len(back))
	}
}

func allEvicted(t *testing.T, s Store) {
	m := newModel(s)
	m.commit(t, 5, 10)
	m.Evict(t, 6)
	e := m.wantEnd(t, 5, 0, 6)
	m.wantFind(t, 0, e, 6)
	wantSame(t, "read", m.read(t, 0, math.MaxUint64, ""), []string{"gone 1-5"})
	wantSame(t, "read back", m.back(t, 5), nil)
	m.commit(t, 2, 20)
	m.wantEnd(t, 7, 20, 6)
	wantSame(t, "read on", m.read(t, 0, math.MaxUint64, ""), m.want(0, 7, 6, everything))
}

func errorsOfTheCaller(t *testing.T, s Store) {
	m := newModel(s)
	m.commit(t, 2, 10)
	m.commit(t, 2, 20)
	enough := errors.New("enough")
	stop := func(store.Commit) error { return enough }
	for _, filter := range []string{"", "ds.store.>"} {
		if err := m.Read(t.Context(), 0, 4, filter, stop); err != enough {
			t.Errorf("read gives %v, not the caller's own error", err)
		}
	}
	if err := m.Follow(t.Context(), 0, stop); err != enough {
		t.Errorf("follow gives %v, not the caller's own error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := m.Follow(ctx, 0, func(store.Commit) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("follow gives %v, not that it was cancelled", err)
	}
}
