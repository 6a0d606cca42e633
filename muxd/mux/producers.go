package mux

import (
	"math"
	"strings"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// Bounds of P4.2.
const (
	// DefaultProducers is how many numbered producers are remembered.
	DefaultProducers = 65536
	// MaxStep is the largest step forward that is taken for loss; a larger one
	// is a new start.
	MaxStep = 1 << 20
)

// Producers remembers what the numbered producers of unpaced submissions said
// last, so that what is missing between two of them is seen (P4.2). It
// remembers those last heard, and takes any other for a new start. It is not
// safe for concurrent use.
type Producers struct {
	heard *recent[subjects.Stream, string, uint64] // the number expected next
}

// NewProducers makes a memory of so many producers; not above zero means
// DefaultProducers.
func NewProducers(limit int) *Producers {
	if limit <= 0 {
		limit = DefaultProducers
	}
	return &Producers{heard: newRecent[subjects.Stream, string, uint64](limit)}
}

// Heard takes note of an unpaced run of n frames, the first of which bears
// the number of q (a mark has none), and returns how many positions to spend
// before it for what did not arrive: the step forward; for a step above
// MaxStep or one back, and for an unknown producer that does not begin at 0,
// one, for something was lost and nobody knows how much.
func (p *Producers) Heard(st subjects.Stream, q frame.Seq, n int) (missing uint64) {
	at := p.heard.get(st, q.Producer)
	if at == nil {
		// The name may be part of a message: let that go.
		at = p.heard.put(st, strings.Clone(q.Producer))
		if q.N > 0 {
			missing = 1
		}
	} else if q.N != at.value {
		if missing = q.N - at.value; q.N < at.value || missing > MaxStep {
			missing = 1
		}
	}
	if at.value = q.N + uint64(n); at.value < q.N {
		at.value = math.MaxUint64 // whatever follows is a new start
	}
	return missing
}

// Forget drops the producers of a life that is over.
func (p *Producers) Forget(st subjects.Stream) { p.heard.forget(st) }
