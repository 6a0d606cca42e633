package window

import (
	"slices"
	"sort"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
)

// maxRanges bounds what an account remembers of gone and of unclear
// positions; past it the oldest half is forgotten and unclear.
const maxRanges = 4096

// A tally is the fate of some frames.
type tally struct{ settled, lost, unknown uint64 }

func (t *tally) add(u tally) {
	t.settled += u.settled
	t.lost += u.lost
	t.unknown += u.unknown
}

// A span is frames that a life has taken: the positions from … to-1.
type span struct {
	from, to subjects.Position
	cuts     uint64 // Window.cuts when they were first sent
}

// An account is what is known of one life: what it took of ours, and what
// ingest announced of it.
type account struct {
	life  subjects.Life
	spans []span // taken and not resolved, ascending

	heard  bool              // an announcement was heard
	below  subjects.Position // of the last one
	lost   uint64            // of the last one
	closed bool              // below is final
	mute   bool              // ingest has given up the rest; a beat may revive it

	gone  ranges // announced as given up
	murky ranges // passed by below, some lost, not said which; without gone
	// vague bounds the positions that were passed before we listened. Those
	// not gone are settled if trusted and no cut came between, else unknown.
	vague   subjects.Position
	trusted bool

	endedAt time.Time // when another life was first seen to answer
	heardAt time.Time // when the last announcement came
}

// take books frames that the life has taken.
func (a *account) take(s span) {
	i := sort.Search(len(a.spans), func(i int) bool { return a.spans[i].from >= s.from })
	if i > 0 && a.spans[i-1].to == s.from && a.spans[i-1].cuts == s.cuts {
		a.spans[i-1].to = s.to
		return
	}
	a.spans = slices.Insert(a.spans, i, s)
}

// announce reads an announcement; one whose below goes back is older than
// the last and ignored.
func (a *account) announce(s control.Settled, now time.Time) {
	if a.heard && s.Below < a.below {
		return
	}
	for _, r := range s.Gone {
		a.gone.add(r)
		a.murky.remove(r)
	}
	if a.heard {
		a.compare(s)
	} else if s.Lost != a.gone.count(0, s.Below) {
		a.vague = s.Below
		a.trusted = len(s.Gone) < control.MaxRanges
	}
	a.heard, a.heardAt = true, now
	a.below, a.lost = s.Below, s.Lost
	a.closed, a.mute = a.closed || s.Closed, s.Silent
	a.forget()
}

// compare checks that the positions listed as gone account for the growth of
// lost between the last below and this one. A fall of lost means that late
// frames healed a gap, and counts as no growth.
func (a *account) compare(s control.Settled) {
	if s.Below == a.below {
		return
	}
	var growth uint64
	if s.Lost > a.lost {
		growth = s.Lost - a.lost
	}
	known := a.gone.count(a.below, s.Below)
	passed := control.Range{From: a.below, To: s.Below - 1}
	switch {
	case growth == known:
	case growth == passed.Len():
		a.gone.add(passed)
	default:
		a.murky.add(passed)
		for i := a.gone.from(passed.From); i < len(a.gone) && a.gone[i].From <= passed.To; i++ {
			a.murky.remove(a.gone[i])
		}
	}
}

// forget keeps the memory of an account bounded: what is forgotten is vague.
func (a *account) forget() {
	for _, s := range []*ranges{&a.gone, &a.murky} {
		if len(*s) <= maxRanges {
			continue
		}
		half := len(*s) / 2
		a.vague = max(a.vague, (*s)[half-1].To+1)
		a.trusted = false
		*s = slices.Delete(*s, 0, half)
	}
}

// resolve gives the fate of what below has passed, or of everything if the
// life is closed, and drops it from the account.
func (a *account) resolve(cuts uint64) (t tally) {
	done := 0
	for i := range a.spans {
		s := &a.spans[i]
		to := min(s.to, a.below)
		if to > s.from {
			t.add(a.fate(span{from: s.from, to: to, cuts: s.cuts}, cuts))
			s.from = to
		}
		if a.closed {
			t.lost += uint64(s.to - s.from)
		} else if s.from < s.to {
			break
		}
		done++
	}
	a.spans = slices.Delete(a.spans, 0, done)
	return t
}

// fate tells settled, lost and unknown apart among positions that below has
// passed.
func (a *account) fate(s span, cuts uint64) (t tally) {
	t.lost = a.gone.count(s.from, s.to)
	edge := min(s.to, max(s.from, a.vague))
	if !a.trusted || s.cuts != cuts {
		t.unknown = uint64(edge-s.from) - a.gone.count(s.from, edge)
	}
	t.unknown += a.murky.count(edge, s.to)
	t.settled = uint64(s.to-s.from) - t.lost - t.unknown
	return t
}

// abandon gives up on everything the life took.
func (a *account) abandon() (t tally) {
	for _, s := range a.spans {
		t.unknown += uint64(s.to - s.from)
	}
	a.spans = nil
	return t
}

// silent reports whether the life is over and nobody speaks of it any more:
// another life answers, or ingest has given it up. If both, nothing more is to
// be waited for. Nobody could be heard before resumed.
func (a *account) silent(limit time.Duration, resumed, now time.Time) bool {
	ended := !a.endedAt.IsZero()
	if len(a.spans) == 0 || !ended && !a.mute {
		return false
	}
	if ended && a.mute {
		return true
	}
	return now.Sub(a.endedAt) >= limit && now.Sub(a.heardAt) >= limit && now.Sub(resumed) >= limit
}
