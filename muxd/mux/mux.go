package mux

import (
	"hash/maphash"
	"sync"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// Defaults of Config (P1.4, P5.4).
const (
	DefaultMaxFrame     = frame.MaxPayload
	DefaultBufferFrames = 65536
	DefaultBufferBytes  = 16 << 20
	DefaultChannels     = 20000
)

// Config is what a Mux may be told. Fields that are not above zero take their
// defaults.
type Config struct {
	// MaxFrame is the largest payload, in bytes.
	MaxFrame int
	// BufferFrames and BufferBytes bound what a stream holds between Submit
	// and Drain; bytes by frame.Run.Cost.
	BufferFrames, BufferBytes int
	// Channels bounds how many channels a stream bears.
	Channels int
}

func (c Config) withDefaults() Config {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&c.MaxFrame, DefaultMaxFrame)
	set(&c.BufferFrames, DefaultBufferFrames)
	set(&c.BufferBytes, DefaultBufferBytes)
	set(&c.Channels, DefaultChannels)
	return c
}

// A Mux is the one authority for the positions of one stream. Make one with
// New. All methods are safe from any goroutine, but Drain, which one goroutine
// at a time may call.
type Mux struct {
	stream subjects.Stream
	node   string // as answers spell it
	cfg    Config
	shared *Shared

	mu      sync.Mutex
	next    subjects.Position
	drained subjects.Position
	closed  bool
	buffer  []item
	frames  int // buffered, with what Drain has swapped out and not cut yet
	bytes   int
	dropped [Reasons]uint64
	// channels holds hashes, so that names of 512 bytes do not stay for the
	// stream's life. Two names of one hash count as one: the bound is then
	// passed by one channel in some 10^11.
	channels map[uint64]struct{}

	drain drain // of the goroutine that drains
}

// item is buffered frames of one channel, at consecutive positions from first.
type item struct {
	run   frame.Run // bears no positions yet
	first subjects.Position
	paced bool
}

// New makes the mux of a stream, at position 0. Shared may be nil.
func New(st subjects.Stream, cfg Config, shared *Shared) *Mux {
	return &Mux{
		stream: st, node: subjects.EncodeNode(st.Node), cfg: cfg.withDefaults(), shared: shared,
		channels: make(map[uint64]struct{}),
	}
}

// Stream is the stream whose positions the mux gives.
func (m *Mux) Stream() subjects.Stream { return m.stream }

// Taken is what became of a submission.
type Taken struct {
	// First is the position of the first frame; the others follow it.
	First subjects.Position
	// Frames is the positions spent.
	Frames int
	// Kept is the frames buffered; the others were dropped and counted.
	Kept int
}

// Submit gives the frames of a run consecutive positions and buffers them, in
// one critical section. Frames that find no room are dropped from the run's
// end; their positions stay spent. It never waits for room. The run belongs to
// the mux from here on: its positions, whatever they were, are rewritten.
//
// It reports false, and takes nothing, when the mux is closed or too few
// positions are left.
func (m *Mux) Submit(r frame.Run, paced bool) (Taken, bool) {
	channel, n := hash(r.Channel), r.Len()
	m.mu.Lock()
	defer m.mu.Unlock()
	first, ok := m.spend(uint64(n))
	if !ok {
		return Taken{}, false
	}
	t := Taken{First: first, Frames: n}
	switch {
	case n == 0:
	case !m.admits(channel):
		m.dropped[ReasonChannels] += uint64(n)
	default:
		t.Kept = m.keep(r, first, paced)
	}
	return t, true
}

// Skip spends n positions on frames that were lost before the mux. It reports
// false, and spends nothing, when the mux is closed or too few positions are
// left.
func (m *Mux) Skip(n uint64, why Reason) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.spend(n)
	if ok {
		m.dropped[min(why, Reasons-1)] += n
	}
	return ok
}

// Close ends the life: no more positions are given. What is buffered can
// still be drained.
func (m *Mux) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
}

// Closed reports whether Close was called.
func (m *Mux) Closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// closeAt closes the mux if no position was given since it had so many.
func (m *Mux) closeAt(assigned subjects.Position) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.next != assigned {
		return false
	}
	m.closed = true
	return true
}

// spend takes the next n positions, all or none.
func (m *Mux) spend(n uint64) (first subjects.Position, ok bool) {
	if left := uint64(subjects.MaxPosition + 1 - m.next); m.closed || n > left {
		return 0, false
	}
	first = m.next
	m.next += subjects.Position(n)
	return first, true
}

// keep buffers what has room of a run whose positions are spent, and counts
// the rest. Frames that are too big go one by one, in a run by themselves.
func (m *Mux) keep(r frame.Run, first subjects.Position, paced bool) (kept int) {
	for i := 0; i < r.Len(); i++ {
		j := m.sound(r, i)
		if j > i {
			kept += m.buffered(r.Slice(i, j), first+subjects.Position(i), paced)
		}
		if j < r.Len() {
			m.dropped[ReasonTooBig]++
		}
		i = j
	}
	return kept
}

// sound is the index of the first frame from i on that is too big.
func (m *Mux) sound(r frame.Run, i int) int {
	if r.Slice(i, r.Len()).Bytes() <= m.cfg.MaxFrame {
		return r.Len()
	}
	for i < r.Len() && len(r.Payload(i)) <= m.cfg.MaxFrame {
		i++
	}
	return i
}

// buffered buffers as many frames from the front of r as there is room for.
func (m *Mux) buffered(r frame.Run, first subjects.Position, paced bool) int {
	n := min(r.Len(), m.cfg.BufferFrames-m.frames)
	n, cost := prefix(r.Slice(0, n), m.cfg.BufferBytes-m.bytes)
	m.dropped[ReasonBuffer] += uint64(r.Len() - n)
	if !m.shared.reserve(cost) {
		fits := 0
		if fits, cost = prefix(r.Slice(0, n), m.shared.free()); !m.shared.reserve(cost) {
			fits, cost = 0, 0 // others were faster: as full as before
		}
		m.dropped[ReasonProcess] += uint64(n - fits)
		n = fits
	}
	if n > 0 {
		m.hold(r.Slice(0, n), first, paced, cost)
	}
	return n
}

// hold appends to the buffer; there is room.
func (m *Mux) hold(r frame.Run, first subjects.Position, paced bool, cost int) {
	m.buffer = append(m.buffer, item{run: r, first: first, paced: paced})
	m.frames += r.Len()
	m.bytes += cost
}

// bears reports whether the stream has a channel, or may have one more.
func (m *Mux) bears(channel uint64) bool {
	if _, ok := m.channels[channel]; ok {
		return true
	}
	return len(m.channels) < m.cfg.Channels
}

// admits makes a channel one of the stream's, if it may be.
func (m *Mux) admits(channel uint64) bool {
	if _, ok := m.channels[channel]; ok {
		return true
	}
	if len(m.channels) >= m.cfg.Channels {
		return false
	}
	m.channels[channel] = struct{}{}
	return true
}

// prefix is how many frames from the front of r cost no more than room, and
// their cost.
func prefix(r frame.Run, room int) (n, cost int) {
	if cost = r.Cost(); cost <= room {
		return r.Len(), cost
	}
	cost = 0
	for ; n < r.Len(); n++ {
		c := len(r.Payload(n)) + len(r.Channel) + frame.Overhead
		if cost+c > room {
			break
		}
		cost += c
	}
	return n, cost
}

var seed = maphash.MakeSeed()

func hash(c subjects.Channel) uint64 { return maphash.String(seed, string(c)) }
