package view

// tail keeps the last take records after the first skip, and the gaps among
// them, and gives them oldest first: the beginning of a stream with TAKE
// (L7.1). It takes records oldest first, or newest first where it need not
// skip: then it is full with take of them.
type tail struct {
	skip, take uint64
	newest     bool // records come newest first
	m          *room
	next       operator
	out        *record
	rows       []*held
	from       int // where rows begin
	counted    uint64
}

func (t *tail) push(r *record) error {
	if t.full() || t.take == 0 {
		return nil
	}
	if t.skip > 0 {
		if r.gap == nil {
			t.skip--
		}
		return nil
	}
	h, err := hold(r, nil, t.m)
	if err != nil {
		return err
	}
	t.rows = append(t.rows, h)
	if r.gap == nil {
		t.counted++
	}
	if !t.newest {
		t.forget()
	}
	return nil
}

// forget drops from the front what is more than take, each record with the
// gaps that stand before it.
func (t *tail) forget() {
	for t.counted > t.take {
		h := t.rows[t.from]
		t.rows[t.from] = nil
		t.from++
		_ = t.m.grow(-h.size) // giving back never fails
		if h.gap == nil {
			t.counted--
		}
	}
	if t.from > len(t.rows)/2 {
		n := copy(t.rows, t.rows[t.from:])
		clear(t.rows[n:])
		t.rows, t.from = t.rows[:n], 0
	}
}

func (t *tail) finish() error {
	rows := t.rows[t.from:]
	for i := range rows {
		h := rows[i]
		if t.newest {
			h = rows[len(rows)-1-i]
		}
		h.again(t.out)
		if err := t.next.push(t.out); err != nil {
			return err
		}
	}
	return t.next.finish()
}

func (t *tail) full() bool { return t.take == 0 || t.newest && t.counted >= t.take }

// Live is false: the watch has no last records.
func (t *tail) Live() bool { return false }
