package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Reader reads whole commits of one stream. It is safe for concurrent use:
// a big scan is cut into ranges of sequences that are read at once. It holds
// nothing that would have to be closed.
type Reader struct {
	access
	created time.Time     // of the stream: another one is another store
	settled atomic.Uint64 // all up to here is known to be whole commits
	foreign atomic.Uint64
	caches  sync.Pool // of *known, one a read
	trouble atomic.Pointer[error]
}

// NewReader finds the stream. Of the Config, the Space, the Stream and the
// Timeout count. It wraps ErrNoStream or ErrConfig; any other error is of the
// connection.
func NewReader(ctx context.Context, nc *nats.Conn, cfg Config) (*Reader, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("open store to read: %w", err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open store to read: %w", err)
	}
	r := &Reader{access: access{nc: nc, js: js, cfg: cfg}}
	r.caches.New = func() any { return newKnown() }
	info, err := r.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("open store to read: %w", err)
	}
	r.created = info.Created
	return r, nil
}

// Created is when the stream was made, which tells stores apart: one that was
// made anew is another one, though its name and sequences be the same.
func (r *Reader) Created() time.Time { return r.created }

// Foreign is how many foreign messages reads have come upon, one read twice
// counted twice (P8.4).
func (r *Reader) Foreign() uint64 { return r.foreign.Load() }

// An End is where an answer ends: at the last whole commit there is (L3.2).
type End struct {
	// Seq is the sequence of the last message of that commit. Foreign
	// messages right after it are counted in; if no commit is stored any
	// more, it is the last sequence given out.
	Seq uint64
	// Instant is that commit's, 0 if none is stored.
	Instant int64
	// First is the first sequence still stored, or the next to be given out.
	First uint64
	// Created tells the store from one made anew.
	Created time.Time
}

// End finds the last whole commit. One that is visible in part is none yet;
// it may also be all that a crash has left of one, and counts as soon as
// another commit follows (P8.2).
//
// It wraps ErrNoStream or ErrRecreated; any other error is of the connection.
func (r *Reader) End(ctx context.Context) (End, error) {
	e, err := r.end(ctx)
	if err != nil {
		return End{}, fmt.Errorf("find the store's end: %w", err)
	}
	return e, nil
}

func (r *Reader) end(ctx context.Context) (End, error) {
	info, err := r.look(ctx)
	if err != nil {
		return End{}, err
	}
	last := info.State.LastSeq
	e := End{Seq: last, First: max(info.State.FirstSeq, 1), Created: r.created}
	for e.Seq >= e.First {
		s, ok, err := r.before(ctx, info, e.Seq)
		if err != nil {
			return End{}, err
		}
		if !ok {
			break
		}
		if s.Seq == last && s.Commit.Last() > last {
			e.Seq, last = s.Commit.First-1, 0 // what lies before it is whole
			continue
		}
		e.Instant = s.Commit.Instant
		break
	}
	r.settle(e.Seq)
	return e, nil
}

// settle notes that all up to a sequence is whole.
func (r *Reader) settle(seq uint64) {
	for {
		have := r.settled.Load()
		if have >= seq || r.settled.CompareAndSwap(have, seq) {
			return
		}
	}
}

// look asks for the stream, and whether it is the one that was opened.
func (r *Reader) look(ctx context.Context) (*jetstream.StreamInfo, error) {
	info, err := r.find(ctx)
	if err != nil {
		return nil, err
	}
	if !info.Created.Equal(r.created) {
		return nil, fmt.Errorf("%w: %s was created at %v, the one opened at %v", ErrRecreated, r.cfg.Stream, info.Created, r.created)
	}
	if last := r.settled.Load(); info.State.LastSeq < last {
		return nil, fmt.Errorf("%w: %s ends at %d, but %d was read: its end was lost, or an old copy was put back",
			ErrRecreated, r.cfg.Stream, info.State.LastSeq, last)
	}
	return info, nil
}

// borrow gives a walk of its own what is not safe to share; giveBack counts
// what it met.
func (r *Reader) borrow(w walk) *walk {
	w.access = r.access
	w.known = r.caches.Get().(*known)
	return &w
}

func (r *Reader) giveBack(w *walk) {
	r.foreign.Add(w.foreign)
	w.foreign = 0
	r.caches.Put(w.known)
}

// before is the last valid message up to a sequence, if there is one.
func (r *Reader) before(ctx context.Context, info *jetstream.StreamInfo, to uint64) (found Stored, ok bool, err error) {
	found, ok, err = r.first(ctx, to, to)
	first := max(info.State.FirstSeq, 1)
	for window := uint64(64); err == nil && !ok; window *= 16 { // wider only past foreign messages
		from := first
		if to > window {
			from = max(first, to-window+1)
		}
		w := r.borrow(walk{info: info, from: from, to: to, head: true, message: func(s Stored) error {
			found, ok = s, true
			return nil
		}})
		err = w.all(ctx)
		r.caches.Put(w.known) // what foreign ones it met are no reader's
		if from == first {
			break
		}
	}
	return found, ok, err
}

var errFound = errors.New("found")

// first is the first valid message in a range, if there is one. The range
// must not pass the end.
func (r *Reader) first(ctx context.Context, from, to uint64) (found Stored, ok bool, err error) {
	m, seq, err := r.get(ctx, from, r.cfg.Space.AllStored())
	if err != nil || m == nil || seq > to {
		return Stored{}, false, err
	}
	known := r.caches.Get().(*known)
	found, err = known.decode(r.cfg.Space, m, seq, false)
	r.caches.Put(known)
	if err == nil {
		return found, true, nil
	}
	if seq == to {
		return Stored{}, false, nil
	}
	info, err := r.look(ctx)
	if err != nil {
		return Stored{}, false, err
	}
	w := r.borrow(walk{info: info, from: seq + 1, to: to, head: true, message: func(s Stored) error {
		found, ok = s, true
		return errFound
	}})
	err = w.all(ctx)
	r.caches.Put(w.known)
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, ok, err
}
