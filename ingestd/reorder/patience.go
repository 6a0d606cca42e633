package reorder

import (
	"time"

	"datastream/subjects"
)

// A patience knows up to where waiting frames have lost theirs. Each entry is
// the highest position of a push that left frames waiting; one that lies below
// an earlier entry is left out, since it will be taken along. So entries ascend
// in time and position, and each stands for a frame that waits.
type patience struct {
	entries []entry
	head    int
}

type entry struct {
	at  time.Time
	pos subjects.Position
}

// start notes that frames up to pos wait since now.
func (p *patience) start(pos subjects.Position, now time.Time) {
	if n := len(p.entries); n > p.head {
		last := &p.entries[n-1]
		if pos <= last.pos {
			return
		}
		if !now.After(last.at) { // as old as the one before
			last.pos = pos
			return
		}
	}
	if len(p.entries) == cap(p.entries) && p.head > len(p.entries)/2 {
		n := copy(p.entries, p.entries[p.head:])
		p.entries, p.head = p.entries[:n], 0
	}
	p.entries = append(p.entries, entry{now, pos})
}

// pass forgets frames below next: they went on.
func (p *patience) pass(next subjects.Position) {
	for p.head < len(p.entries) && p.entries[p.head].pos < next {
		p.head++
	}
	if p.head == len(p.entries) {
		p.entries, p.head = p.entries[:0], 0
		if cap(p.entries) > kept {
			p.entries = nil
		}
	}
}

// since is when the first of the waiting frames began to.
func (p *patience) since() (time.Time, bool) {
	if p.head == len(p.entries) {
		return time.Time{}, false
	}
	return p.entries[p.head].at, true
}

// lost is the highest position of a frame that waits since an instant or
// longer.
func (p *patience) lost(since time.Time) (pos subjects.Position, ok bool) {
	for i := p.head; i < len(p.entries) && !p.entries[i].at.After(since); i++ {
		pos, ok = p.entries[i].pos, true
	}
	return pos, ok
}
