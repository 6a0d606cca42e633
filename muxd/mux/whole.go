package mux

import (
	"datastream/subjects"
	"datastream/subjects/frame"
)

// A fit is whether a run can be taken whole: now, later, or never.
type fit uint8

const (
	fits fit = iota
	// full: not now.
	full
	// The rest is final.
	closed
	tooBig
	tooMuch
	noChannel
)

// final is what to answer when waiting does not help, "" when it may.
func (f fit) final() string {
	switch f {
	case closed:
		return ErrorClosed
	case tooBig:
		return ErrorTooBig
	case tooMuch:
		return ErrorTooMuch
	case noChannel:
		return ErrorChannels
	}
	return ""
}

// fit judges a run; the lock is held.
func (m *Mux) fit(r frame.Run, channel uint64) fit {
	n, cost := r.Len(), r.Cost()
	switch {
	case m.closed || uint64(n) > uint64(subjects.MaxPosition+1-m.next):
		return closed
	case m.sound(r, 0) < n:
		return tooBig
	case n > m.cfg.BufferFrames || cost > m.cfg.BufferBytes || !m.shared.ever(cost):
		return tooMuch
	case !m.bears(channel):
		return noChannel
	case n > m.cfg.BufferFrames-m.frames || cost > m.cfg.BufferBytes-m.bytes || !m.shared.fits(cost):
		return full
	}
	return fits
}

// submitWhole is Submit of a paced run, whole or not at all, in one critical
// section: others may submit between a look at the room and a submission.
func (m *Mux) submitWhole(r frame.Run) (subjects.Position, fit) {
	channel := hash(r.Channel)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.fit(r, channel); f != fits {
		return 0, f
	}
	cost := r.Cost()
	if !m.shared.reserve(cost) {
		return 0, full // another mux was faster
	}
	first, _ := m.spend(uint64(r.Len())) // fit has looked
	m.admits(channel)
	m.hold(r, first, true, cost)
	return first, fits
}
