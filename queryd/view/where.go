package view

// An operator is one step of a chain.
type operator interface {
	// push takes a record, which is its own until it returns.
	push(r *record) error
	// finish says that no record comes any more.
	finish() error
	// full reports whether no further record can change the answer.
	full() bool
	// Live reports whether the operator gives each record's rows at once, so
	// that it can stand in a watch.
	Live() bool
}

// where passes on the records for which all conditions hold.
type where struct {
	conds []*Cond
	next  operator
}

func (w *where) push(r *record) error {
	for _, c := range w.conds {
		if r.gap != nil && !c.concerns(r.gap) || r.gap == nil && !c.holds(r) {
			return nil
		}
	}
	return w.next.push(r)
}

func (w *where) finish() error { return w.next.finish() }
func (w *where) full() bool    { return w.next.full() }

// Live is true: each record is judged by itself.
func (w *where) Live() bool { return true }

// kept passes on the records of a mode: of EVENTS what is a record, of LOGS
// what is text (L12.1).
type kept struct {
	mode Mode
	next operator
}

func (k *kept) push(r *record) error {
	if r.gap == nil && (k.mode == Events && !r.isRecord() || k.mode == Logs && !r.channel.class.IsText(r.frame.Payload)) {
		return nil
	}
	return k.next.push(r)
}

func (k *kept) finish() error { return k.next.finish() }
func (k *kept) full() bool    { return k.next.full() }

// Live is true: a frame alone says what it is.
func (k *kept) Live() bool { return true }
