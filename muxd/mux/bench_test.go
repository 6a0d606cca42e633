package mux

import (
	"fmt"
	"testing"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// BenchmarkSubmit is one submission and its share of a drain that runs once
// for as many as a pipe under load finds waiting. Making the run is counted:
// it is what every submission costs.
func BenchmarkSubmit(b *testing.B) {
	payload := make([]byte, 128)
	b.Run("single", func(b *testing.B) {
		channels := make([]subjects.Channel, 5000)
		for i := range channels {
			channels[i] = subjects.Channel(fmt.Sprintf("proc.app%d.stdout", i))
		}
		m := New(n1, Config{}, NewShared(0))
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			m.Submit(frame.Single(channels[i%5000], 0, payload), false)
			if i%1024 == 1023 {
				drainQuietly(m)
			}
		}
	})
	b.Run("run64", func(b *testing.B) {
		m := New(n1, Config{}, NewShared(0))
		runs := make([]frame.Run, 1024)
		for i := range runs {
			runs[i] = sized("proc.app.stdout", 64, 128)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			m.Submit(runs[i%64], false)
			if i%64 == 63 {
				drainQuietly(m)
			}
		}
		b.ReportMetric(float64(b.N)*64/b.Elapsed().Seconds(), "frames/s")
	})
	b.Run("full", func(b *testing.B) {
		m := New(n1, Config{BufferFrames: 1}, nil)
		r := frame.Single("a", 0, payload)
		b.ReportAllocs()
		for b.Loop() {
			m.Submit(r, false)
		}
	})
}

// BenchmarkDrain is what an idle pipe does for each frame.
func BenchmarkDrain(b *testing.B) {
	m := New(n1, Config{}, NewShared(0))
	r := frame.Single("a", 0, nil)
	b.ReportAllocs()
	for b.Loop() {
		m.Submit(r, false)
		drainQuietly(m)
	}
}

func BenchmarkSubmitContended(b *testing.B) {
	m := New(n1, Config{BufferFrames: 1 << 20, BufferBytes: 1 << 30}, nil)
	payload := make([]byte, 128)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if t, _ := m.Submit(frame.Single("a", 0, payload), false); t.First%4096 == 0 {
				m.mu.Lock()
				m.buffer, m.frames, m.bytes = m.buffer[:0], 0, 0
				m.mu.Unlock()
			}
		}
	})
}

func BenchmarkHeard(b *testing.B) {
	p := NewProducers(0)
	names := make([]string, 5000)
	for i := range names {
		names[i] = fmt.Sprint("producer", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Heard(n1, seq(names[i%5000], uint64(i/5000)), 1)
	}
}

func BenchmarkPaced(b *testing.B) {
	m, p := New(n1, Config{}, nil), NewPaced(PacedConfig{})
	r := sized("a", 64, 128)
	var out []Verdict
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		out = p.Offer(m, Offer{Seq: seq("p", uint64(i)*64), Run: r}, func(int) bool { return true }, birth, out[:0])
		drainQuietly(m)
	}
}

func drainQuietly(m *Mux) {
	for _, ok := m.Drain(); ok; _, ok = m.Drain() {
	}
}
