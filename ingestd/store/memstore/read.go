package memstore

import (
	"context"
	"fmt"

	"datastream/ingestd/store"
)

// End finds the last whole commit; see store.Reader.End.
func (s *Store) End(ctx context.Context) (store.End, error) {
	v, _ := s.look()
	e := v.end()
	e.Created = s.created
	return e, context.Cause(ctx)
}

// Find is the sequence of the first commit whose instant is not below the
// given one; see store.Reader.Find.
func (s *Store) Find(ctx context.Context, instant int64, end store.End) (uint64, error) {
	if !end.Created.Equal(s.created) {
		return 0, fmt.Errorf("find an instant in the store: %w", store.ErrRecreated)
	}
	v, _ := s.look()
	for _, e := range v.between(end.First, end.Seq) {
		if !e.foreign && e.Commit.Instant >= instant {
			return e.Seq, context.Cause(ctx)
		}
	}
	return end.Seq + 1, context.Cause(ctx)
}

// Read hands on the commits of a range; see store.Reader.Read.
func (s *Store) Read(ctx context.Context, from, to uint64, filter string, fn func(store.Commit) error) error {
	v, _ := s.look()
	return s.read(ctx, v, from, min(to, v.end().Seq), filter, fn)
}

func (s *Store) read(ctx context.Context, v view, from, to uint64, filter string, fn func(store.Commit) error) error {
	from = max(from, 1)
	if gone := min(v.first-1, to); gone >= from {
		c := store.Commit{Gone: true}
		c.First, c.Count = from, gone-from+1
		if err := fn(c); err != nil {
			return err
		}
	}
	var open store.Commit
	flush := func() error {
		if len(open.Messages) == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c := open
		open.Messages = nil
		return fn(c)
	}
	for _, e := range v.between(from, to) {
		switch {
		case filter != "" && !matches(filter, e.subject):
			continue
		case e.foreign:
			s.foreign.Add(1)
			continue
		}
		if e.Commit != open.Commit {
			if err := flush(); err != nil {
				return err
			}
		}
		open.Commit = e.Commit
		open.Messages = append(open.Messages, e.Stored)
	}
	return flush()
}

// ReadBack reads whole commits from the newest back: one, then four at a
// time, then sixteen …; see store.Reader.ReadBack.
func (s *Store) ReadBack(ctx context.Context, to uint64, fn func([]store.Stored) (more bool, err error)) error {
	var commits [][]store.Stored
	err := s.Read(ctx, 0, to, "", func(c store.Commit) error {
		if !c.Gone {
			commits = append(commits, c.Messages)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for size := 1; len(commits) > 0; size *= 4 {
		var window []store.Stored
		n := max(len(commits)-size, 0)
		for _, c := range commits[n:] {
			window = append(window, c...)
		}
		commits = commits[:n]
		if more, err := fn(window); err != nil || !more {
			return err
		}
	}
	return nil
}

// Follow hands on whole commits from a sequence on; see store.Reader.Follow.
func (s *Store) Follow(ctx context.Context, from uint64, fn func(store.Commit) error) error {
	for next := max(from, 1); ; {
		v, changed := s.look()
		if v.last() < next-1 {
			return fmt.Errorf("follow store: %w: it ends at %d, so %d is not the next to come", store.ErrRecreated, v.last(), next)
		}
		if end := v.end().Seq; end >= next {
			if err := s.read(ctx, v, next, end, "", fn); err != nil {
				return err
			}
			next = end + 1
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("follow store: %w", context.Cause(ctx))
		}
	}
}
