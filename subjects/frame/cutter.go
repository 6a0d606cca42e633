package frame

import "datastream/subjects"

// A Cutter cuts a slice of frames, given in ascending positions over all
// channels, into runs. The caller ends the slice with Runs; Full says when it
// must. Frames marked paced and others are kept in different runs. The zero
// Cutter is ready; it is not safe for concurrent use. It keeps the memory of
// its largest slice for the next: let one serve many streams in turn.
type Cutter struct {
	open    map[key]int // the runs that may still grow, by index into cuts
	cuts    []cut       // every run of the slice, in the order of first positions
	pieces  []piece     // what was added, in order
	singles []entry     // of pieces that AddFrame made; used again for the next slice
	last    int         // the cut that took the last piece: neighbours share it
	frames  int
	bytes   int
}

type key struct {
	channel subjects.Channel
	paced   bool
}

// A cut is a run to be: a list of pieces, joined when the slice ends, so that
// a payload is copied at most once, and into exactly the room it needs.
type cut struct {
	paced       bool
	frames      int
	bytes       int // of payload
	first, last int // indexes into pieces
}

// A piece is a run as it was added, or part of it.
type piece struct {
	run  Run
	lent bool // the run's entries are the cutter's
	next int  // the next piece of the same cut; its last has none
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
// position added to the slice before. The cutter shares r's body until Runs,
// and a run that nothing joins shares it for good.
func (c *Cutter) Add(r Run, paced bool) {
	for r.Len() > 0 {
		n, size := r.Fit()
		c.add(piece{run: r.Slice(0, n)}, size, paced)
		r = r.Slice(n, r.Len())
	}
}

// AddFrame is Add of a single frame, of which nothing else has made a run. The
// cutter keeps payload as Add keeps a body; the frame itself costs no memory
// of its own unless it becomes a run alone.
func (c *Cutter) AddFrame(ch subjects.Channel, p subjects.Position, payload []byte, paced bool) {
	at := len(c.singles)
	c.singles = append(c.singles, entry{pos: p, len: uint32(len(payload))})
	r := Run{Channel: ch, entries: c.singles[at : at+1 : at+1], buf: payload}
	c.add(piece{run: r, lent: true}, len(payload), paced)
}

// add takes a piece that by itself may be a run.
func (c *Cutter) add(p piece, size int, paced bool) {
	r := p.run
	c.frames += r.Len()
	c.bytes += size
	at := len(c.pieces)
	c.pieces = append(c.pieces, p)
	if i, ok := c.growing(r.Channel, paced); ok {
		t := &c.cuts[i]
		if t.frames+r.Len() <= RunFrames && t.bytes+size <= RunBytes {
			c.pieces[t.last].next = at
			t.last = at
			t.frames += r.Len()
			t.bytes += size
			c.last = i
			return
		}
	}
	if c.open == nil {
		c.open = make(map[key]int)
	}
	c.last = len(c.cuts)
	c.open[key{r.Channel, paced}] = c.last
	c.cuts = append(c.cuts, cut{paced: paced, frames: r.Len(), bytes: size, first: at, last: at})
}

// growing finds the run that a channel's next frames may join.
func (c *Cutter) growing(channel subjects.Channel, paced bool) (int, bool) {
	if c.last < len(c.cuts) {
		if t := &c.cuts[c.last]; t.paced == paced && c.pieces[t.first].run.Channel == channel {
			return c.last, true
		}
	}
	i, ok := c.open[key{channel, paced}]
	return i, ok
}

// join makes the run of a cut: here, and only here, payloads are copied.
func (c *Cutter) join(t cut) Run {
	r := c.pieces[t.first].run
	if t.first == t.last {
		if c.pieces[t.first].lent {
			r.entries = []entry{r.entries[0]}
		}
		return r
	}
	buf := make([]byte, 0, t.bytes+t.frames-1)
	entries := make([]entry, 0, t.frames)
	for i := t.first; ; i = c.pieces[i].next {
		p := c.pieces[i].run
		if len(entries) > 0 {
			buf = append(buf, '\n')
		}
		shift := uint32(len(buf)) - p.entries[0].off // may wrap, and wraps back
		for _, e := range p.entries {
			e.off += shift
			entries = append(entries, e)
		}
		buf = append(buf, p.Body()...)
		if i == t.last {
			return Run{Channel: r.Channel, entries: entries, buf: buf}
		}
	}
}

// Len is the number of frames in the slice so far.
func (c *Cutter) Len() int { return c.frames }

// Count is the number of runs that the slice makes so far.
func (c *Cutter) Count() int { return len(c.cuts) }

// Runs ends the slice and appends its runs to dst, in ascending first
// positions. The cutter is empty afterwards.
func (c *Cutter) Runs(dst []Cut) []Cut {
	for _, t := range c.cuts {
		dst = append(dst, Cut{Run: c.join(t), Paced: t.paced})
	}
	clear(c.open)
	clear(c.pieces) // let go of the runs
	*c = Cutter{open: c.open, cuts: c.cuts[:0], pieces: c.pieces[:0], singles: c.singles[:0]}
	return dst
}
