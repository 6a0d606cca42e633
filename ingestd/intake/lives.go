package intake

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/ingestd/ledger"
	"datastream/subjects"
	"datastream/subjects/control"
)

// maxNamed bounds the refused lives that were named in the log.
const maxNamed = 4096

// beat takes note of what a mux says of a stream.
func (in *Intake) beat(m *nats.Msg, now time.Time) *stream {
	id, err := in.cfg.Space.ParseBeat(m.Subject)
	if err != nil {
		return in.refuse(m, err)
	}
	b, err := control.DecodeBeat(m.Data)
	if err != nil {
		return in.refuse(m, err)
	}
	account, err := in.ledger.Beat(id, b, now)
	in.letGo()
	if err != nil {
		in.refuseLife(id, err)
		return nil
	}
	account.Heard(b.Below)
	delete(in.strange, id)
	delete(in.named, id)
	return in.open(account)
}

// letGo follows the ledger when it has forgotten a life to make room for
// another: nothing of it waits for its commit, and its frames will be refused
// (P7.2).
func (in *Intake) letGo() {
	id, ok := in.ledger.Forgot()
	if !ok {
		return
	}
	in.metrics.forgotten.Inc()
	if s := in.streams[id]; s != nil {
		s.forgotten = true
		in.waiting -= s.waiting
		delete(in.streams, id)
	}
}

// refuseLife counts a beat that makes no life known, and names its life once.
func (in *Intake) refuseLife(id subjects.Stream, err error) {
	reason := "streams"
	if errors.Is(err, ledger.ErrForgotten) {
		reason = "forgotten_beat"
	}
	in.metrics.refused.WithLabelValues(reason).Inc()
	if _, ok := in.named[id]; ok {
		return
	}
	if len(in.named) >= maxNamed {
		clear(in.named)
	}
	in.named[id] = struct{}{}
	in.log.Error().Err(err).Stringer("stream", id).Msg("a life is refused, and all its frames")
}

// refuseFrames counts frames of a life that is not known. A mux that is only not
// known yet is asked to show itself; a forgotten one could not be let in.
func (in *Intake) refuseFrames(id subjects.Stream, frames int, now time.Time) {
	if in.ledger.Forgotten(id) {
		in.metrics.refused.WithLabelValues("forgotten_life").Add(float64(frames))
		return
	}
	in.metrics.refused.WithLabelValues("unknown_life").Add(float64(frames))
	in.askForBeat(id, now)
}

// awake notices that the process was suspended, or got no turn for long: what
// the muxes said meanwhile is still to be read, so silence before now counts
// against none of them.
func (in *Intake) awake(now time.Time) {
	if !in.woke.IsZero() && now.Sub(in.woke) > housekeeping+asleep {
		in.ledger.Resume(now)
	}
	in.woke = now
}

// lookAtLives finds, once a second, the lives whose muxes are silent.
func (in *Intake) lookAtLives(now time.Time) {
	if now.Sub(in.lookedAt) < housekeeping || !in.nc.IsConnected() {
		return
	}
	in.lookedAt = now
	in.ledger.Each(func(a *ledger.Account) {
		over := a.Over()
		a.Tick(now)
		if a.News() {
			in.activate(in.open(a))
		}
		if a.Over() != over {
			if !a.Counts().Heard.IsZero() { // else one that ended before this process began
				in.log.Info().Stringer("stream", a.Stream()).Msg("a life is over: its mux has been silent for a minute")
			}
			in.activate(in.open(a))
		}
	})
}
