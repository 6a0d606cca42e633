package view

// limit leaves out the first records and ends after so many: SKIP and TAKE. A
// gap is not counted and belongs to the frame that it stands before: so the
// pages of SKIP n TAKE n show each gap once. (L4.4)
type limit struct {
	skip, take uint64
	hasTake    bool
	next       operator
}

func (l *limit) push(r *record) error {
	switch {
	case l.full():
		return nil
	case r.gap != nil:
		if l.skip > 0 {
			return nil
		}
	case l.skip > 0:
		l.skip--
		return nil
	case l.hasTake:
		l.take--
	}
	return l.next.push(r)
}

func (l *limit) finish() error { return l.next.finish() }
func (l *limit) full() bool    { return l.hasTake && l.take == 0 || l.next.full() }

// Live is false: a watch has no first records.
func (l *limit) Live() bool { return false }
