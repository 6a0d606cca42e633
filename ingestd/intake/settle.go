package intake

import (
	"time"

	"github.com/nats-io/nats.go"
)

// announce says how far a stream is settled, at most every 20 ms; when it
// must wait, it leaves the time in due.
func (in *Intake) announce(s *stream, now time.Time) {
	if at := s.announced.Add(in.cfg.SettleEvery); now.Before(at) {
		s.due = at
		return
	}
	news, changed := s.account.Settled()
	if !changed {
		return
	}
	s.announced = now
	s.due = now.Add(in.cfg.SettleEvery) // an announcement is bounded: there may be more
	if err := in.nc.PublishMsg(&nats.Msg{Subject: in.cfg.Space.Settled(s.id), Data: news.Encode()}); err != nil {
		in.metrics.unsent.Inc() // the mux's next beat shows that it has not heard
	}
}

// announceAll says the last word when stopping.
func (in *Intake) announceAll() {
	in.mu.Lock()
	defer in.mu.Unlock()
	now := time.Now()
	for _, s := range in.streams {
		s.announced = time.Time{}
		in.announce(s, now)
	}
	if in.nc.IsConnected() {
		if err := in.nc.FlushTimeout(in.cfg.StopWait); err != nil {
			in.log.Warn().Err(err).Msg("flushing the last announcements")
		}
	}
}
