package ring

// ages lists the unpaced runs of all streams, oldest first, linked through the
// entries themselves, so that any of them leaves in constant time.
type ages struct {
	root entry // newer is the oldest run, older the newest
}

func (a *ages) init() { a.root.older, a.root.newer = &a.root, &a.root }

func (a *ages) empty() bool { return a.root.newer == &a.root }

// oldest must not be called on an empty list.
func (a *ages) oldest() *entry { return a.root.newer }

func (a *ages) push(e *entry) {
	last := a.root.older
	e.older, e.newer = last, &a.root
	last.newer, a.root.older = e, e
}

func (a *ages) remove(e *entry) {
	e.older.newer, e.newer.older = e.newer, e.older
	e.older, e.newer = nil, nil
}
