package frame

import (
	"bytes"
	"fmt"
	"testing"

	"datastream/subjects"
)

// benchRun is a run of 64 frames of 128 bytes.
func benchRun(b *testing.B) Run {
	var c Cutter
	payload := bytes.Repeat([]byte("x"), 128)
	for p := range subjects.Position(64) {
		c.Add(Single("proc.trainer-7.stdout", p, payload), false)
	}
	cuts := c.Runs(nil)
	if len(cuts) != 1 {
		b.Fatalf("%d runs", len(cuts))
	}
	return cuts[0].Run
}

func perFrame(b *testing.B, frames int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(frames), "ns/frame")
}

func BenchmarkEncodeRun(b *testing.B) {
	r := benchRun(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = r.Header(), r.Body()
	}
	perFrame(b, r.Len())
}

func BenchmarkDecodeRun(b *testing.B) {
	r := benchRun(b)
	h, body := wire(r), r.Body()
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := Decode(r.Channel, h, body); err != nil {
			b.Fatal(err)
		}
	}
	perFrame(b, r.Len())
}

func BenchmarkDecodeSingle(b *testing.B) {
	h, body := map[string][]string{HeaderPos: {"123456789"}}, bytes.Repeat([]byte("x"), 128)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode("proc.trainer-7.stdout", h, body); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCutter cuts full slices of single frames: of one channel, of
// channels in turn, and of so many channels that nothing can be joined.
func BenchmarkCutter(b *testing.B) {
	for _, channels := range []int{1, 64, 5000} {
		b.Run(fmt.Sprintf("channels=%d", channels), func(b *testing.B) {
			payload := bytes.Repeat([]byte("x"), 128)
			slice := make([]Run, SliceFrames)
			for i := range slice {
				slice[i] = Single(subjects.Channel(fmt.Sprintf("proc.trainer-%d.stdout", i%channels)), subjects.Position(i), payload)
			}
			var c Cutter
			var cuts []Cut
			b.ReportAllocs()
			for b.Loop() {
				for _, r := range slice {
					c.Add(r, false)
				}
				cuts = c.Runs(cuts[:0])
			}
			perFrame(b, len(slice))
		})
	}
}
