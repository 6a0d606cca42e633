package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// Commit writes the messages as one commit: all or nothing, fsynced before it
// returns nil. Take says how many make one. now is ingest's clock in
// nanoseconds; the commit's instant is never below the one before (P8.1).
//
// Any error wraps ErrUnclear, ErrFence, ErrFull, ErrNoStream, ErrMessage or
// ErrResync, or is the server's own. Resync must come before the next commit,
// but after ErrMessage and ErrResync, when nothing was sent, unless it was
// due already.
func (w *Writer) Commit(ctx context.Context, now int64, msgs []Message) error {
	if len(msgs) == 0 {
		return nil
	}
	if err := w.begin(now, msgs, w.limit); err != nil {
		return fmt.Errorf("commit %d messages: %w", len(msgs), err)
	}
	var err error
	if len(msgs) == 1 {
		_, err = w.singles(ctx, msgs)
	} else {
		err = w.batch(ctx, msgs)
	}
	if err != nil {
		w.end(0, err)
		return fmt.Errorf("commit %d messages: %w", len(msgs), err)
	}
	w.end(len(msgs), nil)
	return nil
}

// CommitEach writes up to 8 messages as pipelined fenced singles, each a
// commit of its own with the same instant. n says how many, from the first
// on, are certainly committed. The errors are those of Commit.
//
// Each is fenced by the sequence that the one before is to get. If that one is
// lost, so are all after it. But if something else has got it, which only
// another writer or a delayed write of ours can do, the fences of those before
// fail and this one's holds: it lands without them, and they, committed after
// the Resync, are late (P7.2). Still each is committed once.
func (w *Writer) CommitEach(ctx context.Context, now int64, msgs []Message) (n int, err error) {
	if len(msgs) == 0 {
		return 0, nil
	}
	if err := w.begin(now, msgs, EachMessages); err != nil {
		return 0, fmt.Errorf("commit each of %d messages: %w", len(msgs), err)
	}
	n, err = w.singles(ctx, msgs)
	w.end(n, err)
	if err != nil {
		return n, fmt.Errorf("commit each of %d messages: after %d: %w", len(msgs), n, err)
	}
	return n, nil
}

// singles publishes at most EachMessages messages and waits for every ack.
func (w *Writer) singles(ctx context.Context, msgs []Message) (int, error) {
	base := w.asked + 1
	for i := range msgs {
		w.enc.begin(w.next(i, 1))
		if err := w.publish(i, msgs[i].Run, w.ask()); err != nil {
			return 0, err
		}
	}
	// All are waited for, failed or not, so that a Resync finds them settled.
	var acked [EachMessages]bool
	var failed error
	for left := len(msgs); left > 0; {
		m, number, err := w.answer(ctx)
		if err != nil {
			failed = cmp.Or(failed, err)
			break
		}
		i := int(number - base)
		if number < base || i >= len(msgs) {
			continue // to an older request
		}
		left--
		err = w.check(ctx, m, w.next(i, 1).First, "", 0)
		acked[i] = err == nil
		failed = cmp.Or(failed, err)
	}
	n := 0
	for n < len(msgs) && acked[n] {
		n++
	}
	return n, failed
}

// batch publishes two or more messages as one atomic batch: all but the last
// without an answer, the last with the order to commit.
func (w *Writer) batch(ctx context.Context, msgs []Message) error {
	id, last := nuid.Next(), len(msgs)-1
	w.enc.begin(w.next(0, len(msgs)))
	for i := range msgs {
		reply := ""
		if i == last {
			reply = w.ask()
		}
		w.enc.batch(id, i+1, i == last)
		if err := w.publish(i, msgs[i].Run, reply); err != nil {
			return err
		}
	}
	for {
		m, number, err := w.answer(ctx)
		if err != nil {
			return err
		}
		if number == w.asked {
			return w.check(ctx, m, w.next(last, 1).First, id, len(msgs))
		}
	}
}

// check reads the answer to a commit whose last message is to have the
// sequence seq.
func (w *Writer) check(ctx context.Context, m *nats.Msg, seq uint64, batch string, count int) error {
	ack, err := readAck(m)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		// Nobody listens: the stream is gone, or its server is starting.
		if _, gone := w.find(ctx); errors.Is(gone, ErrNoStream) {
			return gone
		}
		return fmt.Errorf("%w: %w", ErrUnclear, err)
	case err != nil:
		return err
	case ack.Stream != w.cfg.Stream || ack.Seq != seq || ack.Batch != batch || ack.Count != count:
		return fmt.Errorf("%w: the server acknowledges %s, sequence %d, batch of %d, not %s, %d, %d",
			ErrUnclear, ack.Stream, ack.Seq, ack.Count, w.cfg.Stream, seq, count)
	}
	return nil
}

// pubAck is the server's answer to a publish.
type pubAck struct {
	Stream string              `json:"stream"`
	Seq    uint64              `json:"seq"`
	Batch  string              `json:"batch"`
	Count  int                 `json:"count"`
	Error  *jetstream.APIError `json:"error"`
}

// readAck reads an answer and gives a refusal its class.
func readAck(m *nats.Msg) (pubAck, error) {
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return pubAck{}, nats.ErrNoResponders
	}
	var a pubAck
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return a, fmt.Errorf("%w: the answer %.80q is no acknowledgement: %w", ErrUnclear, m.Data, err)
	}
	if a.Error != nil {
		return a, refusal(a.Error)
	}
	return a, nil
}
