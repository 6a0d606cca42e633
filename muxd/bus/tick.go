package bus

import (
	"time"

	"datastream/muxd/mux"
)

// tick does what time asks for: beats, paced runs held too long, streams that
// are idle or closing.
func (b *Bus) tick(now time.Time) {
	b.transportLoss(now)
	b.retryPaced(now)
	b.mu.Lock()
	settled := func(m *mux.Mux) bool {
		s := b.streams[m.Stream()]
		return s != nil && s.below >= m.Counts().Assigned
	}
	var idle []*stream
	for _, m := range b.nodes.Expire(now, settled) {
		if s := b.streams[m.Stream()]; s != nil && !s.closing {
			b.retire(s, time.Time{})
			idle = append(idle, s)
		}
	}
	b.beats(now)
	ended := b.finish(now)
	b.mu.Unlock()
	for _, s := range idle {
		b.close(s)
	}
	for _, s := range ended {
		b.abandonWaits(s)
	}
}

// transportLoss looks whether the connection dropped what was meant for the
// intake loop: then each stream with unnumbered submissions in the last 10 s
// spends a position, for nobody can say whose they were (P4.2).
func (b *Bus) transportLoss(now time.Time) {
	dropped, err := b.subs.submit.Dropped()
	if err != nil || dropped <= b.lossSeen {
		return
	}
	b.metrics.intakeLost.Add(float64(dropped - b.lossSeen))
	b.log.Warn().Int("messages", dropped-b.lossSeen).Msg("submissions came faster than they could be taken in; what was lost shows as gaps")
	b.lossSeen = dropped
	b.spendUnnumbered(now)
}

func (b *Bus) spendUnnumbered(now time.Time) {
	b.mu.Lock()
	var lossy []*stream
	for _, s := range b.streams {
		if !s.closing && !s.unnumbered.IsZero() && now.Sub(s.unnumbered) < lossyLookback {
			lossy = append(lossy, s)
		}
	}
	b.mu.Unlock()
	for _, s := range lossy {
		s.mux.Skip(1, mux.ReasonTransport)
		b.mark(s)
	}
}

// watch compares two ticks: a process that was suspended gets new lives, for
// ingest may have counted the old ones out (P1.1).
func (b *Bus) watch(last, now time.Time) {
	slept := max(now.Sub(last), now.Round(0).Sub(last.Round(0)))
	if slept < suspended {
		return
	}
	b.log.Warn().Stringer("for", slept).Msg("the process was suspended, or its clock was set; every stream gets a new life")
	var old []*stream
	b.mu.Lock()
	for _, s := range b.streams {
		if !s.closing {
			old = append(old, s)
		}
	}
	for _, s := range old { // not while ranging over streams, which grow here
		born := b.nodes.Reborn(s.mux, now)
		b.retire(s, time.Time{})
		if born != nil {
			b.adopt(born, now)
		}
	}
	b.mu.Unlock()
	for _, s := range old {
		b.close(s)
	}
}

// leave hands the node over to a gateway, if there is one: it takes the node
// from this mux's leaving beat on. Once that beat has come back, the gateway
// has it, too, or is about to; what still comes until the subscription is gone
// is taken all the same, for an overlap is two lives, and a hole would be a
// loss.
func (b *Bus) leave() {
	b.mu.Lock()
	b.leaving = true
	for _, s := range b.streams {
		b.sendBeat(s, time.Now())
	}
	b.mu.Unlock()
	wait := time.NewTimer(leaveWait)
	defer wait.Stop()
	for !b.left {
		select {
		case m := <-b.in:
			b.handle(m, time.Now())
		case <-wait.C:
			return
		}
	}
}

// handleUntil goes on handling what comes in until done says that all of it
// has come.
func (b *Bus) handleUntil(done <-chan error) error {
	for {
		select {
		case m := <-b.in:
			b.handle(m, time.Now())
		case err := <-done:
			return err
		}
	}
}

// stopIntake begins the end: no new submissions, every stream closes.
func (b *Bus) stopIntake() {
	if b.cfg.Node != "" && b.nc.IsConnected() {
		b.leave()
	}
	if b.nc.IsConnected() {
		// What the server sent before it heard of that is taken in: drained,
		// the subscription lives until then.
		b.transportLoss(time.Now())
		flushed := make(chan error, 1)
		go func() {
			err := b.subs.submit.Drain()
			if err == nil {
				err = b.nc.FlushTimeout(b.cfg.StopWait)
			}
			flushed <- err
		}()
		if err := b.handleUntil(flushed); err != nil {
			b.log.Warn().Err(err).Msg("flushing at the end of intake")
		}
	} else {
		b.unsubscribe(b.subs.submit)
	}
	for range len(b.in) {
		b.handle(<-b.in, time.Now())
	}
	by := time.Now().Add(b.cfg.StopWait)
	b.mu.Lock()
	b.stopping = true
	var all []*stream
	for _, s := range b.streams {
		b.retire(s, by)
		all = append(all, s)
	}
	b.mu.Unlock()
	for _, s := range all {
		b.close(s)
	}
}

// allClosed reports whether every stream is closed.
func (b *Bus) allClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.streams) == 0
}
