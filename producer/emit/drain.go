package emit

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/subjects"
	"datastream/subjects/frame"
)

const (
	// maxStep is the largest step of numbers that a mux takes for a loss
	// (P4.2): a longer one is told by marks in between.
	maxStep = 1 << 20
	// idleMarks is how often an idle handle repeats its next number.
	idleMarks = 4
	// pollInterval bounds how long a reconnect can go unseen if its event was
	// missed.
	pollInterval = 50 * time.Millisecond
	// flushTimeout bounds one round trip to the server.
	flushTimeout = 2 * time.Second
	// markChannel bears the marks of a handle that has used no channel yet.
	markChannel subjects.Channel = "mark"
)

// A drain is the goroutine of a Remote: it empties the backlog, numbers what it
// sends, and marks where it stands. Its fields are its own but for the atomics.
type drain struct {
	ctx     context.Context
	cfg     config
	nc      *nats.Conn
	backlog *backlog
	closing <-chan struct{}
	done    chan<- struct{}

	wire     *wire
	slicer   slicer
	batch    *batch // empty, to exchange for a filled one
	status   chan nats.Status
	idle     *time.Timer
	marks    int // idle marks to come
	gone     bool
	producer string
	next     uint64           // the number of the next frame
	told     uint64           // the next number, as the mux was last told
	channel  subjects.Channel // the one last used

	sentFrames, sentMessages, sentMarks atomic.Uint64
	flushed                             atomic.Bool // the last mark reached the server
}

func newDrain(ctx context.Context, h *Remote, node subjects.Node) *drain {
	idle := time.NewTimer(time.Hour)
	idle.Stop()
	return &drain{
		ctx:      ctx,
		cfg:      h.cfg,
		nc:       h.nc,
		backlog:  h.backlog,
		closing:  h.closing,
		done:     h.done,
		wire:     newWire(h.nc, h.cfg.space, node),
		batch:    new(batch),
		status:   h.nc.StatusChanged(nats.CONNECTED, nats.CLOSED),
		idle:     idle,
		producer: mintProducer(),
		channel:  markChannel,
	}
}

// sent is the drain's part of the statistics.
func (d *drain) sent() Stats {
	return Stats{Sent: d.sentFrames.Load(), Messages: d.sentMessages.Load(), Marks: d.sentMarks.Load()}
}

func (d *drain) run() {
	defer close(d.done)
	defer d.idle.Stop()
	defer d.nc.RemoveStatusListener(d.status)
	d.introduce()
	for open := true; open; {
		open = d.wait()
		d.pass()
	}
	d.finish()
}

// introduce makes the mux know this producer at number 0 before any frame is
// sent: only so is a loss of the very first frames seen. It ends when the server
// has the mark for certain.
func (d *drain) introduce() {
	for !d.over() && !(d.mark() && d.flush()) {
		d.await()
	}
}

// over reports whether nothing can be sent any more.
func (d *drain) over() bool { return d.gone || d.ctx.Err() != nil }

// wait returns when there may be something to send; false if for the last time.
func (d *drain) wait() bool {
	select {
	case <-d.backlog.wake:
	case s, ok := <-d.status:
		d.heard(s, ok)
	case <-d.idle.C:
		if d.mark() && d.marks > 0 {
			d.marks--
			d.idle.Reset(d.cfg.idleNext)
		}
	case <-d.closing:
		return false
	case <-d.ctx.Done():
		return false
	}
	return true
}

// heard acts on a change of the connection: after a reconnect the first thing
// is a mark, which shows what was lost on the way.
func (d *drain) heard(s nats.Status, ok bool) {
	switch {
	case !ok:
		d.status = nil
		d.checkGone()
	case s == nats.CONNECTED:
		d.mark()
	case s == nats.CLOSED:
		d.lose()
	}
}

// lose notes that the connection is closed for good.
func (d *drain) lose() {
	if !d.gone {
		d.gone = true
		d.backlog.close()
		d.cfg.onNotice("the connection is closed for good: this handle drops what it holds and takes nothing more")
	}
}

func (d *drain) checkGone() {
	if d.nc.IsClosed() {
		d.lose()
	}
}

