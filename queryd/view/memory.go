package view

// Memory is the room that running queries share. Grow takes n bytes, or gives
// -n back, and reports whether there was room; giving back never fails.
type Memory interface {
	Grow(n int64) bool
}

// A Bound is Memory of so many bytes, for one query at a time.
type Bound int64

// Grow takes n bytes of what is left.
func (b *Bound) Grow(n int64) bool {
	if n > int64(*b) {
		return false
	}
	*b -= Bound(n)
	return true
}

// room is what one Run has taken of the Memory, so that it can give back all.
type room struct {
	of    Memory
	taken int64
}

func (r *room) grow(n int) error {
	if !r.of.Grow(int64(n)) {
		return ErrMemory
	}
	r.taken += int64(n)
	return nil
}

func (r *room) release() {
	r.of.Grow(-r.taken)
	r.taken = 0
}
