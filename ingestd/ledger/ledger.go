package ledger

import (
	"fmt"
	"time"

	"datastream/subjects"
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
	// Streams is how many lives may be known at once; 65 536. Four times as many
	// that were forgotten are remembered by name.
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

// A Ledger holds the accounts of all known streams and the bounds they share.
type Ledger struct {
	cfg      Config
	accounts map[subjects.Stream]*Account
	holes    int  // of all accounts
	held     bool // nothing is given up
	evicting bool // the store had let go of messages when it was read

	running, ended order // all accounts, those with a closing beat apart
	signs          uint64
	forgot         subjects.Stream // by the last Beat or Restore
	buried         map[subjects.Stream]struct{}
	graves         []subjects.Stream // those buried, a ring: graves[grave] is the first
	grave          int

	epoch time.Time     // what now is relative to
	now   time.Duration // the latest instant told
	since time.Duration // no silence counts before this

	// Scratch of one call at a time, shared so that 65 536 accounts need none.
	teeth, merged, lost []control.Range
	asks                []ask
}

// New makes an empty ledger.
func New(cfg Config) *Ledger {
	return &Ledger{
		cfg:      cfg.withDefaults(),
		accounts: make(map[subjects.Stream]*Account),
		buried:   make(map[subjects.Stream]struct{}),
	}
}

// Find is the account of a stream. It is nil when neither the store nor a beat
// made the life known: its frames are to be refused, since a forgotten life
// would be committed twice (P7.2).
func (l *Ledger) Find(st subjects.Stream) *Account { return l.accounts[st] }

// Beat takes what a mux says of a stream, and makes its life known. A new one
// takes the place of one that is over, or of which no beat was ever heard, if
// need be (Forgot). It wraps ErrForgotten when the life was itself forgotten,
// ErrStreams when there is no room for it.
func (l *Ledger) Beat(st subjects.Stream, b control.Beat, now time.Time) (*Account, error) {
	t := l.tell(now)
	a, err := l.open(st)
	if err != nil {
		return nil, fmt.Errorf("take beat of %v: %w; %d lives are known, raise Streams for more", st, err, len(l.accounts))
	}
	a.beat(b, t)
	l.moved(a)
	return a, nil
}

// Restore makes a life known that the store holds frames of, and starts its
// silence. It is to be called for each message read: the order of calls says
// which lives showed a sign last, and those are kept. It is nil when the life
// was forgotten, or is now because there is no room: its frames will be refused,
// which commits none twice.
func (l *Ledger) Restore(st subjects.Stream, now time.Time) *Account {
	l.tell(now)
	a, err := l.open(st)
	if err != nil {
		if !l.Forgotten(st) {
			l.bury(st)
		}
		return nil
	}
	l.moved(a)
	return a
}

// Each calls f for every account, in no order.
func (l *Ledger) Each(f func(*Account)) {
	for _, a := range l.accounts {
		f(a)
	}
}

// Holes is how many holes all streams have.
func (l *Ledger) Holes() int { return l.holes }

// Streams is how many lives are known.
func (l *Ledger) Streams() int { return len(l.accounts) }

// Hold says whether commits fail: while held nothing is given up and no resend
// counts as vain (P7.7). When released, every silence starts anew.
func (l *Ledger) Hold(hold bool, now time.Time) {
	t := l.tell(now)
	if l.held && !hold {
		l.since = t
	}
	l.held = hold
}

// Resume says that the connection is back: every silence starts anew. Tick is
// not to be called while there is none.
func (l *Ledger) Resume(now time.Time) { l.since = l.tell(now) }

// open finds or makes an account. It fails with ErrForgotten or ErrStreams.
func (l *Ledger) open(st subjects.Stream) (*Account, error) {
	l.forgot = subjects.Stream{}
	if a := l.accounts[st]; a != nil {
		return a, nil
	}
	if l.Forgotten(st) {
		return nil, ErrForgotten
	}
	if !l.room() {
		return nil, ErrStreams
	}
	a := &Account{ledger: l, stream: st, quiet: l.now}
	l.accounts[st] = a
	return a, nil
}

// tell takes the time. It never falls.
func (l *Ledger) tell(now time.Time) time.Duration {
	if l.epoch.IsZero() {
		l.epoch = now
	}
	l.now = max(l.now, now.Sub(l.epoch))
	return l.now
}

// relieve closes holes of the streams that have most until all have at most so
// many. To find such a stream takes a look at every one, so a sixteenth of its
// holes goes at once.
func (l *Ledger) relieve(limit int) {
	for l.holes > limit {
		var most *Account
		for _, a := range l.accounts {
			if most == nil || a.holes > most.holes {
				most = a
			}
		}
		most.closeLowest(max(l.holes-limit, most.holes/16))
	}
}
