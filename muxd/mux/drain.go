package mux

import (
	"datastream/subjects"
	"datastream/subjects/frame"
)

// A Slice is what one Drain hands out: the positions From … To-1, of which
// those in no cut were dropped. Slices of a stream follow each other without a
// hole. The caller owns the list of cuts.
type Slice struct {
	From, To subjects.Position
	Cuts     []frame.Cut
}

// drain is what only the goroutine that drains touches, but for the handover
// of the buffer.
type drain struct {
	at    subjects.Position // where the next slice begins
	end   subjects.Position // positions below are in batch, or dropped
	batch []item            // swapped out, to be cut
	done  int               // items of the batch that were cut
	spare []item            // the buffer before last: room for the next

	cutter frame.Cutter
	cuts   []frame.Cut // scratch
}

// keepItems is how many items a buffer keeps room for when it has run empty:
// ten thousand streams may.
const keepItems = 128

// Drain hands out the next slice: frames in position order, cut into runs (at
// most frame.SliceFrames and frame.SliceBytes, or one bigger frame), up to the
// next one that is still buffered. It reports false when there is nothing to
// hand out. A slice without cuts passes on positions that were dropped.
//
// The lock is held to swap the buffer and to count, never while cutting.
func (m *Mux) Drain() (Slice, bool) {
	d := &m.drain
	if d.done == len(d.batch) && !m.swap() {
		return Slice{}, false
	}
	s, frames, bytes := d.slice()
	m.mu.Lock()
	m.drained = s.To
	m.frames -= frames
	m.bytes -= bytes
	m.mu.Unlock()
	m.shared.release(bytes)
	return s, true
}

// swap takes the buffer over, and reports whether any position is to be
// passed on.
func (m *Mux) swap() bool {
	d := &m.drain
	// Under load the finished batch is the buffer after next, unless it is
	// much larger than what was in it: then the burst is over.
	if d.batch != nil && cap(d.batch) <= max(keepItems, 4*len(d.batch)) {
		d.spare = d.batch[:0] // cutting has cleared it
	}
	d.batch, d.done = nil, 0
	m.mu.Lock()
	defer m.mu.Unlock()
	d.end = m.next
	if len(m.buffer) > 0 {
		d.batch, m.buffer, d.spare = m.buffer, d.spare, nil
	} else if d.at == d.end {
		m.trim()
	}
	return d.at < d.end
}

// trim lets go of what room a burst has made; the lock is held, and the mux
// is empty.
func (m *Mux) trim() {
	d := &m.drain
	if cap(m.buffer) > keepItems {
		m.buffer = nil
	}
	if cap(d.spare) > keepItems {
		d.spare = nil
	}
	if cap(d.cuts) > keepItems {
		d.cutter, d.cuts = frame.Cutter{}, nil
	}
}

// slice cuts the next slice off the batch.
func (d *drain) slice() (s Slice, frames, bytes int) {
	s.From, s.To = d.at, d.end
	if s.Cuts = d.lone(); s.Cuts != nil {
		r := s.Cuts[0].Run
		frames, bytes = r.Len(), r.Cost()
	} else {
		frames, bytes = d.cut()
		d.cuts = d.cutter.Runs(d.cuts[:0])
		s.Cuts = append(s.Cuts, d.cuts...)
		clear(d.cuts)
	}
	if d.done < len(d.batch) {
		s.To = d.batch[d.done].first
	}
	d.at = s.To
	return s, frames, bytes
}

// lone is the idle pipe's way around the cutter: a single item that is a run
// as it stands. It is nil when the batch is anything else.
func (d *drain) lone() []frame.Cut {
	if d.done != len(d.batch)-1 {
		return nil
	}
	it := &d.batch[d.done]
	if n := it.run.Len(); n > frame.RunFrames || n > 1 && it.run.Bytes() > frame.RunBytes {
		return nil
	}
	it.run.Renumber(it.first)
	c := frame.Cut{Run: it.run, Paced: it.paced}
	d.next()
	return []frame.Cut{c}
}

// cut fills the cutter with one slice.
func (d *drain) cut() (frames, bytes int) {
	for d.done < len(d.batch) {
		it := &d.batch[d.done]
		n := whole(it.run)
		piece := it.run.Slice(0, n)
		if d.cutter.Full(n, piece.Bytes()) {
			break
		}
		piece.Renumber(it.first) // submission has checked the bound
		d.cutter.Add(piece, it.paced)
		frames += n
		bytes += piece.Cost()
		if n == it.run.Len() {
			d.next()
		} else {
			it.run = it.run.Slice(n, it.run.Len())
			it.first += subjects.Position(n)
		}
	}
	return frames, bytes
}

// next goes on to the next item, and lets go of the frames of this one.
func (d *drain) next() {
	d.batch[d.done] = item{}
	d.done++
}

// whole is how many frames from the front of r fit into an empty slice, at
// least one.
func whole(r frame.Run) int {
	if r.Len() <= frame.SliceFrames && r.Bytes() <= frame.SliceBytes {
		return r.Len()
	}
	n, bytes := 1, len(r.Payload(0))
	for n < min(r.Len(), frame.SliceFrames) {
		if bytes += len(r.Payload(n)); bytes > frame.SliceBytes {
			break
		}
		n++
	}
	return n
}
