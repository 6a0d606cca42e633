package ring

import (
	"slices"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// DefaultBytes is the budget when none is configured (P5.3).
const DefaultBytes = 64 << 20

// Config is what a Ring may be told. Fields that are not above zero take
// their defaults.
type Config struct {
	// Bytes is the budget of all streams together, by frame.Run.Cost.
	Bytes int
}

// A Ring holds runs of many streams under one budget. Make one with New.
type Ring struct {
	budget  int
	quarter int
	streams map[subjects.Stream]*shelf
	heavy   []*shelf // those that hold more than a quarter: a handful
	ages    ages     // every unpaced run, oldest first
	bytes   int
	paced   int
	evicted uint64
}

// New makes an empty ring.
func New(cfg Config) *Ring {
	if cfg.Bytes <= 0 {
		cfg.Bytes = DefaultBytes
	}
	r := &Ring{budget: cfg.Bytes, quarter: cfg.Bytes / 4, streams: make(map[subjects.Stream]*shelf)}
	r.ages.init()
	return r
}

// Add keeps one drained slice of a stream: positions from … to-1, of which
// those in no cut were dropped. It is called before the slice is published,
// for what was not added cannot be settled. The slices of a stream are added
// in order, and the runs of a slice ascend by first position; a slice that
// begins below the end of the one before is not kept. The ring shares the
// runs, not the list.
func (r *Ring) Add(st subjects.Stream, from, to subjects.Position, cuts []frame.Cut) {
	s := r.streams[st]
	if s == nil {
		s = &shelf{}
		r.streams[st] = s
	}
	if from < s.added || to < from {
		for _, c := range cuts {
			r.evicted += uint64(c.Run.Len())
		}
		return
	}
	s.added = to
	reach := subjects.Position(0)
	for _, c := range cuts {
		if c.Run.Len() == 0 {
			continue
		}
		reach = max(reach, c.Run.Last())
		r.keep(s, &entry{
			shelf: s, run: c.Run, paced: c.Paced, cost: c.Run.Cost(),
			first: c.Run.First(), last: c.Run.Last(), reach: reach,
		})
	}
}

// keep puts one run on its shelf and pushes others out until the budget holds
// again; when nothing else is left to push out, that may be the run itself.
func (r *Ring) keep(s *shelf, e *entry) {
	s.push(e)
	if e.paced {
		r.paced += e.cost
	} else {
		r.ages.push(e)
		s.unpaced++
	}
	r.account(s, e.cost)
	for r.bytes > r.budget && !r.ages.empty() {
		v := r.victim(s)
		r.evicted += v.unsettled()
		r.free(v)
		v.shelf.tidy()
	}
}

// victim is the run to push out next for one that s added: of s, of the
// stream that holds most among those with too much, or the oldest of all.
// There must be an unpaced run.
func (r *Ring) victim(s *shelf) *entry {
	if s.bytes > r.quarter && s.unpaced > 0 {
		return s.oldestUnpaced()
	}
	var worst *shelf
	for _, h := range r.heavy {
		if h.unpaced > 0 && (worst == nil || h.bytes > worst.bytes) {
			worst = h
		}
	}
	if worst != nil {
		return worst.oldestUnpaced()
	}
	return r.ages.oldest()
}

// free lets one run go, for whatever reason. The caller tidies its shelf.
func (r *Ring) free(e *entry) {
	s := e.shelf
	if e.paced {
		r.paced -= e.cost
	} else {
		r.ages.remove(e)
		s.unpaced--
	}
	r.account(s, -e.cost)
	s.bury(e)
}

// account adds a cost, or takes it away, and keeps the list of heavy streams.
func (r *Ring) account(s *shelf, cost int) {
	was := s.bytes > r.quarter
	s.bytes += cost
	r.bytes += cost
	is := s.bytes > r.quarter
	switch {
	case is && !was:
		r.heavy = append(r.heavy, s)
	case was && !is:
		i := slices.Index(r.heavy, s)
		r.heavy = slices.Delete(r.heavy, i, i+1)
	}
}

// Settle frees every run of the stream whose last position is below the
// bound. An unknown stream is ignored, and so is a bound that falls; what was
// not added yet is not settled by one that runs ahead.
func (r *Ring) Settle(st subjects.Stream, below subjects.Position) {
	s := r.streams[st]
	if s == nil || min(below, s.added) <= s.below {
		return
	}
	s.below = min(below, s.added)
	// Runs ascend by first position: past the bound none can lie below it.
	// Nothing moves while we walk: only tidy moves runs.
	for i := s.head; i < len(s.runs) && s.runs[i].first < s.below; i++ {
		if e := s.runs[i]; !e.gone && e.last < s.below {
			r.free(e)
		}
	}
	s.tidy()
}

// Oldest is the lowest position the ring holds of the stream, and what was
// added up to when it holds nothing: 0 for an unknown stream.
func (r *Ring) Oldest(st subjects.Stream) subjects.Position {
	s := r.streams[st]
	switch {
	case s == nil:
		return 0
	case s.live == 0:
		return s.added
	}
	return s.runs[s.head].first // the front of a tidy shelf is held
}

// Close forgets the stream and frees what was held of it. Nothing of that
// counts as pushed out.
func (r *Ring) Close(st subjects.Stream) {
	s := r.streams[st]
	if s == nil {
		return
	}
	for _, e := range s.runs[s.head:] {
		if !e.gone {
			r.free(e)
		}
	}
	delete(r.streams, st)
}

// Bytes is the cost of all runs held.
func (r *Ring) Bytes() int { return r.bytes }

// Paced is the cost of the paced runs held.
func (r *Ring) Paced() int { return r.paced }

// Fits reports whether a run of such a cost could be added without pushing
// anything out.
func (r *Ring) Fits(cost int) bool { return cost <= r.budget-r.bytes }

// Evicted counts the frames that were pushed out before they were settled.
func (r *Ring) Evicted() uint64 { return r.evicted }
