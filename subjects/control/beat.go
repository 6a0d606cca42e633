package control

import (
	"fmt"

	"datastream/subjects"
)

// A Beat is what a mux says of one stream: at birth, each second while
// something changes, else every 10 s (P2).
type Beat struct {
	// Assigned is how many positions were given: the next one.
	Assigned subjects.Position `json:"assigned"`
	// Drained is the position below which everything was published, but for
	// what was dropped.
	Drained subjects.Position `json:"drained"`
	// Dropped counts positions spent on frames that the mux did not keep,
	// whatever the reason.
	Dropped uint64 `json:"dropped"`
	// Oldest is the position below which nothing can be sent again; equal to
	// Drained when the ring holds nothing of the stream.
	Oldest subjects.Position `json:"oldest"`
	// Below is the settled bound the mux has last heard of.
	Below subjects.Position `json:"below"`
	// Closed is true in the last beat of a life: nothing follows it.
	Closed bool `json:"closed,omitempty"`
	// Leaving is true from when the mux of a single node begins to stop: from
	// this beat on submissions are a gateway's to take.
	Leaving bool `json:"leaving,omitempty"`
	// Gateway is true when the mux serves every node without a mux of its own.
	Gateway bool `json:"gateway,omitempty"`
	// Instance is the id of the mux process, the same in all its beats.
	Instance string `json:"instance,omitempty"`
}

// Encode is the beat as it travels.
func (b Beat) Encode() []byte { return encode(b) }

// DecodeBeat reads a beat. It wraps ErrMessage.
func DecodeBeat(body []byte) (Beat, error) {
	var b Beat
	if err := decode("beat", body, &b); err != nil {
		return Beat{}, err
	}
	if b.Drained > b.Assigned || b.Oldest > b.Drained || b.Below > b.Assigned ||
		b.Dropped > uint64(b.Assigned) || len(b.Instance) > 128 {
		return Beat{}, fmt.Errorf("%w: beat %.200s contradicts itself", ErrMessage, body)
	}
	return b, nil
}

// Settled is what ingest says of one stream: every position below Below is
// committed or given up (P2).
type Settled struct {
	Below subjects.Position `json:"below"`
	// Lost is how many positions below Below were given up, over the whole life.
	Lost uint64 `json:"lost"`
	// Gone lists those given up since the announcement before, so that a
	// producer knows whether its own are among them. When the lengths do not
	// add up to the growth of Lost, some are unsaid.
	Gone []Range `json:"gone,omitempty"`
	// Closed is true when the mux has ended the life and all of it is settled:
	// no more will be.
	Closed bool `json:"closed,omitempty"`
	// Silent is true when nothing was heard of the mux for so long that what
	// was missing has been given up. A beat revives the life, and what the mux
	// still has is committed after all.
	Silent bool `json:"silent,omitempty"`
}

// Encode is the announcement as it travels.
func (s Settled) Encode() []byte { return encode(s) }

// DecodeSettled reads an announcement. It wraps ErrMessage.
func DecodeSettled(body []byte) (Settled, error) {
	var s Settled
	if err := decode("settled", body, &s); err != nil {
		return Settled{}, err
	}
	if s.Lost > uint64(s.Below) {
		return Settled{}, fmt.Errorf("%w: settled %.200s contradicts itself", ErrMessage, body)
	}
	if err := checkRanges("settled", s.Gone); err != nil {
		return Settled{}, err
	}
	return s, nil
}
