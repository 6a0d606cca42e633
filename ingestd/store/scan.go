package store

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Scan reads the stored messages from a sequence on to the end of the stream
// as it is at the call, in order, and hands each to fn; foreign ones it skips
// and counts. What has expired before from is no error: a scan begins with
// what is there. With headsOnly no payloads are read (see frame.DecodeHead);
// of a forged message the separators then go unchecked.
//
// The end may lie inside a commit: Stored.Commit says where it would end.
//
// last is the end on success, else the last sequence dealt with, so that the
// next scan may begin after it. An error of fn ends the scan and is returned
// as it is. Else the error wraps ErrNoStream, ErrRecreated if the stream was
// made anew meanwhile, ErrIncomplete, or is of the connection.
func Scan(ctx context.Context, nc *nats.Conn, cfg Config, from uint64, headsOnly bool, fn func(Stored) error) (last, foreign uint64, err error) {
	cfg = cfg.withDefaults()
	js, err := jetstream.New(nc)
	if err != nil {
		return 0, 0, fmt.Errorf("scan store: %w", err)
	}
	a := access{nc: nc, js: js, cfg: cfg, known: newKnown()}
	info, err := a.find(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("scan store: %w", err)
	}
	var failed error // fn's own, to be returned as it is
	seen, err := a.read(ctx, info, from, headsOnly, func(s Stored) error {
		failed = fn(s)
		return failed
	})
	switch {
	case failed != nil:
		err = failed
	case err != nil:
		err = fmt.Errorf("scan store: after sequence %d: %w", seen.last, err)
	}
	return seen.last, seen.foreign, err
}

// tally is how far a read came.
type tally struct {
	last    uint64 // the last sequence dealt with
	foreign uint64
}

// read hands over the valid messages from a sequence on up to the end that
// info shows.
func (a access) read(ctx context.Context, info *jetstream.StreamInfo, from uint64, head bool, fn func(Stored) error) (tally, error) {
	w := walk{access: a, info: info, from: from, to: info.State.LastSeq, head: head, message: fn}
	err := w.all(ctx)
	return w.tally, err
}

// forever is the end of a walk that has none.
const forever = math.MaxUint64 - 1

// A walk is one read of the stream in order. What comes out of it counts
// though it ends with an error: a walk from after last goes on where it ended.
type walk struct {
	access
	tally
	info     *jetstream.StreamInfo // as the stream was at the beginning
	from, to uint64                // up to the end that info shows, or forever
	head     bool
	message  func(Stored) error
	gone     func(from, to uint64) error // told what the stream does not have; may be nil
	alive    func()                      // told whenever the server has answered; may be nil
}

// begin passes over what has expired already, and says whether anything is
// left to read.
func (w *walk) begin() (more bool, err error) {
	from := max(w.from, 1)
	w.last = min(from-1, w.to)
	err = w.pass(min(max(from, w.info.State.FirstSeq)-1, w.to))
	return err == nil && w.last < w.to, err
}

// pass deals with the sequences up to one that the stream shows not to have.
func (w *walk) pass(to uint64) error {
	if to <= w.last {
		return nil
	}
	from := w.last + 1
	w.last = to
	if w.gone == nil {
		return nil
	}
	return w.gone(from, to)
}

// take hands over one message, if it is valid.
func (w *walk) take(m *nats.Msg, seq uint64) error {
	if s, err := w.known.decode(w.cfg.Space, m, seq, w.head); err != nil {
		w.foreign++
	} else if err := w.message(s); err != nil {
		return err
	}
	w.last = seq
	return nil
}

// all reads every message.
func (w *walk) all(ctx context.Context) error {
	more, err := w.begin()
	if !more {
		return err
	}
	p, err := w.openPull(ctx, w.last+1, w.head, "")
	if err != nil {
		return err
	}
	defer p.close()
	gone := absence{access: w.access, info: w.info}
	for w.last < w.to {
		m, seq, err := p.next(ctx)
		if err != nil {
			return err
		}
		if w.alive != nil {
			w.alive()
		}
		if m == nil && w.to == forever {
			continue
		}
		upTo := w.to + 1 // nothing came for a while: perhaps the rest is gone
		if m != nil {
			upTo = min(seq, upTo)
		}
		missing, err := gone.first(ctx, w.last+1, upTo)
		if err == nil && missing == 0 {
			err = w.pass(upTo - 1)
		} else if err == nil && m != nil {
			err = fmt.Errorf("%w: sequence %d did not come, %d did", ErrIncomplete, missing, seq)
		}
		if err == nil && m != nil && seq <= w.to {
			err = w.take(m, seq)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// matching reads the messages on the subjects of a filter. Nothing in the
// stream shows then that one lacks, so before the walk ends the stream itself
// is asked for the next one.
func (w *walk) matching(ctx context.Context, filter string) error {
	more, err := w.begin()
	if !more {
		return err
	}
	var p *pull
	for {
		if p == nil || p.left == 0 {
			m, seq, err := w.get(ctx, w.last+1, filter)
			if err != nil {
				return err
			}
			if m == nil || seq > w.to {
				w.last = w.to
				return nil
			}
			if p == nil {
				if p, err = w.openPull(ctx, seq, w.head, filter); err != nil {
					return err
				}
				defer p.close()
			}
		}
		m, seq, err := p.next(ctx)
		switch {
		case err != nil:
			return err
		case m == nil:
			p.left = 0 // nothing came for a while: perhaps the rest is gone
		case seq > w.to:
			w.last = w.to
			return nil
		default:
			if err := w.take(m, seq); err != nil {
				return err
			}
		}
	}
}

// absence answers which sequences the stream itself shows not to have.
type absence struct {
	access
	info    *jetstream.StreamInfo // the newest known
	deleted []uint64              // ascending
}

// first is the first sequence in [from, to) that the stream does not show to
// be expired or deleted, 0 if there is none. It asks the leader only when
// what it knows is not enough.
func (d *absence) first(ctx context.Context, from, to uint64) (uint64, error) {
	if d.missing(from, to) == 0 {
		return 0, nil
	}
	info, err := d.find(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return 0, err
	}
	if !info.Created.Equal(d.info.Created) {
		return 0, fmt.Errorf("%w: %s was created at %v, when the read began at %v", ErrRecreated, d.cfg.Stream, info.Created, d.info.Created)
	}
	d.info, d.deleted = info, info.State.Deleted
	return d.missing(from, to), nil
}

// missing is first without asking.
func (d *absence) missing(from, to uint64) uint64 {
	from = max(from, d.info.State.FirstSeq)
	i := sort.Search(len(d.deleted), func(i int) bool { return d.deleted[i] >= from })
	for ; from < to; from++ {
		if i == len(d.deleted) || d.deleted[i] != from {
			return from
		}
		i++
	}
	return 0
}
