package mux

// recent remembers a bounded number of values by group and key, and forgets
// the least recently used. A pinned place is neither forgotten nor does it
// take part in the order. Every operation takes constant time, but forget,
// which takes that of the group.
type recent[G, K comparable, V any] struct {
	limit  int
	size   int // pinned places included
	groups map[G]map[K]*place[G, K, V]
	root   place[G, K, V] // next is the most recently used
}

// place is where one value is remembered.
type place[G, K comparable, V any] struct {
	group      G
	key        K
	value      V
	prev, next *place[G, K, V] // nil while pinned
}

func newRecent[G, K comparable, V any](limit int) *recent[G, K, V] {
	r := &recent[G, K, V]{limit: limit, groups: make(map[G]map[K]*place[G, K, V])}
	r.root.prev, r.root.next = &r.root, &r.root
	return r
}

// get finds a place and makes it the most recent; nil when there is none.
func (r *recent[G, K, V]) get(g G, k K) *place[G, K, V] {
	p := r.groups[g][k]
	if p != nil && p.next != nil && r.root.next != p {
		r.unlink(p)
		r.link(p)
	}
	return p
}

// put makes a place for a key that has none; nil when all places are pinned.
func (r *recent[G, K, V]) put(g G, k K) *place[G, K, V] {
	if r.size >= r.limit {
		last := r.root.prev
		if last == &r.root {
			return nil
		}
		r.drop(last)
	}
	keys := r.groups[g]
	if keys == nil {
		keys = make(map[K]*place[G, K, V])
		r.groups[g] = keys
	}
	p := &place[G, K, V]{group: g, key: k}
	keys[k] = p
	r.size++
	r.link(p)
	return p
}

// pin keeps a place until unpin.
func (r *recent[G, K, V]) pin(p *place[G, K, V]) {
	if p.next != nil {
		r.unlink(p)
	}
}

// unpin makes a pinned place the most recent of the others.
func (r *recent[G, K, V]) unpin(p *place[G, K, V]) {
	if p.next == nil {
		r.link(p)
	}
}

// drop forgets one place.
func (r *recent[G, K, V]) drop(p *place[G, K, V]) {
	r.pin(p)
	keys := r.groups[p.group]
	delete(keys, p.key)
	if len(keys) == 0 {
		delete(r.groups, p.group)
	}
	r.size--
}

// forget drops a whole group.
func (r *recent[G, K, V]) forget(g G) {
	for _, p := range r.groups[g] {
		r.drop(p)
	}
}

func (r *recent[G, K, V]) link(p *place[G, K, V]) {
	p.prev, p.next = &r.root, r.root.next
	p.next.prev, r.root.next = p, p
}

func (r *recent[G, K, V]) unlink(p *place[G, K, V]) {
	p.prev.next, p.next.prev = p.next, p.prev
	p.prev, p.next = nil, nil
}
