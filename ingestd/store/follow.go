package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long Follow waits after a failure before it tries again: twice as long
// after each in a row.
const (
	followLeastWait = 50 * time.Millisecond
	followMostWait  = 2 * time.Second
)

// Follow hands on whole commits from a sequence on, in order and for ever
// (S5.1). The sequence should begin a commit, such as End.Seq+1; of one that
// it falls into, the rest is handed on. A commit is handed on as soon as its
// last message is there; of one that a crash has cut short, what there is of
// it, with the next commit.
//
// It survives broken connections and servers that stop and start: it goes on
// after the last message it has read, so nothing lacks and nothing comes
// twice. What the stream has let go of meanwhile is reported in its place by a
// Commit with Gone. FollowErr says what keeps it from reading.
//
// fn is waited for; a slow one makes the server wait. Its error ends Follow
// and is returned as it is. Else Follow returns when ctx ends, or with an
// error that wraps ErrNoStream if the stream is gone, or ErrRecreated if it is
// another one or ends before the sequence that is to come next.
func (r *Reader) Follow(ctx context.Context, from uint64, fn func(Commit) error) error {
	f := follower{r: r, next: max(from, 1), wait: followLeastWait}
	f.gather.fn = func(c Commit) error {
		err := fn(c)
		if err == nil && !c.Gone {
			r.settle(c.Messages[len(c.Messages)-1].Seq)
		}
		return err
	}
	for {
		err := f.read(ctx)
		switch {
		case f.gather.failed != nil:
			return f.gather.failed
		case ctx.Err() != nil:
			return fmt.Errorf("follow store: after sequence %d: %w", f.next-1, context.Cause(ctx))
		}
		err = fmt.Errorf("follow store: after sequence %d: %w", f.next-1, err)
		r.trouble.Store(&err)
		if errors.Is(err, ErrNoStream) || errors.Is(err, ErrRecreated) {
			return err
		}
		f.pause(ctx)
	}
}

// FollowErr is why Follow reads nothing at present, nil while it does. It
// tries again by itself, but for an error that it has returned. Where several
// follow through one Reader, it is the trouble of any of them.
func (r *Reader) FollowErr() error {
	if err := r.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// follower is what one Follow remembers from one consumer to the next.
type follower struct {
	r      *Reader
	next   uint64 // the first sequence not dealt with
	gather gather // the commit that is incomplete so far, if any
	wait   time.Duration
}

// read follows through one consumer until something breaks.
func (f *follower) read(ctx context.Context) error {
	info, err := f.r.look(ctx)
	if err != nil {
		return err
	}
	if last := info.State.LastSeq; last < f.next-1 {
		return fmt.Errorf("%w: %s ends at %d, so %d is not the next to come", ErrRecreated, f.r.cfg.Stream, last, f.next)
	}
	w := f.r.borrow(walk{
		info: info, from: f.next, to: forever,
		message: f.gather.message, gone: f.gather.gone, alive: f.alive,
	})
	err = w.all(ctx)
	f.next = w.last + 1
	f.r.giveBack(w)
	return err
}

// alive notes that the server answers.
func (f *follower) alive() {
	if f.wait != followLeastWait || f.r.trouble.Load() != nil {
		f.wait = followLeastWait
		f.r.trouble.Store(nil)
	}
}

func (f *follower) pause(ctx context.Context) {
	t := time.NewTimer(f.wait)
	defer t.Stop()
	f.wait = min(2*f.wait, followMostWait)
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