// pass sends everything that waits.
func (d *drain) pass() {
	b := d.backlog.take(d.batch)
	d.batch = b
	if b.empty() {
		return
	}
	entries, missing, base := b.entries, b.missing, 0
	for len(entries) > 0 {
		runs, n := d.slicer.slice(entries)
		d.sendSlice(runs, n)
		d.release(entries[:n])
		entries, base = entries[n:], base+n
		// What was dropped within the slice spends its numbers after it.
		for len(missing) > 0 && missing[0].at <= base {
			d.skip(missing[0].n)
			missing = missing[1:]
		}
	}
	for _, m := range missing {
		d.skip(m.n)
	}
	d.backlog.recycle(b)
	d.marks = idleMarks - 1
	d.idle.Reset(d.cfg.idleFirst)
}

// release makes room for the frames of a slice that was sent or dropped.
func (d *drain) release(entries []entry) {
	cost := 0
	for i := range entries {
		cost += entryCost(entries[i].channel, entries[i].payload)
	}
	d.backlog.release(len(entries), cost)
}

// sendSlice publishes the runs of one slice, numbered as they leave.
func (d *drain) sendSlice(runs []frame.Cut, frames int) {
	for i := range runs {
		r := runs[i].Run
		d.channel = r.Channel
		switch reason := d.deliver(r); reason {
		case ReasonNone:
			d.sentMessages.Add(1)
			d.sentFrames.Add(uint64(r.Len()))
			d.next += uint64(r.Len())
			d.told = d.next
		case ReasonRefused:
			d.backlog.drop(reason, uint64(r.Len()))
			d.skip(uint64(r.Len()))
		default: // nothing can be sent any more
			d.backlog.drop(reason, uint64(frames))
			return
		}
		frames -= r.Len()
	}
}

// deliver publishes a run, waiting for the connection if it is away.
func (d *drain) deliver(r frame.Run) Reason {
	for {
		if d.over() {
			return ReasonUnsent
		}
		err := d.wire.publish(r, frame.Seq{Producer: d.producer, N: d.next}, "")
		switch judge(err) {
		case published:
			return ReasonNone
		case refused:
			d.cfg.onNotice(fmt.Sprintf("the connection refuses %d frames of channel %.80q: %v", r.Len(), string(r.Channel), err))
			return ReasonRefused
		case gone:
			d.lose()
		default:
			if d.await() {
				d.mark()
			}
		}
	}
}

// await waits until the connection is there again; false if that cannot be.
func (d *drain) await() bool {
	for !d.over() {
		select {
		case s, ok := <-d.status:
			if !ok {
				d.status = nil
			}
			if s == nats.CLOSED {
				d.lose()
			}
		case <-time.After(pollInterval):
		case <-d.ctx.Done():
		}
		d.checkGone()
		if d.nc.IsConnected() {
			return !d.over()
		}
	}
	return false
}

// skip spends numbers that no frame will bear. Steps longer than a mux takes for
// a loss are told piecewise.
func (d *drain) skip(n uint64) {
	for n > 0 {
		step := min(n, maxStep-(d.next-d.told))
		d.next += step
		n -= step
		for d.next-d.told >= maxStep && !d.mark() {
			if !d.await() {
				return // nobody is left to be told
			}
		}
	}
}

// mark publishes the next number, and reports whether it left.
func (d *drain) mark() bool {
	if d.over() {
		return false
	}
	err := d.wire.publish(frame.Run{Channel: d.channel}, frame.Seq{Producer: d.producer, N: d.next}, "")
	switch judge(err) {
	case published:
		d.told = d.next
		d.sentMarks.Add(1)
		return true
	case gone:
		d.lose()
	case refused:
		d.cfg.onNotice(fmt.Sprintf("the connection refuses a mark: %v", err))
	}
	return false
}

// flush waits until the server has everything; false if that is not certain.
func (d *drain) flush() bool {
	ctx, cancel := context.WithTimeout(d.ctx, flushTimeout)
	defer cancel()
	return d.nc.FlushWithContext(ctx) == nil
}

// finish sends the last mark.
func (d *drain) finish() {
	for !d.over() {
		if d.mark() && d.flush() {
			d.flushed.Store(true)
			return
		}
		d.await()
	}
}
