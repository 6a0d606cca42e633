package reorder

import (
	"math/rand/v2"
	"testing"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// slice cuts n one-byte frames over so many channels as a mux does.
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
	w := New(0, Config{})
	var ready []frame.Run
	for b.Loop() {
		*w = Window{cfg: w.cfg, ready: w.ready, waiting: w.waiting, since: w.since}
		for _, r := range runs {
			w.Push(r, start)
		}
		ready, _ = w.Ready(start, ready[:0], nil)
	}
	if w.Waiting() != 0 || w.Next() != subjects.Position(frames) {
		b.Fatalf("%d wait, next is %v", w.Waiting(), w.Next())
	}
	b.ReportMetric(float64(b.N)*float64(frames)/b.Elapsed().Seconds(), "frames/s")
}

func BenchmarkSingleFramesInOrder(b *testing.B) {
	var runs []frame.Run
	for p := range subjects.Position(4096) {
		runs = append(runs, frame.Single("c", p, []byte("x")))
	}
	benchmark(b, runs, 4096)
}

func BenchmarkSingleFramesReversed(b *testing.B) {
	var runs []frame.Run
	for p := range subjects.Position(4096) {
		runs = append(runs, frame.Single("c", 4095-p, []byte("x")))
	}
	benchmark(b, runs, 4096)
}

func BenchmarkOneChannel(b *testing.B)        { benchmark(b, slice(4096, 1), 4096) }
func BenchmarkFiftyChannels(b *testing.B)     { benchmark(b, slice(4096, 50), 4096) }
func BenchmarkManyChannelsSlice(b *testing.B) { benchmark(b, slice(4096, 5000), 4096) }
