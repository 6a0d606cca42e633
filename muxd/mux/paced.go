package mux

import (
	"strings"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// Defaults of PacedConfig (P4.3).
const (
	DefaultRoom           = 8 << 20
	DefaultHeld           = 8 << 20
	DefaultHold           = 5 * time.Second
	DefaultPacedProducers = 4096
	DefaultMemory         = 512 // twice what a handle has unanswered
)

// PacedConfig is what Paced may be told. Fields that are not above zero take
// their defaults.
type PacedConfig struct {
	// Room is the most paced bytes that may be unsettled, by frame.Run.Cost.
	// The bus counts them (see Room, the type); here a run above it is refused
	// for good.
	Room int
	// Held bounds the runs that wait, by cost, and Hold how long one waits.
	Held int
	Hold time.Duration
	// Producers is how many producers are remembered, and Memory how many
	// taken runs of each.
	Producers, Memory int
}

func (c PacedConfig) withDefaults() PacedConfig {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&c.Room, DefaultRoom)
	set(&c.Held, DefaultHeld)
	set(&c.Producers, DefaultPacedProducers)
	set(&c.Memory, DefaultMemory)
	if c.Hold <= 0 {
		c.Hold = DefaultHold
	}
	return c
}

// An Offer is a paced run as it came in.
type Offer struct {
	Seq   frame.Seq
	Run   frame.Run
	Reply string
	// Committed is true when the answer is to wait for the fsync (P4.4). It is
	// carried, not interpreted.
	Committed bool
}

// Room reports whether so many more unsettled paced bytes would find room in
// the ring and in what may be unsettled, those that are on their way counted.
// Within one call of Retry the cost includes what that call has taken.
type Room func(cost int) bool

// A Verdict is what to answer to an offer. The offer's run belongs to the mux
// when it was taken: its length and cost may be read, its positions not.
type Verdict struct {
	Mux    *Mux
	Offer  Offer
	Answer control.Answer
	// Taken is true when positions were spent just now, not when the answer
	// repeats an earlier one.
	Taken bool
}

// Paced decides about paced runs: which is taken, which waits, which is
// refused. It is not safe for concurrent use.
type Paced struct {
	cfg     PacedConfig
	sources *recent[*Mux, string, source]
	queue   queue
}

// NewPaced makes one that knows no producer.
func NewPaced(cfg PacedConfig) *Paced {
	cfg = cfg.withDefaults()
	return &Paced{cfg: cfg, sources: newRecent[*Mux, string, source](cfg.Producers)}
}

// Waiting is how many runs are held.
func (p *Paced) Waiting() int { return p.queue.len }

// Held is the cost of the runs held.
func (p *Paced) Held() int { return p.queue.cost }

// Offer decides about a run that came in for m, and appends the verdict. It
// appends none when the run is held: that comes from Retry or Forget; nor ever
// for an offer whose place a resent one has taken.
func (p *Paced) Offer(m *Mux, o Offer, room Room, now time.Time, out []Verdict) []Verdict {
	count := o.Run.Len()
	switch {
	case count == 0:
		return append(out, m.refuse(o, ErrorEmpty, 0))
	case o.Seq.N+uint64(count) < o.Seq.N:
		return append(out, m.refuse(o, ErrorNumber, 0))
	}
	at := p.sources.get(m, o.Seq.Producer)
	var next, expected uint64
	if at != nil {
		next, expected = at.value.next, at.value.expected()
	}
	switch {
	case o.Seq.N < next:
		first, ok := at.value.recall(o.Seq.N, count)
		if !ok {
			return append(out, m.refuse(o, ErrorForgotten, 0))
		}
		return append(out, m.accept(o, first, false))
	case m.Closed():
		return append(out, m.refuse(o, ErrorClosed, 0))
	case o.Seq.N < expected:
		if h := at.value.waiting(o.Seq.N); h != nil && h.offer.Run.Len() == count {
			h.offer.Reply, h.offer.Committed = o.Reply, o.Committed
			return out
		}
		return append(out, m.refuse(o, control.ErrorOrder, next)) // cut otherwise than what waits
	case o.Seq.N > expected:
		return append(out, m.refuse(o, control.ErrorOrder, expected))
	}
	return p.inTurn(m, at, o, room, now, out)
}

