package view

import "sort"

// merge puts gaps among records that come in commit order, each right before
// the first frame of its stream beyond it, whether that frame is a record of
// the answer or not. (L4.4)
type merge struct {
	newest bool // records come newest first
	gaps   []gap
	sorted bool
	out    *record
	next   operator
}

// add takes the gaps of one stream, before the first record.
func (m *merge) add(gaps []gap) {
	for _, g := range gaps {
		if g.known {
			m.gaps = append(m.gaps, g)
		}
	}
}

func (m *merge) push(r *record) error {
	if err := m.until(r.place(), false); err != nil {
		return err
	}
	return m.next.push(r)
}

// until gives the gaps that stand before the frame at a place, or all.
func (m *merge) until(p place, all bool) error {
	if !m.sorted {
		sort.SliceStable(m.gaps, func(i, j int) bool {
			a, b := m.gaps[i].place, m.gaps[j].place
			return m.newest && b.before(a) || !m.newest && a.before(b)
		})
		m.sorted = true
	}
	for ; len(m.gaps) > 0; m.gaps = m.gaps[1:] {
		g := &m.gaps[0]
		if !all && (m.newest && g.place.before(p) || !m.newest && p.before(g.place)) {
			return nil
		}
		m.out.setGap(g)
		if err := m.next.push(m.out); err != nil {
			return err
		}
	}
	return nil
}

func (m *merge) finish() error {
	if err := m.until(place{}, true); err != nil {
		return err
	}
	return m.next.finish()
}

func (m *merge) full() bool { return m.next.full() }

// Live is false: gaps of a watch come from its commits (S2.6).
func (m *merge) Live() bool { return false }
