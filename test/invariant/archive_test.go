package invariant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// An archive is everything that is stored, read with the plain client.
type archive struct {
	nc    *nats.Conn
	space subjects.Space

	mu       sync.Mutex
	messages jetstream.MessagesContext
	next     uint64 // sequence
	lives    map[subjects.Stream]*life
}

// A life is what is stored of one stream.
type life struct {
	frames  map[subjects.Position]stored
	commits []control.Range // lowest and highest position of each commit
	last    frame.Commit
}

// stored is one frame.
type stored struct {
	channel subjects.Channel
	payload string
}

func newArchive(nc *nats.Conn, space subjects.Space) *archive {
	return &archive{nc: nc, space: space, next: 1, lives: map[subjects.Stream]*life{}}
}

// read takes in what was committed since it was last called. Each message must
// be one that ingest writes: canonical, of a decodable run, of positions that
// were not stored before (P7.2, P8.4, P9.6).
func (a *archive) read(t testing.TB) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, err := jetstream.New(a.nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(ctx, a.space.StreamName())
	if err != nil {
		t.Fatal(err)
	}
	end := s.CachedInfo().State.LastSeq
	if end < a.next {
		return
	}
	if a.messages == nil { // one reader for the archive's life: the server keeps those that are left for minutes
		c, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
		if err != nil {
			t.Fatal(err)
		}
		if a.messages, err = c.Messages(jetstream.PullMaxBytes(4 << 20)); err != nil {
			t.Fatal(err)
		}
	}
	for a.next <= end {
		m, err := a.messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			t.Fatalf("read the store at %d of %d: %v", a.next, end, err)
		}
		meta, err := m.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		if err := a.take(m); err != nil {
			t.Errorf("sequence %d of the store: %v", meta.Sequence.Stream, err)
		}
		a.next = meta.Sequence.Stream + 1
	}
}

// take books one message.
func (a *archive) take(m jetstream.Msg) error {
	st, channel, err := a.space.ParseStore(m.Subject())
	if err != nil {
		return err
	}
	for name := range m.Headers() {
		if !slices.Contains(ours, name) {
			return fmt.Errorf("%q bears the header %q, which is not ours", m.Subject(), name)
		}
	}
	run, err := frame.Decode(channel, m.Headers(), m.Data())
	if err != nil {
		return err
	}
	l := a.lives[st]
	if l == nil {
		l = &life{frames: map[subjects.Position]stored{}}
		a.lives[st] = l
	}
	for i := range run.Len() {
		p := run.Pos(i)
		if old, ok := l.frames[p]; ok {
			return fmt.Errorf("position %v of %v is stored twice: %.60q, then %.60q", p, st, old.payload, run.Payload(i))
		}
		l.frames[p] = stored{channel: channel, payload: string(run.Payload(i))}
	}
	return l.book(run, m.Headers().Get(frame.HeaderCommit))
}

// book notes which commit a run belongs to.
func (l *life) book(run frame.Run, header string) error {
	c, err := frame.ParseCommit(header)
	if err != nil {
		return err
	}
	if n := len(l.commits); n == 0 || c != l.last {
		l.last = c
		l.commits = append(l.commits, control.Range{From: run.First(), To: run.Last()})
	} else {
		r := &l.commits[n-1]
		r.From, r.To = min(r.From, run.First()), max(r.To, run.Last())
	}
	return nil
}

// ours are the headers that a stored message may bear: the frame's, the batch
// protocol's, and those with which ingest fences its writes.
var ours = []string{
	frame.HeaderPos, frame.HeaderRun, frame.HeaderCommit,
	"Nats-Batch-Id", "Nats-Batch-Sequence", "Nats-Batch-Commit",
	jetstream.ExpectedLastSeqHeader, jetstream.ExpectedStreamHeader,
}

// subjects are those of everything stored, as the server lists them.
func (a *archive) subjects(t testing.TB) map[string]uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, err := jetstream.New(a.nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(ctx, a.space.StreamName())
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		t.Fatal(err)
	}
	if len(info.State.Subjects) == 0 {
		t.Fatal("the server lists no subjects")
	}
	return info.State.Subjects
}

// close ends the reader.
func (a *archive) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.messages != nil {
		a.messages.Stop()
	}
}

// life is what is stored of a stream, as of the last read.
func (a *archive) life(st subjects.Stream) *life {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.lives[st]; l != nil {
		return l
	}
	return &life{}
}

// of are the streams of a node.
func (a *archive) of(n subjects.Node) (out []subjects.Stream) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for st := range a.lives {
		if st.Node == n {
			out = append(out, st)
		}
	}
	return out
}

// one is the only stream of a node.
func (a *archive) one(t testing.TB, n subjects.Node) subjects.Stream {
	t.Helper()
	all := a.of(n)
	if len(all) != 1 {
		t.Fatalf("node %q has %d stored streams, not one", n, len(all))
	}
	return all[0]
}

// positions are those stored, ascending.
func (l *life) positions() []subjects.Position {
	return slices.Sorted(maps.Keys(l.frames))
}

// gaps are the holes that readers derive (P8.3): a leading one and interior
// ones.
func (l *life) gaps() (out []control.Range) {
	next := subjects.Position(0)
	for _, p := range l.positions() {
		if p > next {
			out = append(out, control.Range{From: next, To: p - 1})
		}
		next = p + 1
	}
	return out
}

// gapsTo are the gaps of a life that is over, with what it lost at its end.
func (l *life) gapsTo(assigned subjects.Position) []control.Range {
	out := l.gaps()
	next := subjects.Position(0)
	if all := l.positions(); len(all) > 0 {
		next = all[len(all)-1] + 1
	}
	if next < assigned {
		out = append(out, control.Range{From: next, To: assigned - 1})
	}
	return out
}

// sum is how many positions ranges have.
func sum(ranges []control.Range) (n uint64) {
	for _, r := range ranges {
		n += r.Len()
	}
	return n
}

// payloads are those of a channel by position.
func (l *life) payloads(c subjects.Channel) (out []string) {
	for _, p := range l.positions() {
		if f := l.frames[p]; f.channel == c {
			out = append(out, f.payload)
		}
	}
	return out
}
