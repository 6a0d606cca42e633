package frame

import "datastream/subjects"

// A Cutter cuts a slice of frames, given in ascending positions over all
// channels, into runs. The caller ends the slice with Runs; Full says when it
// must. Frames marked paced and others are kept in different runs. The zero
// Cutter is ready; it is not safe for concurrent use.
type Cutter struct {
	open   map[key]*cut
	done   []*cut // every run of the slice, in the order of first positions
	frames int
	bytes  int
	last   *cut // the run that took the last frame: neighbours share it
}

type key struct {
	channel subjects.Channel
	paced   bool
}

// A cut is a run that may still grow.
type cut struct {
	run   Run
	paced bool
	size  int  // payload bytes
	owned bool // the run's entries and buf are ours to append to
}

// A Cut is one run of a finished slice.
type Cut struct {
	Run   Run
	Paced bool
}

// Full reports whether n more frames of so many payload bytes belong to the
// next slice. An empty slice is never full.
func (c *Cutter) Full(n, bytes int) bool {
	return c.frames > 0 && (c.frames+n > SliceFrames || c.bytes+bytes > SliceBytes)
}

// Add appends the frames of r. Its first position must lie above every
// position added to the slice before. The cutter shares r's body, and copies
// a payload only where it joins another to a run.
func (c *Cutter) Add(r Run, paced bool) {
	for r.Len() > 0 {
		n, size := fit(r)
		c.add(r.Slice(0, n), size, paced)
		r = r.Slice(n, r.Len())
	}
}

// fit says how many frames from the start of r make one run, at least one.
func fit(r Run) (n, size int) {
	if r.Len() <= RunFrames && r.Bytes() <= RunBytes {
		return r.Len(), r.Bytes()
	}
	for n < r.Len() && n < RunFrames {
		next := len(r.Payload(n))
		if n > 0 && size+next > RunBytes {
			break
		}
		size += next
		n++
	}
	return n, size
}

// add takes a piece that by itself may be a run.
func (c *Cutter) add(r Run, size int, paced bool) {
	c.frames += r.Len()
	c.bytes += size
	k := key{r.Channel, paced}
	t := c.last
	if t == nil || t.run.Channel != r.Channel || t.paced != paced {
		t = c.open[k]
	}
	if t != nil && t.run.Len()+r.Len() <= RunFrames && t.size+size <= RunBytes {
		t.append(r, size)
		c.last = t
		return
	}
	t = &cut{run: r, paced: paced, size: size}
	if c.open == nil {
		c.open = make(map[key]*cut)
	}
	c.open[k] = t
	c.done = append(c.done, t)
	c.last = t
}

// append joins r to the run: here, and only here, payloads are copied.
func (t *cut) append(r Run, size int) {
	if !t.owned {
		t.own(r.Len(), size)
	}
	for i := range r.entries {
		t.run.buf = append(t.run.buf, '\n')
		off := uint32(len(t.run.buf))
		p := r.Payload(i)
		t.run.buf = append(t.run.buf, p...)
		t.run.entries = append(t.run.entries, entry{pos: r.entries[i].pos, off: off, len: uint32(len(p))})
	}
	t.size += size
}

func (t *cut) own(frames, bytes int) {
	old := t.run
	body := old.Body()
	t.run.buf = make([]byte, len(body), min(RunBytes+RunFrames, 2*(len(body)+bytes+frames)))
	copy(t.run.buf, body)
	t.run.entries = make([]entry, old.Len(), min(RunFrames, 2*(old.Len()+frames)))
	base := old.entries[0].off
	for i, e := range old.entries {
		e.off -= base
		t.run.entries[i] = e
	}
	t.owned = true
}

// Len is the number of frames in the slice so far.
func (c *Cutter) Len() int { return c.frames }

// Count is the number of runs that the slice makes so far.
func (c *Cutter) Count() int { return len(c.done) }

// Runs ends the slice and appends its runs to dst, in ascending first
// positions. The cutter is empty afterwards.
func (c *Cutter) Runs(dst []Cut) []Cut {
	for _, t := range c.done {
		dst = append(dst, Cut{Run: t.run, Paced: t.paced})
	}
	clear(c.open)
	clear(c.done)
	*c = Cutter{open: c.open, done: c.done[:0]}
	return dst
}
