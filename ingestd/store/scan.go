package store

import (
	"context"
	"fmt"
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
	end, next := info.State.LastSeq, max(from, info.State.FirstSeq, 1)
	t := tally{last: min(next-1, end)}
	if t.last == end {
		return t, nil
	}
	p, err := a.openPull(ctx, next, head)
	if err != nil {
		return t, err
	}
	defer p.close()
	gone := absence{access: a, info: info}
	for t.last < end {
		m, seq, err := p.next(ctx)
		if err != nil {
			return t, err
		}
		upTo := end + 1 // nothing came for a while: perhaps the rest is gone
		if m != nil {
			upTo = min(seq, upTo)
		}
		missing, err := gone.first(ctx, t.last+1, upTo)
		switch {
		case err != nil:
			return t, err
		case missing == 0:
			t.last = upTo - 1
		case m != nil:
			return t, fmt.Errorf("%w: sequence %d did not come, %d did", ErrIncomplete, missing, seq)
		}
		if m == nil || seq > end {
			continue
		}
		if s, err := a.known.decode(a.cfg.Space, m, seq, head); err != nil {
			t.foreign++
		} else if err := fn(s); err != nil {
			return t, err
		}
		t.last = seq
	}
	return t, nil
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
