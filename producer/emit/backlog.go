package emit

import (
	"sync"

	"datastream/subjects"
	"datastream/subjects/frame"
)

const (
	chunkBytes = 64 << 10
	// aloneBytes is the size from which a payload gets memory of its own, so
	// that a chunk's unused end stays small.
	aloneBytes = chunkBytes / 8
	// spareChunks is how many chunks are kept for later.
	spareChunks = 16
)

// A backlog is the bounded buffer between Submit and a handle's goroutine.
// Submit fills one batch while the goroutine sends another; they are exchanged
// whole, so that neither waits for the other, and reused, so that a frame costs
// no allocation.
type backlog struct {
	maxFrames int
	maxCost   int
	wake      chan struct{} // capacity 1: there is something to take
	// shared says that payloads are used after their batch is: then chunks are
	// never used again, and the rest of one serves the next batch.
	shared bool

	mu        sync.Mutex
	frames    int // held, until released
	cost      int
	fill      *batch
	spare     [][]byte
	closed    bool
	room      chan struct{} // closed when room is made; nil if nobody waits
	submitted uint64
	dropped   Drops
}

// A batch is submissions in order. The payloads lie in its chunks.
type batch struct {
	entries []entry
	missing []missing
	chunks  [][]byte
}

type entry struct {
	channel subjects.Channel
	payload []byte
}

// missing is submissions that were dropped before entry at.
type missing struct {
	at int
	n  uint64
}

func (b *batch) empty() bool { return len(b.entries) == 0 && len(b.missing) == 0 }

func newBacklog(c config) *backlog {
	return &backlog{maxFrames: c.frames, maxCost: c.bytes, wake: make(chan struct{}, 1), fill: new(batch)}
}

// entryCost is what a frame counts against the bound (P5.1).
func entryCost(c subjects.Channel, payload []byte) int {
	return len(payload) + len(c) + frame.Overhead
}

// submit takes a frame, or drops it and remembers where. A reason given by the
// caller drops it in any case.
func (q *backlog) submit(c subjects.Channel, payload []byte, reason Reason) Reason {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.submitted++
	if q.closed {
		q.dropped[ReasonClosed]++ // after the last mark: no number is left for it
		return ReasonClosed
	}
	if reason == ReasonNone && !q.fits(entryCost(c, payload)) {
		reason = ReasonFull
	}
	if q.fill.empty() {
		q.signal()
	}
	if reason != ReasonNone {
		q.dropped[reason]++
		q.fill.miss()
		return reason
	}
	q.put(c, payload)
	return ReasonNone
}

// offer takes a frame if there is room; else it returns a channel that is closed
// when there may be. Nothing is dropped, and only what is taken is counted.
func (q *backlog) offer(c subjects.Channel, payload []byte) (wait <-chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrClosed
	}
	if !q.fits(entryCost(c, payload)) {
		if q.room == nil {
			q.room = make(chan struct{})
		}
		return q.room, nil
	}
	q.submitted++
	if q.fill.empty() {
		q.signal()
	}
	q.put(c, payload)
	return nil, nil
}

// fits reports whether a frame has room. An empty backlog takes any frame.
func (q *backlog) fits(cost int) bool {
	return q.frames == 0 || (q.frames < q.maxFrames && q.cost+cost <= q.maxCost)
}

func (q *backlog) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// put copies the payload into the batch.
func (q *backlog) put(c subjects.Channel, payload []byte) {
	q.frames++
	q.cost += entryCost(c, payload)
	b := q.fill
	if len(payload) >= aloneBytes {
		b.entries = append(b.entries, entry{channel: c, payload: append([]byte(nil), payload...)})
		return
	}
	last := len(b.chunks) - 1
	if last < 0 || cap(b.chunks[last])-len(b.chunks[last]) < len(payload) {
		b.chunks = append(b.chunks, q.chunk())
		last++
	}
	at := len(b.chunks[last])
	b.chunks[last] = append(b.chunks[last], payload...)
	b.entries = append(b.entries, entry{channel: c, payload: b.chunks[last][at:]})
}

func (q *backlog) chunk() []byte {
	if n := len(q.spare); n > 0 {
		c := q.spare[n-1]
		q.spare = q.spare[:n-1]
		return c
	}
	return make([]byte, 0, chunkBytes)
}

// miss books one dropped submission after the entries so far.
func (b *batch) miss() {
	if n := len(b.missing); n > 0 && b.missing[n-1].at == len(b.entries) {
		b.missing[n-1].n++
		return
	}
	b.missing = append(b.missing, missing{at: len(b.entries), n: 1})
}

// take exchanges the filled batch for an empty one.
func (q *backlog) take(empty *batch) *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.fill
	q.fill = empty
	if n := len(b.chunks); n > 0 && q.shared {
		last := b.chunks[n-1]
		empty.chunks = append(empty.chunks, last[len(last):])
	}
	return b
}

// release makes room: so many frames no longer need it.
func (q *backlog) release(frames, cost int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.frames -= frames
	q.cost -= cost
	q.announceRoom()
}

func (q *backlog) announceRoom() {
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
}

// held is how many frames were taken and not released.
func (q *backlog) held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.frames
}

// drop counts frames that the handle's goroutine could not send.
func (q *backlog) drop(reason Reason, n uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped[reason] += n
}

// recycle empties a batch whose payloads nobody uses any more.
func (q *backlog) recycle(b *batch) {
	q.mu.Lock()
	for _, c := range b.chunks {
		if len(q.spare) < spareChunks {
			q.spare = append(q.spare, c[:0])
		}
	}
	q.mu.Unlock()
	b.reset()
}

// reset empties a batch and forgets its payloads.
func (b *batch) reset() {
	clear(b.entries)
	clear(b.chunks)
	*b = batch{entries: b.entries[:0], missing: b.missing[:0], chunks: b.chunks[:0]}
}

// close refuses whatever is submitted from now on.
func (q *backlog) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.announceRoom()
}

// counts is the state of the counters.
func (q *backlog) counts() (submitted uint64, dropped Drops) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.submitted, q.dropped
}
