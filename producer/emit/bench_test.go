package emit

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// nullSink takes runs and forgets them.
type nullSink struct{}

func (nullSink) Submit(subjects.Node, frame.Run) bool { return true }

func channels(n int) []subjects.Channel {
	l := make([]subjects.Channel, n)
	for i := range l {
		l[i] = subjects.Channel(fmt.Sprintf("bench.channel%d.stdout", i))
	}
	return l
}

func BenchmarkLocalSubmit(b *testing.B) {
	h := InProcess(nullSink{}, node)
	payload := make([]byte, 128)
	b.ReportAllocs()
	for b.Loop() {
		h.Submit("c", payload)
	}
}

// BenchmarkRemoteSubmit measures Submit with the drain behind it: how many
// frames a second leave, over few channels and over many.
func BenchmarkRemoteSubmit(b *testing.B) {
	for _, n := range []int{1, 10, 5000} {
		b.Run(fmt.Sprintf("channels=%d", n), func(b *testing.B) {
			nc, _ := connect(b, startServer(b), true)
			r, err := Open(nc, node)
			h := open(b, r, err)
			payload, list := make([]byte, 128), channels(n)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if i%1024 == 0 { // keep pace, or it measures drops
					for h.Stats().Buffered > DefaultBufferFrames/2 {
						runtime.Gosched()
					}
				}
				h.Submit(list[i%n], payload)
			}
			st, err := h.Close(within(b, 30*time.Second))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(st.Sent)/b.Elapsed().Seconds(), "sent/s")
			b.ReportMetric(float64(st.Messages)/float64(max(st.Sent, 1)), "msg/frame")
		})
	}
}

// BenchmarkRemoteFull measures Submit when the buffer is full: the way that a
// drop goes.
func BenchmarkRemoteFull(b *testing.B) {
	nc, _ := connect(b, startServer(b), false)
	r, err := Open(nc, node, WithBuffer(10, 10_000))
	h := open(b, r, err)
	payload := make([]byte, 128)
	b.ReportAllocs()
	for b.Loop() {
		h.Submit("c", payload)
	}
}

// BenchmarkPaced measures the way to settled, with a mux that commits at once.
func BenchmarkPaced(b *testing.B) {
	for _, n := range []int{1, 10, 5000} {
		b.Run(fmt.Sprintf("channels=%d", n), func(b *testing.B) {
			s := startServer(b)
			startMux(b, s)
			nc, _ := connect(b, s, true)
			p, err := OpenPaced(nc, node)
			openPaced(b, p, err)
			payload, list := make([]byte, 128), channels(n)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := p.Submit(context.Background(), list[i%n], payload); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := p.Close(within(b, 30*time.Second)); err != nil {
				b.Fatal(err)
			}
		})
	}
}
