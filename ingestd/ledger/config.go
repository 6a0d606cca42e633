package ledger

import (
	"time"

	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// Config bounds a Ledger. A zero field takes its default.
type Config struct {
	// StreamHoles is how many holes a stream may have before its lowest is
	// closed for good (P7.2); 4096.
	StreamHoles int
	// Holes is how many all streams may have; 262 144.
	Holes int
	// Streams is how many lives may be known at once; 65 536.
	Streams int
	// AskAfter is the age at which a hole is asked for; 2 ms (P7.1).
	AskAfter time.Duration
	// AskAgain is how long a hole rests between two requests; 1 s.
	AskAgain time.Duration
	// Resends is how many resends may be in vain before a position is given
	// up; 10.
	Resends int
	// Dead is the silence after which a life is over; 60 s.
	Dead time.Duration
	// AskRanges is how many ranges one request names; 256. It is cut to
	// control.MaxRanges.
	AskRanges int
}

// slack is what interleaved runs may put on top of a hole bound for the short
// time until the others of their slice are there: every frame of a slice but
// one can lie before a hole that the next message fills.
const slack = frame.SliceFrames

// withDefaults fills what is zero.
func (c Config) withDefaults() Config {
	fill(&c.StreamHoles, 4096)
	fill(&c.Holes, 262144)
	fill(&c.Streams, 65536)
	fill(&c.AskAfter, 2*time.Millisecond)
	fill(&c.AskAgain, time.Second)
	fill(&c.Resends, 10)
	fill(&c.Dead, time.Minute)
	fill(&c.AskRanges, 256)
	c.AskRanges = min(c.AskRanges, control.MaxRanges)
	return c
}

func fill[T int | time.Duration](v *T, standard T) {
	if *v <= 0 {
		*v = standard
	}
}
