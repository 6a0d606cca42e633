package ring

import (
	"fmt"
	"strings"
	"testing"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// fill adds n single-frame runs at every step-th position, one slice each.
func fill(r *Ring, st subjects.Stream, n int, step subjects.Position) {
	for i := range subjects.Position(n) {
		c := frame.Cut{Run: frame.Single("a", i*step, []byte("x"))}
		r.Add(st, i*step, (i+1)*step, []frame.Cut{c})
	}
}

func collect(r *Ring, st subjects.Stream, ask []control.Range, limit int) (visited []frame.Run, a control.RepairAnswer) {
	a = r.Find(st, ask, limit, func(r frame.Run) { visited = append(visited, r) })
	return visited, a
}

func TestOnlyGoneIsGone(t *testing.T) { // promise 1: asking on gets everything
	const n = 5000
	r := New(Config{})
	fill(r, stream("n"), n, 2) // every other position was dropped
	rest := []control.Range{{From: 0, To: subjects.MaxPosition}}
	sent, gone := make(map[subjects.Position]bool), make(map[subjects.Position]bool)
	for round := 0; len(sent)+len(gone) < 2*n; round++ {
		if round > 20 {
			t.Fatalf("after %d answers only %d sent and %d gone", round, len(sent), len(gone))
		}
		visited, a := collect(r, stream("n"), rest, 1<<20)
		if _, err := control.DecodeRepairAnswer(a.Encode()); err != nil {
			t.Fatal(err)
		}
		for _, v := range visited {
			sent[v.First()] = true
		}
		for _, g := range a.Gone {
			for p := g.From; p <= g.To; p++ {
				gone[p] = true
			}
		}
		if len(a.Pending) != 1 || a.Pending[0] != (control.Range{From: 2 * n, To: subjects.MaxPosition}) {
			t.Fatalf("pending %v", a.Pending)
		}
		// As ingest would: what was answered is not asked for again.
		last := a.Sent[len(a.Sent)-1].To
		rest = []control.Range{{From: min(last, a.Gone[len(a.Gone)-1].To) + 1, To: subjects.MaxPosition}}
	}
	for p := range subjects.Position(2 * n) {
		if sent[p] != (p%2 == 0) || gone[p] != (p%2 == 1) {
			t.Fatalf("position %d: sent %v, gone %v", p, sent[p], gone[p])
		}
	}
}

func TestAnswersKeepToMaxRanges(t *testing.T) { // promise 1
	r := New(Config{})
	// One run of more pieces than an answer may name, asked for piece by piece
	// as far as a request can, and whole.
	at := make([]subjects.Position, frame.RunFrames)
	for i := range at {
		at[i] = subjects.Position(2 * i)
	}
	a := run("a", 1, at...)
	for i := range at {
		at[i] = subjects.Position(3000 + 3*i)
	}
	b := run("b", 1, at...)
	r.Add(stream("n"), 0, 3000, []frame.Cut{{Run: a}})
	r.Add(stream("n"), 3000, 9000, []frame.Cut{{Run: b}})
	visited, answer := collect(r, stream("n"), []control.Range{{From: 0, To: 9000}}, 1<<20)
	if len(visited) != 1 || len(answer.Sent) != control.MaxRanges || len(answer.Gone) != control.MaxRanges {
		t.Fatalf("%d visited, %d sent, %d gone", len(visited), len(answer.Sent), len(answer.Gone))
	}
	if first := answer.Gone[0]; first != (control.Range{From: 1, To: 1}) {
		t.Errorf("gone begins %v", first)
	}
	if last := answer.Gone[len(answer.Gone)-1]; last != (control.Range{From: 2047, To: 2999}) {
		t.Errorf("gone ends %v", last)
	}
	ask := make([]control.Range, control.MaxRanges)
	for i := range ask {
		p := subjects.Position(20_000 + 2*i)
		ask[i] = control.Range{From: p, To: p}
	}
	if _, answer = collect(r, stream("n"), ask, 1); len(answer.Pending) != control.MaxRanges {
		t.Errorf("%d pending", len(answer.Pending))
	}
}

func TestARunOfMoreThanAnAnswerNames(t *testing.T) { // promise 1: what was sent and not named is not gone
	const n = control.MaxRanges + 500
	h := map[string][]string{frame.HeaderPos: {"0"}, frame.HeaderRun: {"0" + strings.Repeat(",0+1", n-1)}}
	long, err := frame.Decode("a", h, []byte(strings.Repeat("\n", n-1))) // every other position
	if err != nil {
		t.Fatal(err)
	}
	r := New(Config{})
	r.Add(stream("n"), 0, 2*n, []frame.Cut{{Run: long}, {Run: run("b", 1, 2*n-1)}})
	visited, a := collect(r, stream("n"), []control.Range{{From: 0, To: 2*n - 1}}, 1<<20)
	if len(visited) != 1 || len(a.Sent) != control.MaxRanges {
		t.Fatalf("%d visited, %d sent", len(visited), len(a.Sent))
	}
	for _, g := range a.Gone {
		if g.Len() > 1 || g.From%2 == 0 {
			t.Fatalf("%v is called gone", g)
		}
	}
}

func TestPacedRunIsNeverPushedOut(t *testing.T) { // promise 4
	r := New(Config{Bytes: 66 * 10})
	st := stream("n")
	r.Add(st, 0, 1, []frame.Cut{{Run: frame.Single("p", 0, []byte("x")), Paced: true}})
	for i := subjects.Position(1); i < 1000; i++ {
		r.Add(st, i, i+1, []frame.Cut{{Run: frame.Single("a", i, []byte("x"))}})
	}
	visited, _ := collect(r, st, []control.Range{{From: 0, To: 0}}, 1)
	if len(visited) != 1 || r.Oldest(st) != 0 || r.Paced() != 66 {
		t.Errorf("%d visited, oldest %d, %d paced", len(visited), r.Oldest(st), r.Paced())
	}
	if r.Evicted() != 999-9 {
		t.Errorf("%d pushed out, want 990", r.Evicted())
	}
	if r.Fits(1) || !r.Fits(0) {
		t.Error("a full ring has room for a paced run")
	}
}

func TestNoStreamStarvesOthers(t *testing.T) { // promise 5
	r := New(Config{Bytes: 66 * 100})
	for i := range 20 { // 60 quiet runs of twenty streams
		fill(r, stream(fmt.Sprint("quiet", i)), 3, 1)
	}
	fill(r, stream("loud"), 10_000, 1)
	for i := range 20 {
		if got := r.Oldest(stream(fmt.Sprint("quiet", i))); got != 0 {
			t.Fatalf("quiet stream %d was pushed out up to %d", i, got)
		}
	}
	if r.Evicted() != 10_000-40 {
		t.Errorf("%d pushed out, want all but the 40 there was room for", r.Evicted())
	}
}

func TestWhatIsFreedLeavesNothingBehind(t *testing.T) { // promise 6: the room that graves take
	r := New(Config{Bytes: 66 * 1000})
	st := stream("n")
	var paced int
	for i := range subjects.Position(100_000) {
		c := frame.Cut{Run: frame.Single("a", i, []byte("x")), Paced: i%1000 == 0}
		if c.Paced {
			paced++
		}
		r.Add(st, i, i+1, []frame.Cut{c})
		if s := r.streams[st]; len(s.runs) > 2*s.live+minGraves+1 {
			t.Fatalf("%d places for %d runs", len(s.runs), s.live)
		}
	}
	if r.streams[st].live-paced > 1000 {
		t.Errorf("%d runs are held", r.streams[st].live)
	}
	r.Settle(st, 100_000)
	if s := r.streams[st]; r.Bytes() != 0 || s.live != 0 || s.runs != nil || len(r.heavy) != 0 || !r.ages.empty() {
		t.Errorf("after settling all: %d bytes, %d runs, %d heavy", r.Bytes(), s.live, len(r.heavy))
	}
	r.Close(st)
	if len(r.streams) != 0 {
		t.Error("a closed stream is still known")
	}
}