// inTurn takes, holds or refuses a run with the expected number.
func (p *Paced) inTurn(m *Mux, at *place[*Mux, string, source], o Offer, room Room, now time.Time, out []Verdict) []Verdict {
	cost := o.Run.Cost()
	if final := p.never(m, o.Run, cost); final != "" {
		return append(out, m.refuse(o, final, 0))
	}
	// Whoever finds others waiting has no room, whatever there is.
	first, hold := p.queue.len == 0 && room(cost), cost <= p.cfg.Held-p.queue.cost
	if at == nil && (first || hold) {
		at = p.sources.put(m, strings.Clone(o.Seq.Producer)) // nil when all have runs waiting
	}
	if at != nil && first {
		if v, f := p.take(m, at, o); f == fits {
			return append(out, v)
		} else if final := f.final(); final != "" {
			return append(out, m.refuse(o, final, 0))
		}
	}
	if at == nil || !hold {
		return append(out, m.refuse(o, control.ErrorRoom, o.Seq.N))
	}
	h := &held{mux: m, place: at, offer: o, cost: cost, since: now}
	p.queue.push(h)
	at.value.held = append(at.value.held, h)
	p.sources.pin(at)
	return out
}

// never is the answer to a run that no waiting would help, else "".
func (p *Paced) never(m *Mux, r frame.Run, cost int) string {
	if cost > p.cfg.Room {
		return ErrorTooMuch
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fit(r, hash(r.Channel)).final()
}

// take submits a run that is next in line, if the mux has room for it.
func (p *Paced) take(m *Mux, at *place[*Mux, string, source], o Offer) (Verdict, fit) {
	first, f := m.submitWhole(o.Run)
	if f != fits {
		return Verdict{}, f
	}
	at.value.remember(taken{n: o.Seq.N, count: o.Run.Len(), first: first}, p.cfg.Memory)
	return m.accept(o, first, true), fits
}

// Retry takes the held runs that now find room, in the order in which they
// came, and refuses those that were held too long. It is called when room may
// have appeared, and on a tick.
func (p *Paced) Retry(room Room, now time.Time, out []Verdict) []Verdict {
	used := 0
	for h := p.queue.first; h != nil; h = p.queue.first {
		f := full
		if room(used + h.cost) {
			var v Verdict
			if v, f = p.take(h.mux, h.place, h.offer); f == fits {
				used += h.cost
				p.release(h, 1)
				out = append(out, v)
				continue
			}
		}
		switch final := f.final(); {
		case final != "":
			out = p.giveUp(h, final, out)
		case now.Sub(h.since) >= p.cfg.Hold:
			out = p.giveUp(h, control.ErrorRoom, out)
		default:
			return out // those behind it wait their turn
		}
	}
	return out
}

// giveUp refuses a held run, the first of its producer, and with it those
// that follow it: all go back to its number.
func (p *Paced) giveUp(h *held, reason string, out []Verdict) []Verdict {
	next, waiting := h.offer.Seq.N, h.place.value.held
	for _, w := range waiting {
		out = append(out, w.mux.refuse(w.offer, reason, next))
		if reason != control.ErrorRoom {
			reason = control.ErrorOrder // the others may come again
		}
	}
	p.release(h, len(waiting))
	return out
}

// release takes the first n held runs of h's producer out of the queue.
func (p *Paced) release(h *held, n int) {
	s := &h.place.value
	for i, w := range s.held[:n] {
		p.queue.remove(w)
		s.held[i] = nil
	}
	if s.held = s.held[n:]; len(s.held) == 0 {
		s.held = nil
		p.sources.unpin(h.place)
	}
}

// Forget drops the producers of a life that is over, and refuses what they
// had waiting.
func (p *Paced) Forget(m *Mux, out []Verdict) []Verdict {
	for _, at := range p.sources.groups[m] {
		for _, h := range at.value.held {
			out = append(out, m.refuse(h.offer, ErrorClosed, 0))
			p.queue.remove(h)
		}
	}
	p.sources.forget(m)
	return out
}

// accept is the answer that names positions.
func (m *Mux) accept(o Offer, first subjects.Position, now bool) Verdict {
	return Verdict{Mux: m, Offer: o, Taken: now, Answer: control.Answer{
		Node: m.node, Life: m.stream.Life, Position: first, Count: o.Run.Len(),
	}}
}

// refuse is the answer that names an error.
func (m *Mux) refuse(o Offer, reason string, next uint64) Verdict {
	return Verdict{Mux: m, Offer: o, Answer: control.Answer{
		Node: m.node, Life: m.stream.Life, Error: reason, Next: next,
	}}
}
