package store

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Resync finds out what became of a failed commit. It must be called after
// any error of Commit or CommitEach, and may be called at any time, such as by
// a standby that follows another writer.
//
// It asks the stream's leader for the end, reads from after LastSeq up to it,
// calls fn for every valid message there, whether ours or another writer's,
// and moves the fence to that end. Messages that CommitEach counted as
// committed are not repeated. Of each message the head is read: its Run has
// no payloads. What is there may end inside a commit; the next Resync tells
// the rest.
//
// An error of fn, or of reading, leaves the fence where it was, and the same
// messages come again at the next Resync. It wraps ErrNoStream if the stream
// is gone, ErrRecreated if it is another one or has lost its end, ErrConfig
// if it was changed so that it cannot keep the promises; any other error may
// be tried again.
func (w *Writer) Resync(ctx context.Context, fn func(Stored) error) error {
	if err := w.resync(ctx, fn); err != nil {
		w.dirty = true
		return fmt.Errorf("resync store: %w", err)
	}
	w.dirty = w.status == nil // closed
	return nil
}

func (w *Writer) resync(ctx context.Context, fn func(Stored) error) error {
	info, err := w.find(ctx)
	if err != nil {
		return err
	}
	if err := w.same(info); err != nil {
		return err
	}
	if err := w.cfg.drift(info.Config); err != nil {
		return err
	}
	seen, err := w.read(ctx, info, w.last.Load()+1, true, func(s Stored) error {
		w.instant = max(w.instant, s.Commit.Instant)
		return fn(s)
	})
	if err != nil {
		return err
	}
	w.foreign.Add(seen.foreign)
	w.last.Store(seen.last)
	return nil
}

// same reports whether the stream is still the one that was opened.
func (w *Writer) same(info *jetstream.StreamInfo) error {
	if !info.Created.Equal(w.created) {
		return fmt.Errorf("%w: %s was created at %v, the one opened at %v", ErrRecreated, w.cfg.Stream, info.Created, w.created)
	}
	if last := w.last.Load(); info.State.LastSeq < last {
		return fmt.Errorf("%w: %s ends at %d, but %d was committed: its end was lost, or an old copy was put back",
			ErrRecreated, w.cfg.Stream, info.State.LastSeq, last)
	}
	return nil
}
