package store

import (
	"fmt"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"datastream/subjects"
)

// benchWriter is a Writer to a fresh fsynced store.
func benchWriter(b *testing.B) (*Writer, *nats.Conn) {
	b.Helper()
	s, err := natsserver.NewServer(&server{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: b.TempDir(), SyncAlways: true, MaxPayload: 8 << 20})
	if err != nil {
		b.Fatal(err)
	}
	s.Start()
	b.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nc.Close)
	w, err := Open(b.Context(), nc, Config{Init: true, MaxBytes: 2 << 30})
	if err != nil {
		b.Fatal(err)
	}
	return w, nc
}

// benchMessages makes n runs of so many 128-byte frames over 500 channels.
func benchMessages(n, frames int) []Message {
	msgs := make([]Message, n)
	payloads := make([]string, frames)
	for i := range payloads {
		payloads[i] = strings.Repeat("x", 128)
	}
	for i := range msgs {
		c := subjects.Channel(fmt.Sprintf("proc.%d.stdout", i%500))
		msgs[i] = Message{stream, run(c, uint64(i*frames), payloads...)}
	}
	return msgs
}

func benchCommit(b *testing.B, msgs []Message) {
	w, _ := benchWriter(b)
	bytes, frames := 0, 0
	for _, m := range msgs {
		bytes += m.Run.Bytes()
		frames += m.Run.Len()
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	now := int64(0)
	for b.Loop() {
		now++
		if err := w.Commit(b.Context(), now, msgs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

func BenchmarkCommit1000Singles(b *testing.B)  { benchCommit(b, benchMessages(1000, 1)) }
func BenchmarkCommit256Runs16KiB(b *testing.B) { benchCommit(b, benchMessages(256, 127)) }
func BenchmarkCommit1(b *testing.B)            { benchCommit(b, benchMessages(1, 1)) }

func BenchmarkCommitEach8(b *testing.B) {
	w, _ := benchWriter(b)
	msgs := benchMessages(8, 1)
	b.ReportAllocs()
	now := int64(0)
	for b.Loop() {
		now++
		if n, err := w.CommitEach(b.Context(), now, msgs); n != 8 || err != nil {
			b.Fatal(n, err)
		}
	}
}

func benchScan(b *testing.B, head bool, msgs []Message) {
	w, nc := benchWriter(b)
	frames := 0
	for i := range 40 {
		if err := w.Commit(b.Context(), int64(i), msgs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		frames = 0
		_, _, err := Scan(b.Context(), nc, Config{}, 0, head, func(s Stored) error { frames += s.Run.Len(); return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

func BenchmarkScanSingles(b *testing.B)      { benchScan(b, false, benchMessages(1000, 1)) }
func BenchmarkScanSinglesHeads(b *testing.B) { benchScan(b, true, benchMessages(1000, 1)) }
func BenchmarkScanRuns(b *testing.B)         { benchScan(b, false, benchMessages(256, 127)) }
func BenchmarkScanRunsHeads(b *testing.B)    { benchScan(b, true, benchMessages(256, 127)) }

// A range of whole commits with payloads, as a query reads it, and the search
// for where it begins.
func benchRead(b *testing.B, filter string, msgs []Message) {
	w, nc := benchWriter(b)
	for i := range 40 {
		if err := w.Commit(b.Context(), int64(i), msgs); err != nil {
			b.Fatal(err)
		}
	}
	r, err := NewReader(b.Context(), nc, Config{})
	if err != nil {
		b.Fatal(err)
	}
	frames := 0
	b.ReportAllocs()
	for b.Loop() {
		frames = 0
		err := r.Read(b.Context(), 1, w.LastSeq(), filter, func(c Commit) error {
			for _, s := range c.Messages {
				frames += s.Run.Len()
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

func BenchmarkReadSingles(b *testing.B) { benchRead(b, "", benchMessages(1000, 1)) }
func BenchmarkReadRuns(b *testing.B)    { benchRead(b, "", benchMessages(256, 127)) }
func BenchmarkReadOneOf500(b *testing.B) {
	benchRead(b, "ds.store.*.*.proc.7.stdout", benchMessages(1000, 1))
}
func BenchmarkReadFiltered(b *testing.B) { benchRead(b, "ds.store.n1.>", benchMessages(1000, 1)) }

func BenchmarkFind(b *testing.B) {
	w, nc := benchWriter(b)
	msgs := benchMessages(1000, 1)
	for i := range 40 {
		if err := w.Commit(b.Context(), int64(i), msgs); err != nil {
			b.Fatal(err)
		}
	}
	r, err := NewReader(b.Context(), nc, Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e, err := r.End(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if seq, err := r.Find(b.Context(), 17, e); seq != 17_001 || err != nil {
			b.Fatal(seq, err)
		}
	}
}
