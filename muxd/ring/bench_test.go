package ring

import (
	"fmt"
	"testing"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// BenchmarkAddSettle keeps a window of runs over many streams, as a pipe that
// commits does: per run, all of it.
func BenchmarkAddSettle(b *testing.B) {
	for _, streams := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			r := New(Config{})
			sts := make([]subjects.Stream, streams)
			for i := range sts {
				sts[i] = stream(fmt.Sprint("n", i))
			}
			cuts := make([]frame.Cut, 1)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				st, p := sts[i%streams], subjects.Position(i/streams)
				cuts[0].Run = frame.Single("channel", p, nil)
				r.Add(st, p, p+1, cuts)
				if p >= 8 {
					r.Settle(st, p-8)
				}
			}
		})
	}
}

// BenchmarkAddFull pushes out a run for each that it adds.
func BenchmarkAddFull(b *testing.B) {
	for _, streams := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			r := New(Config{Bytes: 8 << 20})
			sts := make([]subjects.Stream, streams)
			for i := range sts {
				sts[i] = stream(fmt.Sprint("n", i))
			}
			cuts := make([]frame.Cut, 1)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p := subjects.Position(i / streams)
				cuts[0].Run = frame.Single("channel", p, nil)
				r.Add(sts[i%streams], p, p+1, cuts)
			}
		})
	}
}

// BenchmarkFind asks a stream of 100 000 runs for 1000 positions.
func BenchmarkFind(b *testing.B) {
	r, st := New(Config{}), stream("n")
	fill(r, st, 100_000, 1)
	ask := make([]control.Range, 1000)
	for i := range ask {
		p := subjects.Position(i * 99)
		ask[i] = control.Range{From: p, To: p}
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Find(st, ask, 1<<20, func(frame.Run) {})
	}
}
