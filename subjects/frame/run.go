package frame

import (
	"strconv"

	"datastream/subjects"
)

// Bounds of P3.1 and P1.4. What we make keeps the first two; what we take
// may be larger, up to the rest.
const (
	// RunFrames and RunBytes are the most frames and payload bytes of a run
	// that a Cutter makes.
	RunFrames = 1024
	RunBytes  = 16 << 10
	// SliceFrames and SliceBytes are the most consecutive positions, and their
	// payload bytes, over which runs are interleaved.
	SliceFrames = 4096
	SliceBytes  = 1 << 20
	// MaxPayload is the default max_frame.
	MaxPayload = 1 << 20
	// MaxFrames and MaxBody are what Decode takes at most.
	MaxFrames = 4096
	MaxBody   = 7 << 20
	// Overhead is what a frame counts against a bound besides its payload and
	// channel (P5.1).
	Overhead = 64
)

// A Run is one or more frames of one channel in ascending positions. It is a
// small value that shares its frames and body; copying and slicing are cheap.
// The zero Run has no frames.
type Run struct {
	Channel subjects.Channel
	entries []entry
	buf     []byte // what the entries' offsets are into
}

// entry is one frame of a run.
type entry struct {
	pos subjects.Position
	off uint32
	len uint32
}

// Single makes a run of one frame. The run keeps payload.
func Single(c subjects.Channel, p subjects.Position, payload []byte) Run {
	return Run{Channel: c, entries: []entry{{pos: p, len: uint32(len(payload))}}, buf: payload}
}

// Len is the number of frames.
func (r Run) Len() int { return len(r.entries) }

// Pos is the position of frame i.
func (r Run) Pos(i int) subjects.Position { return r.entries[i].pos }

// Payload is the payload of frame i, shared with the run. A run that came from
// DecodeHead has none.
func (r Run) Payload(i int) []byte {
	e := r.entries[i]
	return r.buf[e.off : e.off+e.len : e.off+e.len]
}

// First is the position of the first frame, Last that of the last. The run
// must not be empty.
func (r Run) First() subjects.Position { return r.entries[0].pos }

// Last is the position of the last frame. The run must not be empty.
func (r Run) Last() subjects.Position { return r.entries[len(r.entries)-1].pos }

// Slice is frames i … j-1 of the run, sharing everything.
func (r Run) Slice(i, j int) Run {
	r.entries = r.entries[i:j]
	return r
}

// Consecutive is how many frames from i on have consecutive positions.
func (r Run) Consecutive(i int) int {
	n := 1
	for i+n < len(r.entries) && r.entries[i+n].pos == r.entries[i].pos+subjects.Position(n) {
		n++
	}
	return n
}

// Body is the run's body on the wire, shared with the run.
func (r Run) Body() []byte {
	if len(r.entries) == 0 {
		return nil
	}
	from, last := r.entries[0].off, r.entries[len(r.entries)-1]
	to := last.off + last.len
	return r.buf[from:to:to]
}

// Bytes is the sum of the payloads' lengths. It looks at no position, so that
// it may be asked while the run's owner renumbers it.
func (r Run) Bytes() int {
	if len(r.entries) == 0 {
		return 0
	}
	from, last := r.entries[0].off, &r.entries[len(r.entries)-1]
	return int(last.off+last.len-from) - (len(r.entries) - 1)
}

// Cost is what the run's frames count against a bound: payload + channel + 64
// for each (P5.1).
func (r Run) Cost() int { return r.Bytes() + len(r.entries)*(len(r.Channel)+Overhead) }

// Fit says how many frames from the start of r make one run within RunFrames
// and RunBytes, and how many bytes of payload they have: at least one frame, for
// a bigger one travels alone (P3.1). Of the empty run it is 0, 0.
func (r Run) Fit() (n, bytes int) {
	if len(r.entries) <= RunFrames && r.Bytes() <= RunBytes {
		return len(r.entries), r.Bytes()
	}
	for n < len(r.entries) && n < RunFrames {
		next := int(r.entries[n].len)
		if n > 0 && bytes+next > RunBytes {
			break
		}
		bytes += next
		n++
	}
	return n, bytes
}

// Renumber gives the frames consecutive positions from first on. Only the
// owner of a run that nobody shares yet, such as a decoded submission, may.
// It reports false, and changes nothing, if they would pass MaxPosition.
func (r Run) Renumber(first subjects.Position) bool {
	if n := subjects.Position(len(r.entries)); n == 0 || first > subjects.MaxPosition-(n-1) {
		return n == 0
	}
	for i := range r.entries {
		r.entries[i].pos = first + subjects.Position(i)
	}
	return true
}

// Header is the value of Ds-Run, "" when the run has a single frame and the
// header is to be absent.
func (r Run) Header() string {
	if len(r.entries) <= 1 {
		return ""
	}
	return string(r.appendHeader(make([]byte, 0, len(r.entries)*4)))
}

func (r Run) appendHeader(b []byte) []byte {
	for i, e := range r.entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(e.len), 10)
		if i > 0 {
			if skip := e.pos - r.entries[i-1].pos - 1; skip > 0 {
				b = append(b, '+')
				b = strconv.AppendUint(b, uint64(skip), 10)
			}
		}
	}
	return b
}
