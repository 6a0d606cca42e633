package emit

import (
	"fmt"

	"datastream/subjects"
)

// A Reason says why a frame was dropped before it left the handle.
type Reason int

// The reasons of Drops.
const (
	ReasonNone    Reason = iota
	ReasonFull           // the handle's buffer was full
	ReasonChannel        // the channel is empty or too long
	ReasonSize           // the payload is too large
	ReasonClosed         // submitted after Close, or after the connection was closed
	ReasonRefused        // the connection or the mux would not take it
	ReasonUnsent         // Close, or the end of the connection, came first
	reasons
)

// String is the reason as a metric's label.
func (r Reason) String() string {
	names := [reasons]string{"none", "full", "channel", "size", "closed", "refused", "unsent"}
	if r < 0 || r >= reasons {
		return fmt.Sprintf("reason(%d)", int(r))
	}
	return names[r]
}

// Drops counts dropped frames by reason.
type Drops [reasons]uint64

// Total is all of them.
func (d Drops) Total() (n uint64) {
	for _, c := range d {
		n += c
	}
	return n
}

// Stats is what a handle has done. At every moment
// Submitted = Sent + Dropped.Total() + Buffered.
type Stats struct {
	Submitted uint64 // calls of Submit
	Sent      uint64 // frames handed to the connection, or kept by the sink
	Dropped   Drops
	Buffered  uint64 // frames that wait in the handle
	Messages  uint64 // messages that carried the frames sent
	Marks     uint64 // marks published
}

// A Report is what became of the frames that a Paced handle took. The frames
// that are in none of Settled, Lost and Unknown are still under way; there are
// none once Close has returned.
type Report struct {
	Submitted uint64          // frames that Submit took
	Settled   uint64          // committed to the store
	Lost      uint64          // certainly not committed
	Unknown   uint64          // committed or not, nobody can tell
	Lives     []subjects.Life // those that took frames, in the order of their first; at most 1024
}

// Open is how many frames are under way.
func (r Report) Open() uint64 { return r.Submitted - r.Settled - r.Lost - r.Unknown }
