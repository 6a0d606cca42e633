package ledger

import (
	"math/rand/v2"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// slice cuts one slice of n one-byte frames over so many channels as a mux does.
func slice(n, channels int) []frame.Run {
	rng := rand.New(rand.NewPCG(1, 2))
	var c frame.Cutter
	for p := range n {
		c.Add(frame.Single(subjects.Channel(rune('A'+rng.IntN(channels))), subjects.Position(p), []byte("x")), false)
	}
	var runs []frame.Run
	for _, cut := range c.Runs(nil) {
		runs = append(runs, cut.Run)
	}
	return runs
}

func benchmark(b *testing.B, runs []frame.Run, frames int) {
	b.ReportAllocs()
	var fresh []frame.Run
	now := start
	for b.Loop() {
		l := New(Config{})
		a := l.Restore(stream(b, "A"), now)
		for _, r := range runs {
			fresh, _ = a.Arrive(r, fresh[:0])
		}
		for _, r := range runs {
			a.Commit(r)
		}
		now = now.Add(time.Millisecond)
		a.Ask(now)
		a.Settled()
		if c := a.Counts(); c.Committed != uint64(frames) || c.Holes != 0 {
			b.Fatalf("counts %+v", c)
		}
	}
	b.ReportMetric(float64(b.N)*float64(frames)/b.Elapsed().Seconds(), "frames/s")
}

func BenchmarkSingleFrames(b *testing.B) {
	var runs []frame.Run
	for p := range subjects.Position(4096) {
		runs = append(runs, frame.Single("c", p, []byte("x")))
	}
	benchmark(b, runs, 4096)
}

func BenchmarkOneChannel(b *testing.B)    { benchmark(b, slice(4096, 1), 4096) }
func BenchmarkFiftyChannels(b *testing.B) { benchmark(b, slice(4096, 50), 4096) }
func BenchmarkManyChannels(b *testing.B)  { benchmark(b, slice(4096, 5000), 4096) }

// BenchmarkDuplicates is a stream that comes twice.
func BenchmarkDuplicates(b *testing.B) {
	b.ReportAllocs()
	l := New(Config{})
	a := l.Restore(stream(b, "A"), start)
	runs := slice(4096, 50)
	for _, r := range runs {
		a.Commit(r)
	}
	var fresh []frame.Run
	for b.Loop() {
		for _, r := range runs {
			fresh, _ = a.Arrive(r, fresh[:0])
		}
	}
	b.ReportMetric(float64(b.N)*4096/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkAskWithManyHoles is a moment of a busy stream that lost every second
// position for a while.
func BenchmarkAskWithManyHoles(b *testing.B) {
	b.ReportAllocs()
	l := New(Config{})
	a := l.Restore(stream(b, "A"), start)
	every(b, a, 1, 4000)
	now := start
	a.Ask(now)
	now = now.Add(2 * time.Millisecond)
	a.Ask(now)
	next := subjects.Position(8000)
	for b.Loop() {
		now = now.Add(time.Microsecond)
		r := frame.Single("c", next, nil)
		next++
		a.Arrive(r, nil)
		a.Commit(r)
		a.Ask(now)
	}
}
