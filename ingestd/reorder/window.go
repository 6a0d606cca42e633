package reorder

import (
	"sort"
	"time"

	"datastream/ingestd/ledger"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// Defaults of Config.
const (
	DefaultWait  = 250 * time.Millisecond
	DefaultBytes = 16 << 20
)

// passedRanges bounds what Pass remembers. What it forgets only costs a wait.
const passedRanges = 4096

// Config bounds a Window. A zero field takes its default.
type Config struct {
	Wait  time.Duration // how long a frame waits behind a hole
	Bytes int           // the cost of what waits at most, as frame.Run.Cost counts it
}

// A Window holds frames of one stream until every earlier position has gone on,
// will never come, was waited for long enough, or too much would wait for it.
type Window struct {
	cfg     Config
	next    subjects.Position // everything below went on, or was passed
	ready   []frame.Run       // in order, for the next Ready
	late    queue             // below next when pushed, for the next Ready
	waiting queue             // above next
	cost    int               // of waiting
	since   patience          // of waiting
	passed  ledger.Set        // will never come, above next
}

// New makes a window whose first position in order is next.
func New(next subjects.Position, cfg Config) *Window {
	if cfg.Wait <= 0 {
		cfg.Wait = DefaultWait
	}
	if cfg.Bytes <= 0 {
		cfg.Bytes = DefaultBytes
	}
	return &Window{cfg: cfg, next: next}
}

// Push takes a run's frames, none of which was pushed before. Those below Next
// are late, those at Next go on with the next Ready, and so does what waited
// for them; others wait. When more would wait than Bytes, the lowest of all that
// waits goes on until the rest fits: Next passes their holes, which stay open.
func (w *Window) Push(r frame.Run, now time.Time) {
	if r.Len() == 0 {
		return
	}
	if r.First() < w.next {
		n := w.below(r)
		w.late.push(r.Slice(0, n))
		if r = r.Slice(n, r.Len()); r.Len() == 0 {
			return
		}
	}
	if r = w.advance(r); r.Len() == 0 {
		return
	}
	w.cost += r.Cost()
	w.since.start(r.Last(), now)
	w.waiting.push(r)
	if w.cost > w.cfg.Bytes {
		w.shrink()
	}
}

// Pass says that positions will never come: what waits behind them need not.
// Those of them that come after all are late, or go on in order if Next has not
// reached them.
func (w *Window) Pass(r control.Range) {
	if r.From > r.To || r.To < w.next {
		return
	}
	r.From = max(r.From, w.next)
	if r.From > w.next && w.passed.Len() >= passedRanges && !w.passed.Has(r.From-1) {
		return
	}
	w.passed.Add(r)
	w.advance(frame.Run{})
}

// Ready appends what may go on: to ready everything up to the first hole that
// may still be waited for, in ascending positions above what went on before,
// as runs of consecutive frames; to late, ascending, what was below Next when it
// was pushed.
func (w *Window) Ready(now time.Time, ready, late []frame.Run) (r, l []frame.Run) {
	if pos, ok := w.since.lost(now.Add(-w.cfg.Wait)); ok {
		w.flush(pos)
	}
	for !w.late.empty() {
		late = append(late, w.late.take())
	}
	return w.handOver(ready), late
}

// Force appends everything that waits, as Ready would after Wait; late frames
// stay for Ready. The holes are passed.
func (w *Window) Force(ready []frame.Run) []frame.Run {
	w.flush(subjects.MaxPosition)
	return w.handOver(ready)
}

// Next is the position up to which everything went on, is about to with the
// next Ready, or was passed.
func (w *Window) Next() subjects.Position { return w.next }

// Waiting is the cost of the frames that wait behind a hole.
func (w *Window) Waiting() int { return w.cost }

// Deadline is when Ready will give more without another Push or Pass. What those
// made ready or late can be had at once.
func (w *Window) Deadline() (time.Time, bool) {
	since, ok := w.since.since()
	if !ok {
		return time.Time{}, false
	}
	return since.Add(w.cfg.Wait), true
}

// below is how many frames of r lie below next.
func (w *Window) below(r frame.Run) int {
	return sort.Search(r.Len(), func(i int) bool { return r.Pos(i) >= w.next })
}

// advance moves everything that is in order from the waiting frames and from r
// to ready, and returns what is left of r.
func (w *Window) advance(r frame.Run) frame.Run {
	for {
		first, own := subjects.MaxPosition+1, false
		if !w.waiting.empty() {
			first = w.waiting.first()
		}
		if r.Len() > 0 && r.First() <= first {
			first, own = r.First(), true
		}
		switch {
		case first <= w.next && own:
			n := r.Consecutive(0)
			w.emit(r.Slice(0, n))
			r = r.Slice(n, r.Len())
		case first <= w.next && !w.waiting.empty():
			w.takeWaiting()
		case !w.skip(first):
			w.settle()
			return r
		}
	}
}

// skip moves next over positions that will never come, up to the first frame.
func (w *Window) skip(first subjects.Position) bool {
	p, ok := w.passed.At(w.next)
	if ok {
		w.next = min(p.To+1, first)
	}
	return ok
}

// flush lets every waiting frame up to pos go on, and what is in order then.
func (w *Window) flush(pos subjects.Position) {
	for !w.waiting.empty() && w.waiting.first() <= pos {
		w.takeWaiting()
	}
	w.advance(frame.Run{})
}

// shrink lets the lowest waiting stretches go on until the others cost at most
// Bytes, and what is in order then.
func (w *Window) shrink() {
	for w.cost > w.cfg.Bytes {
		w.takeWaiting()
	}
	w.advance(frame.Run{})
}

// takeWaiting lets the lowest waiting stretch go on.
func (w *Window) takeWaiting() {
	r := w.waiting.take()
	w.cost -= r.Cost()
	w.emit(r)
}

// emit makes a stretch ready, and passes what lies before it. A stretch below
// next repeats positions: it is late, so that order holds whatever the caller
// does.
func (w *Window) emit(r frame.Run) {
	if r.First() < w.next {
		w.late.push(r)
		return
	}
	w.ready = append(w.ready, r)
	w.next = r.Last() + 1
}

// settle forgets what lies below next.
func (w *Window) settle() {
	w.since.pass(w.next)
	if w.passed.Len() > 0 && w.next > 0 {
		w.passed.Remove(control.Range{To: w.next - 1})
	}
}

// handOver appends what is ready and keeps no reference to it.
func (w *Window) handOver(ready []frame.Run) []frame.Run {
	ready = append(ready, w.ready...)
	clear(w.ready)
	w.ready = w.ready[:0]
	if cap(w.ready) > 2*frame.SliceFrames { // more than a slice of single frames: a flood
		w.ready = nil
	}
	return ready
}
