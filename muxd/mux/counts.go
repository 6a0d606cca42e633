package mux

import "datastream/subjects"

// A Reason is why a position was spent on a frame that the mux does not hold.
type Reason uint8

// The reasons, in the order of Counts.Dropped.
const (
	// ReasonBuffer: the stream's buffer was full.
	ReasonBuffer Reason = iota
	// ReasonProcess: the buffers of the process were full together (Shared).
	ReasonProcess
	// ReasonChannels: the stream bears as many channels as allowed, and this
	// frame is of another.
	ReasonChannels
	// ReasonTooBig: the frame passed MaxFrame.
	ReasonTooBig
	// ReasonProducer: a numbered producer's submission did not arrive (P4.2).
	ReasonProducer
	// ReasonTransport: the mux's own subscription reported loss (P4.2).
	ReasonTransport
	// ReasonRefused: a submission was refused, and nobody else can see that
	// its frame is lost.
	ReasonRefused
	// Reasons is how many reasons there are.
	Reasons
)

var reasonNames = [Reasons]string{"buffer", "process", "channels", "too_big", "producer", "transport", "refused"}

// String is the reason as a metric's label.
func (r Reason) String() string {
	if r >= Reasons {
		return "unknown"
	}
	return reasonNames[r]
}

// Counts is one consistent look at a mux.
type Counts struct {
	// Assigned is how many positions were given: the next one.
	Assigned subjects.Position
	// Drained is where the next slice begins: positions below were handed
	// out by Drain, or dropped.
	Drained subjects.Position
	// Dropped counts, by Reason, the positions that are in no slice's cuts.
	Dropped [Reasons]uint64
	// Frames and Bytes are what is buffered, by frame.Run.Cost, until the
	// slice that holds it is drained.
	Frames, Bytes int
	// Channels is how many channels the stream bears.
	Channels int
	// Closed is true when no more positions are given.
	Closed bool
}

// Lost is the sum of Dropped.
func (c Counts) Lost() uint64 {
	var n uint64
	for _, d := range c.Dropped {
		n += d
	}
	return n
}

// Counts looks at the mux. For every look, Assigned = what Drain gave +
// Frames + Lost (P9.3).
func (m *Mux) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Counts{
		Assigned: m.next, Drained: m.drained, Dropped: m.dropped,
		Frames: m.frames, Bytes: m.bytes, Channels: len(m.channels), Closed: m.closed,
	}
}
