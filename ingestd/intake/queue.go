package intake

import (
	"datastream/ingestd/store"
	"datastream/subjects/frame"
)

// A queue holds the runs that wait for their commit, in the order in which
// they may be committed.
type queue struct {
	items []item
	head  int
	bytes int // cost of the frames held

	ready, late []frame.Run // scratch for the windows
}

// An item is a run of consecutive frames, or a late one that is kept apart.
type item struct {
	stream *stream
	run    frame.Run
	late   bool
	alone  bool // is a commit of its own: one like it can never be stored
}

func (q *queue) empty() bool { return q.head == len(q.items) }

// push appends what a window let go: late frames first, for they lie below.
func (q *queue) push(s *stream, ready, late []frame.Run) {
	for _, r := range late {
		q.add(item{stream: s, run: r, late: true})
	}
	for _, r := range ready {
		q.add(item{stream: s, run: r})
	}
}

// add splits what a Cutter would split, so that an item never makes more than
// one message.
func (q *queue) add(it item) {
	for r := it.run; r.Len() > 0; {
		n, _ := r.Fit()
		q.items = append(q.items, item{stream: it.stream, run: r.Slice(0, n), late: it.late})
		r = r.Slice(n, r.Len())
	}
	q.bytes += it.run.Cost()
}

// unread puts messages back at the front, after a commit that failed.
func (q *queue) unread(msgs []item) {
	rest := q.items[q.head:]
	items := make([]item, 0, len(msgs)+len(rest))
	for _, m := range msgs {
		q.bytes += m.run.Cost()
		items = append(items, m)
	}
	q.items, q.head = append(items, rest...), 0
}

// sift replaces the first item by what of it is not committed yet, and
// reports whether that is another item or none.
func (q *queue) sift() bool {
	it := q.items[q.head]
	left := it.stream.account.Uncommitted(it.run, nil)
	if len(left) == 1 && left[0].Len() == it.run.Len() {
		return false
	}
	q.bytes -= it.run.Cost()
	q.items[q.head] = item{}
	q.head++
	items := make([]item, len(left))
	for i, r := range left {
		items[i] = item{stream: it.stream, run: r, late: true, alone: it.alone}
	}
	q.unread(items)
	return true
}

// A batcher turns queued items into the messages of one commit.
type batcher struct {
	cutters map[*stream]*frame.Cutter
	spare   []*frame.Cutter // emptied, for the next commit
	order   []*stream
	cuts    []frame.Cut
	msgs    []store.Message
	streams []*stream // of each message
	runs    int       // messages so far, at most
	bytes   int
}

// next takes from the queue what one commit may hold. Small runs of a channel
// are joined within a slice, so that a commit of many frames is few messages.
func (q *queue) next(b *batcher, maxMessages, maxBytes int) job {
	b.reset()
	for !q.empty() {
		it := q.items[q.head]
		if it.stream.shared && q.sift() {
			continue
		}
		size := it.run.Bytes()
		if b.runs > 0 && (it.alone || b.runs >= maxMessages || b.bytes+size > maxBytes) {
			break
		}
		b.add(it, size)
		q.bytes -= it.run.Cost()
		q.items[q.head] = item{}
		q.head++
		if it.alone {
			break
		}
	}
	if q.empty() {
		q.items, q.head = q.items[:0], 0
	}
	return b.finish()
}

// maxSpare bounds the cutters kept: one remembers its largest slice.
const maxSpare = 16

func (b *batcher) reset() {
	for _, c := range b.cutters {
		if len(b.spare) < maxSpare {
			b.spare = append(b.spare, c)
		}
	}
	clear(b.cutters)
	if b.cutters == nil {
		b.cutters = make(map[*stream]*frame.Cutter)
	}
	b.order = b.order[:0]
	b.msgs, b.streams = nil, nil
	b.runs, b.bytes = 0, 0
}

func (b *batcher) add(it item, size int) {
	b.bytes += size
	if it.late {
		b.emit(it.stream, it.run)
		b.runs++
		return
	}
	c := b.cutters[it.stream]
	if c == nil {
		c = &frame.Cutter{}
		if n := len(b.spare); n > 0 {
			c, b.spare = b.spare[n-1], b.spare[:n-1]
		}
		b.cutters[it.stream] = c
		b.order = append(b.order, it.stream)
	}
	if c.Full(it.run.Len(), size) {
		b.flush(it.stream, c)
	}
	before := c.Count()
	c.Add(it.run, false)
	b.runs += c.Count() - before
}

func (b *batcher) flush(s *stream, c *frame.Cutter) {
	b.cuts = c.Runs(b.cuts[:0])
	for _, cut := range b.cuts {
		b.emit(s, cut.Run)
	}
}

func (b *batcher) emit(s *stream, r frame.Run) {
	b.msgs = append(b.msgs, store.Message{Stream: s.id, Run: r})
	b.streams = append(b.streams, s)
}

func (b *batcher) finish() job {
	for _, s := range b.order {
		b.flush(s, b.cutters[s])
	}
	return job{msgs: b.msgs, streams: b.streams}
}
