package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"datastream/subjects/frame"
)

// A Writer commits messages to one stream. It belongs to one goroutine, but
// for LastSeq and Foreign.
type Writer struct {
	access
	created time.Time // of the stream: another one is another store
	enc     *encoder

	inbox  string             // ends with a dot; a request's number follows
	asked  uint64             // the number of the last request
	sub    *nats.Subscription // to inbox and one token more
	acks   chan *nats.Msg
	status chan nats.Status // what the connection has lost
	timer  *time.Timer      // runs while a commit does

	subjects []string // of the messages of the commit that was begun

	limit   int           // messages in a batch
	instant int64         // of the last commit seen
	dirty   bool          // Resync must come next
	last    atomic.Uint64 // the last sequence known: the fence
	foreign atomic.Uint64
}

func newWriter(a access, info *jetstream.StreamInfo, limit int, instant int64) (*Writer, error) {
	w := &Writer{
		access: a, created: info.Created, limit: limit, instant: instant,
		enc:   newEncoder(a.cfg.Stream),
		inbox: a.nc.NewInbox() + ".",
		acks:  make(chan *nats.Msg, 8*EachMessages), // stale ones are taken out before each commit
		timer: time.NewTimer(time.Hour),
	}
	w.timer.Stop()
	w.last.Store(info.State.LastSeq)
	var err error
	if w.sub, err = a.nc.ChanSubscribe(w.inbox+"*", w.acks); err != nil {
		return nil, fmt.Errorf("subscribe to answers: %w", err)
	}
	w.status = a.nc.StatusChanged(nats.DISCONNECTED, nats.RECONNECTING, nats.CLOSED)
	return w, nil
}

// Close gives back what the Writer holds of the connection. The stream and
// the connection stay.
func (w *Writer) Close() error {
	w.nc.RemoveStatusListener(w.status)
	w.status = nil
	w.dirty = true
	if err := w.sub.Unsubscribe(); err != nil && w.nc.IsConnected() {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// LastSeq is the last sequence of the stream that the Writer knows: of its
// own last commit, or of the end that Open or Resync found.
func (w *Writer) LastSeq() uint64 { return w.last.Load() }

// Foreign is how many foreign messages Resync has come upon (P8.4).
func (w *Writer) Foreign() uint64 { return w.foreign.Load() }

// Limit is the most messages in one commit: the configured number, or the
// server's own where that is lower.
func (w *Writer) Limit() int { return w.limit }

// Take is how many of the messages, from the first on, make one commit within
// the limits of messages and bytes: at least one, if there are any.
func (w *Writer) Take(msgs []Message) int {
	n, bytes := 0, 0
	for n < len(msgs) && n < w.limit {
		bytes += len(msgs[n].Run.Body())
		if n > 0 && bytes > w.cfg.BatchBytes {
			break
		}
		n++
	}
	return n
}

// begin makes ready for a commit: nothing is dirty, every message can be
// stored, no answer to an older request is left, and the clock runs.
func (w *Writer) begin(now int64, msgs []Message, limit int) error {
	if w.dirty {
		return ErrResync
	}
	if len(msgs) > limit {
		return fmt.Errorf("%w: %d messages, at most %d make one commit", ErrMessage, len(msgs), limit)
	}
	maxPayload := int(w.nc.MaxPayload())
	w.subjects = w.subjects[:0]
	for i := range msgs {
		if err := checkRun(msgs[i].Run, maxPayload); err != nil {
			return err
		}
		subject, err := w.known.subject(w.cfg.Space, &msgs[i])
		if err != nil {
			return err
		}
		w.subjects = append(w.subjects, subject)
	}
	for len(w.acks) > 0 {
		<-w.acks
	}
	for len(w.status) > 0 {
		<-w.status
	}
	w.dirty = true // until the commit has succeeded
	if !w.nc.IsConnected() {
		return fmt.Errorf("%w: the connection is %v", ErrUnclear, w.nc.Status())
	}
	w.instant = max(w.instant, now)
	w.timer.Reset(w.cfg.Timeout)
	return nil
}

// end closes a commit of n messages that was begun.
func (w *Writer) end(n int, err error) {
	w.timer.Stop()
	w.last.Add(uint64(n))
	w.dirty = err != nil
	if limit := batchLimit(err); limit > 0 { // the server was configured anew
		w.limit = min(w.limit, limit)
	}
}

// next is the commit of n messages after skip more.
func (w *Writer) next(skip, n int) frame.Commit {
	return frame.Commit{First: w.last.Load() + 1 + uint64(skip), Count: uint64(n), Instant: w.instant}
}

// publish sends the run of the i-th message; an empty reply asks for no answer.
func (w *Writer) publish(i int, r frame.Run, reply string) error {
	switch err := w.nc.PublishMsg(w.enc.message(w.subjects[i], reply, r)); {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload): // reconnected to a server that takes less
		return fmt.Errorf("%w: a run of channel %q with %d bytes: %w", ErrMessage, r.Channel, len(r.Body()), err)
	default:
		return fmt.Errorf("%w: %w", ErrUnclear, err)
	}
}

// ask makes the subject for the answer to a new request.
func (w *Writer) ask() string {
	w.asked++
	return w.inbox + strconv.FormatUint(w.asked, 10)
}

// answer waits for any answer and says to which request it is.
func (w *Writer) answer(ctx context.Context) (*nats.Msg, uint64, error) {
	select { // what has come counts, though the connection broke since
	case m := <-w.acks:
		return m, w.number(m), nil
	default:
	}
	select {
	case m := <-w.acks:
		return m, w.number(m), nil
	case s := <-w.status:
		return nil, 0, fmt.Errorf("%w: the connection is %v", ErrUnclear, s)
	case <-w.timer.C:
		return nil, 0, fmt.Errorf("%w: no answer in %v", ErrUnclear, w.cfg.Timeout)
	case <-ctx.Done():
		return nil, 0, fmt.Errorf("%w: %w", ErrUnclear, context.Cause(ctx))
	}
}

// number says which request a message answers, 0 if none.
func (w *Writer) number(m *nats.Msg) uint64 {
	text, _ := strings.CutPrefix(m.Subject, w.inbox)
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}
