package mux

import "sync/atomic"

// DefaultShared bounds the buffers of a process when none is given.
const DefaultShared = 64 << 20

// Shared bounds the buffers of all muxes of a process together: what they
// hold between Submit and Drain costs no more than its bytes. It is safe for
// concurrent use; a nil Shared bounds nothing.
type Shared struct {
	bound int64
	used  atomic.Int64
}

// NewShared makes a bound of so many bytes, by frame.Run.Cost; not above zero
// means DefaultShared.
func NewShared(bytes int) *Shared {
	if bytes <= 0 {
		bytes = DefaultShared
	}
	return &Shared{bound: int64(bytes)}
}

// Used is what is held now.
func (s *Shared) Used() int {
	if s == nil {
		return 0
	}
	return int(s.used.Load())
}

// free is what could be held besides, at this instant.
func (s *Shared) free() int { return int(s.bound - s.used.Load()) }

// ever reports whether a cost fits when nothing else is held.
func (s *Shared) ever(cost int) bool { return s == nil || int64(cost) <= s.bound }

// fits reports whether a cost would fit now.
func (s *Shared) fits(cost int) bool { return s == nil || cost <= s.free() }

// reserve takes a cost, or nothing.
func (s *Shared) reserve(cost int) bool {
	if s == nil {
		return true
	}
	for {
		used := s.used.Load()
		if used+int64(cost) > s.bound {
			return false
		}
		if s.used.CompareAndSwap(used, used+int64(cost)) {
			return true
		}
	}
}

// release gives a cost back.
func (s *Shared) release(cost int) {
	if s != nil {
		s.used.Add(int64(-cost))
	}
}
