package ledger

import (
	"datastream/subjects"
	"datastream/subjects/control"
)

// goneRanges bounds what one announcement lists.
const goneRanges = control.MaxRanges / 4

// settle is the part of an account that knows what was announced.
type settle struct {
	below subjects.Position // every position below is committed or given up
	lost  uint64            // given up when below passed them

	said   subjects.Position // below, as last announced
	over   bool              // closed, as last announced
	silent bool              // the same of a life that only fell silent
	again  bool              // the mux has not heard it
	unsure []control.Range   // gone below said that the mux may not know, at most goneRanges
}

// Settled is what to announce, and whether there is anything new in it: more is
// settled, the life is over or revived, or the mux was heard to be behind. It
// takes changed ones for announced; one that is lost comes again after the
// mux's next beat. Gone lists what was given up between what the mux is known
// to have heard and Below, as far as that is at most 256 ranges: Below stops
// where a list is full and goes on at the next call. (P2)
func (a *Account) Settled() (s control.Settled, changed bool) {
	fresh, room := len(a.unsure), goneRanges
	if a.again {
		fresh, room = 0, goneRanges-len(a.unsure)
	}
	a.advance(room)
	done := a.below >= a.horizon && a.waiting.Len() == 0
	over, silent := done && a.last.Closed, done && a.dead && !a.last.Closed
	changed = a.again || a.below != a.said || over != a.over || silent != a.silent
	s = control.Settled{Below: a.below, Lost: a.lost, Closed: over, Silent: silent}
	if !changed {
		return s, false
	}
	s.Gone = append(s.Gone, a.unsure[fresh:]...)
	if n := len(a.unsure) - goneRanges; n > 0 { // what the mux missed of these goes unsaid
		a.unsure = append(a.unsure[:0], a.unsure[n:]...)
	}
	a.said, a.over, a.silent, a.again = a.below, over, silent, false
	return s, true
}

// Below is the bound of the last announcement.
func (a *Account) Below() subjects.Position { return a.said }

// advance moves below over what is settled, up to so many intervals that were
// given up. What waits for its commit stops it even if it was given up before:
// it is about to heal.
func (a *Account) advance(room int) {
	for a.below < a.horizon {
		to := a.horizon
		if w, ok := a.waiting.After(a.below); ok {
			to = min(to, max(w.From, a.below))
		}
		if to == a.below {
			break
		}
		g, given := a.gone.After(a.below)
		if given && g.From <= a.below {
			if room--; room < 0 {
				break
			}
			g.From, g.To = a.below, min(g.To, to-1)
			a.lost += g.Len()
			a.unsure = append(a.unsure, g)
			a.below = g.To + 1
			continue
		}
		c, ok := a.arrived.At(a.below)
		if !ok {
			break
		}
		if to = min(to, c.To+1); given {
			to = min(to, g.From)
		}
		a.below = to
	}
	a.settleClosed()
}

// hear forgets what the mux knows.
func (s *settle) hear(below subjects.Position) {
	i := 0
	for i < len(s.unsure) && s.unsure[i].To < below {
		i++
	}
	s.unsure = append(s.unsure[:0], s.unsure[i:]...)
	if len(s.unsure) > 0 && s.unsure[0].From < below {
		s.unsure[0].From = below
	}
	s.again = s.again || below < s.said
}
