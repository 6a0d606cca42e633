package source

import (
	"context"
	"fmt"
	"os"
	"time"

	"datastream/subjects"
)

// pipeChunk is how much of an output is read at once; two such are in use.
const pipeChunk = 64 << 10

// An output is one stream of a process on its way to a channel. One goroutine
// reads it, so that another can keep time: not every system can give a read a
// deadline.
type output struct {
	p       *Process
	channel subjects.Channel
	r       *os.File
	full    chan []byte   // read, in order; closed at the end of the stream
	empty   chan []byte   // to be read into
	over    chan struct{} // closed when the process has ended
	records *records

	// The results, to be read when copy has returned.
	taken, cut, refused uint64
	leftOpen            bool
}

func newOutput(p *Process, c subjects.Channel, r *os.File) *output {
	o := &output{
		p: p, channel: c, r: r,
		full: make(chan []byte), empty: make(chan []byte, 2), over: make(chan struct{}),
		records: newRecords(p.cfg.Text, 0),
	}
	o.empty <- make([]byte, pipeChunk)
	o.empty <- make([]byte, pipeChunk)
	return o
}

// ended says that the process has ended: the stream ends when nobody holds it
// open, or when it stays silent for the linger.
func (o *output) ended() { close(o.over) }

// pump reads until the stream ends or quit is closed. The stream is its to
// close.
func (o *output) pump(quit <-chan struct{}) {
	defer close(o.full)
	defer closeAll(o.r)
	for {
		var b []byte
		select {
		case b = <-o.empty:
		case <-quit:
			return
		}
		n, err := o.r.Read(b[:cap(b)])
		if n > 0 {
			select {
			case o.full <- b[:n]:
			case <-quit:
				return
			}
		}
		if err != nil {
			return // the end, or a pipe that cannot be read on, which is the same
		}
	}
}

// copy submits the stream, record by record.
func (o *output) copy(ctx context.Context) {
	quit := make(chan struct{})
	defer close(quit)
	go o.pump(quit)
	give := func(r record) { o.submit(ctx, r) }
	defer func() { o.records.flush(time.Now(), give) }()
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	over, silent, twice := o.over, time.Time{}, false
	for {
		due.Reset(o.next(silent))
		select {
		case b, ok := <-o.full:
			if !ok {
				return
			}
			o.records.feed(b, time.Now(), give)
			o.empty <- b
			silent, twice = o.silence(over == nil), false
		case <-over:
			over, silent = nil, o.silence(true)
		case now := <-due.C:
			if at, open := o.records.due(); open && !now.Before(at) {
				o.records.close(give)
			}
			if silent.IsZero() || now.Before(silent) {
				continue
			}
			if twice {
				o.abandon()
				return
			}
			silent, twice = o.silence(true), true
		case <-ctx.Done():
			o.abandon()
			return
		}
	}
}

// silence is when half a linger has passed. A stream that outlives its process
// is given up after the second half: after the first alone, this process may
// have been suspended, and the last output not be read yet.
func (o *output) silence(ended bool) time.Time {
	if !ended {
		return time.Time{}
	}
	return time.Now().Add(o.p.cfg.Linger / 2)
}

// next is how long until something is due.
func (o *output) next(silent time.Time) time.Duration {
	wait := time.Hour
	if !silent.IsZero() {
		wait = min(wait, time.Until(silent))
	}
	if at, open := o.records.due(); open {
		wait = min(wait, time.Until(at))
	}
	return wait
}

// abandon leaves a stream that is still open. Where a read cannot be
// interrupted, its goroutine ends with the last holder of the stream.
func (o *output) abandon() {
	o.leftOpen = true
	_ = o.r.SetReadDeadline(time.Now())
	o.p.cfg.OnNotice(fmt.Sprintf("%s: still held open after the end of the process: not read any further", o.channel))
}

func (o *output) submit(ctx context.Context, r record) {
	if r.cut {
		o.cut++
	}
	if err := o.p.to.Submit(ctx, o.channel, r.text); err != nil {
		if o.refused == 0 {
			o.p.cfg.OnNotice(fmt.Sprintf("a record of %s was not taken: %v", o.channel, err))
		}
		o.refused++
		return
	}
	o.taken++
}
