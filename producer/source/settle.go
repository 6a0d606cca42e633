package source

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"datastream/producer/emit"
	"datastream/subjects"
)

// FollowStats counts what a Follow has done.
type FollowStats struct {
	Records     uint64 // taken by the handle, repeated ones included
	Cut         uint64 // pieces of what was longer than a record may be
	Refused     uint64 // records left out that the handle or the mux never takes, repeated ones included
	Rewinds     uint64 // times that something was lost and read again
	LostBytes   uint64 // submitted, lost, and no longer in any file
	Rotations   uint64
	Truncations uint64
	Vanished    uint64 // files that disappeared, or were too many, before they were read
	Saves       uint64 // of the state file
}

type followCounters struct {
	records, cut, refused, rewinds, lostBytes, rotations, truncations, vanished, saves atomic.Uint64
}

// Stats is what has been done so far.
func (f *Follow) Stats() FollowStats {
	c := &f.stats
	return FollowStats{
		Records: c.records.Load(), Cut: c.cut.Load(), Refused: c.refused.Load(),
		Rewinds: c.rewinds.Load(), LostBytes: c.lostBytes.Load(), Rotations: c.rotations.Load(),
		Truncations: c.truncations.Load(), Vanished: c.vanished.Load(), Saves: c.saves.Load(),
	}
}

func (f *Follow) vanish(notice string) {
	f.stats.vanished.Add(1)
	f.cfg.OnNotice(notice)
}

// giver submits the records of one generation. Once something failed it leaves
// the rest alone: done stays where it is, and they are read again.
func (f *Follow) giver(t *tail, g *generation) func(record) {
	return func(r record) {
		if f.err != nil || f.again {
			return
		}
		if f.flying >= f.limit() && !f.await(f.ctx) {
			return
		}
		switch err := f.to.Submit(f.ctx, t.channel, r.text); {
		case err == nil:
			f.flying++
			f.stats.records.Add(1)
		case errors.Is(err, subjects.ErrName), errors.Is(err, emit.ErrSize):
			f.refuse(fmt.Sprintf("a record of %s before byte %d is left out: %v", t.path, r.end, err))
		default:
			f.err = err
			return
		}
		if r.cut {
			f.stats.cut.Add(1)
		}
		g.done = r.end
	}
}

func (f *Follow) refuse(notice string) {
	f.stats.refused.Add(1)
	f.cfg.OnNotice(notice)
}

func (f *Follow) limit() int { return limits[min(f.vain, len(limits)-1)] }

// settle reads the handle's report. A report counts, it does not say which; so
// positions advance only while nothing is open and nothing was lost.
func (f *Follow) settle() {
	if f.again {
		return
	}
	r := f.to.Report()
	if r.Open() > 0 {
		return
	}
	if r.Lost > f.base.Lost || r.Unknown > f.base.Unknown {
		f.again, f.lost = true, r.Lost > f.base.Lost
		f.base = r
		return
	}
	for _, t := range f.tails {
		for _, g := range t.gens {
			f.dirty = f.dirty || g.settled != g.done
			g.settled = g.done
		}
	}
	if f.flying > 0 {
		f.flying, f.vain = 0, 0
	}
}

// await waits until all is settled, and says whether it is.
func (f *Follow) await(ctx context.Context) bool {
	for f.settle(); f.flying > 0 && !f.again && ctx.Err() == nil; f.settle() {
		pause(ctx, settleEvery)
	}
	return f.flying == 0 && !f.again
}

// rewind goes back to what is settled: all after it is submitted again, what
// was committed of it, too.
func (f *Follow) rewind(ctx context.Context) {
	f.stats.rewinds.Add(1)
	f.vain++
	f.cfg.OnNotice(fmt.Sprintf("%d records were not all settled: reading them again", f.flying))
	skip := f.vain >= skipAfter && f.flying == 1 && f.lost
	f.look(time.Now()) // a file truncated meanwhile may have a copy
	for _, t := range f.tails {
		for _, g := range t.gens {
			if skip && g.settled != g.done {
				f.refuse(fmt.Sprintf("a record of %s before byte %d was lost %d times: it is left out", t.path, g.done, f.vain))
				g.settled, f.dirty, f.vain = g.done, true, 0
			}
			if g.settled == g.done && g.f == nil {
				continue
			}
			if err := g.restart(f.cfg.Text); err != nil {
				f.stats.lostBytes.Add(uint64(g.done - g.settled))
				f.cfg.OnNotice(fmt.Sprintf("%s: %d bytes were lost and are in no file any more: %v", t.path, g.done-g.settled, err))
				g.settled = g.done
			}
		}
	}
	f.flying, f.again = 0, false
	pause(ctx, min(f.cfg.Look<<min(f.vain, 10), maxPause))
}
