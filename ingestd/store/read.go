package store

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Read hands on what lies from one sequence to another, both included, as
// commits in order (P8.2), with payloads. It reads no further than the last
// whole commit; with a range inside it, no other reader of the store is
// needed to know that. A range that begins or ends inside a commit gets those
// of its messages that lie in it, so that ranges can be read at once and put
// together.
//
// A filter other than "" is one subject with wildcards, of the store (see
// subjects.Space.Filter): of each commit only what matches it is handed on,
// and commits of which nothing does are not. It seldom pays: the server looks
// at every message all the same.
//
// Where the stream has let go of what was asked for, a Commit with Gone says
// so; with a filter, only of what lies before the first sequence stored when
// the read began.
//
// An error of fn ends the read and is returned as it is. Else the error wraps
// ErrNoStream, ErrRecreated or ErrIncomplete, or is of the connection: nothing
// was skipped or repeated before it.
func (r *Reader) Read(ctx context.Context, from, to uint64, filter string, fn func(Commit) error) error {
	info, to, err := r.within(ctx, to)
	if err != nil {
		return fmt.Errorf("read store: %w", err)
	}
	g := gather{fn: fn}
	w := r.borrow(walk{info: info, from: from, to: to, message: g.message, gone: g.gone})
	defer r.giveBack(w)
	if filter == "" {
		err = w.all(ctx)
	} else {
		err = w.matching(ctx, filter)
	}
	if err == nil {
		err = g.flush()
	}
	if g.failed != nil {
		return g.failed
	}
	if err != nil {
		return fmt.Errorf("read store: after sequence %d: %w", w.last, err)
	}
	return nil
}

// within asks for the stream, and brings a sequence down to the last whole
// commit.
func (r *Reader) within(ctx context.Context, to uint64) (*jetstream.StreamInfo, uint64, error) {
	if to > r.settled.Load() {
		e, err := r.end(ctx)
		if err != nil {
			return nil, 0, err
		}
		to = min(to, e.Seq)
	}
	info, err := r.look(ctx)
	return info, to, err
}

// ReadBack reads from a sequence back to the first one stored, for those who
// want the newest and will not read all (TAKE). fn gets the newest messages
// first, a window at a time, and says whether it wants more; inside a window
// messages lie in the order of the store, and no commit is divided between
// two. Windows grow fourfold from 256 messages to 65 536, and are cut to some
// 16 MiB. Like Read, it begins no later than at the last whole commit.
//
// fn may keep the messages. Its error ends the read and is returned as it is;
// else the errors are those of Read.
func (r *Reader) ReadBack(ctx context.Context, to uint64, fn func([]Stored) (more bool, err error)) error {
	info, to, err := r.within(ctx, to)
	if err != nil {
		return fmt.Errorf("read store back: %w", err)
	}
	first := max(info.State.FirstSeq, 1)
	for size := uint64(backFirst); to >= first; {
		b := back{from: first, all: size >= backLast}
		if to-first >= size {
			b.from = to - size + 1
		}
		b.all = b.all || b.from == first
		w := r.borrow(walk{info: info, from: b.from, to: to, message: b.message})
		err := w.all(ctx)
		r.giveBack(w)
		if err != nil {
			return fmt.Errorf("read store back: from sequence %d to %d: %w", b.from, to, err)
		}
		if len(b.kept) > 0 {
			if more, err := fn(b.kept); err != nil || !more {
				return err
			}
		}
		to, size = b.next(to), b.grow(size)
	}
	return nil
}

// The windows of ReadBack: messages in the first and the largest, and bytes.
const (
	backFirst = 256
	backLast  = 1 << 16
	backBytes = 16 << 20
)

// back is a window of ReadBack: the newest whole commits of a range, as many
// as fit in its bytes, and one at least.
type back struct {
	from    uint64 // where the window begins
	all     bool   // what is of a commit that begins before it counts, too
	kept    []Stored
	partial bool // messages of such a commit were left out
	bytes   int
}

func (b *back) message(s Stored) error {
	if s.Commit.First < b.from && !b.all {
		b.partial = true
		return nil
	}
	b.kept = append(b.kept, s)
	b.bytes += len(s.Run.Body())
	for b.bytes > backBytes && b.kept[0].Commit != s.Commit {
		b.drop(b.kept[0].Commit.Last())
	}
	for b.bytes > heldBytes && len(b.kept) > 1 { // no commit of ours
		b.drop(b.kept[0].Seq)
	}
	return nil
}

// drop lets go of the oldest messages, up to a sequence: the next window
// brings them again.
func (b *back) drop(to uint64) {
	n := 0
	for n < len(b.kept) && b.kept[n].Seq <= to {
		b.bytes -= len(b.kept[n].Run.Body())
		n++
	}
	clear(b.kept[:n])
	b.kept = b.kept[n:]
}

// next is where the next window ends.
func (b *back) next(to uint64) uint64 {
	switch {
	case len(b.kept) > 0:
		return b.kept[0].Seq - 1
	case b.partial: // inside of one commit: the same again, larger
		return to
	}
	return b.from - 1
}

// grow is how many messages the next window has.
func (b *back) grow(size uint64) uint64 {
	size = min(4*size, backLast)
	if n := len(b.kept); n > 0 {
		size = min(size, max(1, uint64(n)*backBytes/uint64(max(b.bytes, 1))))
	}
	return size
}
