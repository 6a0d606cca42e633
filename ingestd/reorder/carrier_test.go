package reorder

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"datastream/ingestd/ledger"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// A pipe is a ledger's account and a window as ingest joins them, behind a
// carrier that drops, repeats and reorders.
type pipe struct {
	t         *rapid.T
	l         *ledger.Ledger
	a         *ledger.Account
	w         *Window
	now       time.Time
	flight    []frame.Run
	committed []subjects.Position // in order of commit, late ones apart
	late      []subjects.Position
}

// deliver takes any message in flight, or loses it.
func (p *pipe) deliver() {
	i := rapid.IntRange(0, len(p.flight)-1).Draw(p.t, "message")
	r := p.flight[i]
	if fate := rapid.IntRange(0, 9).Draw(p.t, "fate"); fate != 0 { // 0: it comes, and will come again
		p.flight = slices.Delete(p.flight, i, i+1)
		if fate < 4 {
			return
		}
	}
	fresh, _ := p.a.Arrive(r, nil)
	for _, f := range fresh {
		p.w.Push(f, p.now)
	}
}

// step commits what may go on, and does what ingest does as time passes.
func (p *pipe) step(ring func(control.Range) (sent, gone []control.Range)) {
	p.now = p.now.Add(100 * time.Millisecond)
	ready, late := p.w.Ready(p.now, nil, nil)
	for _, r := range ready {
		p.a.Commit(r)
	}
	for _, r := range late {
		p.a.Commit(r)
	}
	p.committed = append(p.committed, positions(ready)...)
	p.late = append(p.late, positions(late)...)
	if asked := p.a.Ask(p.now); asked != nil {
		var ans control.RepairAnswer
		for _, r := range asked {
			sent, gone := ring(r)
			ans.Sent, ans.Gone = append(ans.Sent, sent...), append(ans.Gone, gone...)
		}
		p.a.Answer(ans, true, p.now)
	}
	for _, r := range p.a.TakeGone() {
		p.w.Pass(r)
	}
}

// TestAnyCarrier: under any schedule of drops, repeats and reorderings, with a
// window of any size, each frame is committed once, in order but for late ones;
// all are but those that the ring no longer had, and those are the gaps (promise
// 1; P9.3, P9.6, P9.7).
func TestAnyCarrier(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := subjects.Position(rapid.IntRange(1, 60).Draw(rt, "frames"))
		l := ledger.New(ledger.Config{Resends: 1000})
		p := &pipe{t: rt, l: l, now: start, w: New(0, Config{Bytes: rapid.IntRange(1, 20).Draw(rt, "room") * 66})}
		st := subjects.Stream{Node: "n", Life: subjects.Life{1}}
		beat := control.Beat{Assigned: size, Drained: size}
		p.a, _ = l.Beat(st, beat, p.now)
		var c frame.Cutter
		for i := range size {
			c.Add(frame.Single(subjects.Channel(rune('a'+rapid.IntRange(0, 3).Draw(rt, "channel"))), i, []byte("x")), false)
		}
		for _, cut := range c.Runs(nil) {
			p.flight = append(p.flight, cut.Run)
		}
		kept := subjects.Position(rapid.Uint64Range(0, uint64(size)).Draw(rt, "pushed out"))
		ring := func(r control.Range) (sent, gone []control.Range) {
			for i := r.From; i <= r.To; i++ {
				if i < kept {
					gone = append(gone, span(i, i))
					continue
				}
				sent = append(sent, span(i, i))
				p.flight = append(p.flight, frame.Single("a", i, []byte("x")))
			}
			return sent, gone
		}
		for range 4000 {
			for n := rapid.IntRange(0, 6).Draw(rt, "messages"); n > 0 && len(p.flight) > 0; n-- {
				p.deliver()
			}
			p.step(ring)
			if s, _ := p.a.Settled(); s.Below == size && len(p.flight) == 0 && p.w.Waiting() == 0 {
				break
			}
		}
		p.step(ring)
		p.check(size, kept)
	})
}

func (p *pipe) check(size, kept subjects.Position) {
	if !slices.IsSorted(p.committed) {
		p.t.Fatalf("committed %v: not in order", p.committed)
	}
	all := slices.Sorted(slices.Values(append(slices.Clone(p.committed), p.late...)))
	if n := len(slices.Compact(slices.Clone(all))); n != len(all) {
		p.t.Fatalf("committed %v: some twice", all)
	}
	for i := kept; i < size; i++ {
		if !slices.Contains(all, i) {
			p.t.Fatalf("committed %v of %v: %v is missing and was in the ring", all, size, i)
		}
	}
	s, _ := p.a.Settled()
	k := p.a.Counts()
	if s.Below != size || k.Committed != uint64(len(all)) || k.Committed+k.Missing != uint64(size) || k.GivenUp-k.Healed != k.Missing {
		p.t.Fatalf("settled %+v, counts %+v of %v", s, k, size)
	}
}
