package ledger

import (
	"math"
	"slices"
	"sort"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
)

// An ask is what is known of healable positions since they were first asked
// for, or ripe for it. Its range may hold positions that arrived or were given
// up meanwhile: arrivals do not look at asks; walks over asks look at what is
// missing.
type ask struct {
	control.Range
	due  time.Duration // when it may be asked for
	vain int           // resends in vain
	sent bool          // was sent again, and whether in vain shows when due
	out  bool          // is in the request that is out
}

// repair is the part of an account that knows what is asked for.
type repair struct {
	asks  []ask             // ascending, disjoint; together they hold all that is healable below asked
	asked subjects.Position // holes from here on are too young, or were never looked at
	wake  time.Duration     // no ask is due before
	out   bool              // a request is out
	ripe  subjects.Position // Account.sure as it was AskAfter ago
	marks [marksKept]mark   // what it was since, in ascending time
	n     int               // marks in use
}

// A mark says that Account.sure was at most so far until an instant.
type mark struct {
	at   time.Duration
	sure subjects.Position
}

// A quarter of AskAfter is the grain of marks: a hole is asked for so much late
// at most, never early.
const (
	marksGrain = 4
	marksKept  = marksGrain + 2
)

// mark notes how far all is sure to have been sent, and lets ripe follow what was noted AskAfter ago. A
// hole's age so costs nothing per hole: it is as old as the mark that first
// passed it.
func (a *Account) mark(t time.Duration) {
	after := a.ledger.cfg.AskAfter
	old := 0
	for old < a.n && a.marks[old].at+after <= t {
		a.ripe = a.marks[old].sure
		old++
	}
	a.n = copy(a.marks[:], a.marks[old:a.n])
	if a.n > 0 && a.marks[a.n-1].at >= t {
		a.marks[a.n-1].sure = a.sure
		return
	}
	known := a.ripe
	if a.n > 0 {
		known = a.marks[a.n-1].sure
	}
	if a.sure > known {
		grain := max(after/marksGrain, 1)
		a.marks[a.n] = mark{at: (t + grain - 1) / grain * grain, sure: a.sure}
		a.n++
	}
}

// note makes asks of everything healable from asked to below to.
func (a *Account) note(to subjects.Position, due time.Duration) {
	if to <= a.asked {
		return
	}
	for m := range a.arrived.Missing(control.Range{From: a.asked, To: to - 1}) {
		for h := range a.gone.Missing(m) {
			a.asks = append(a.asks, ask{Range: h, due: due})
			a.wake = min(a.wake, due)
		}
	}
	a.asked = to
}

// rest lets healable positions rest for AskAgain, with no resend in vain and
// out of the request that is out: their frame did come.
func (a *Account) rest(r control.Range) {
	t := a.ledger.now
	a.note(r.To+1, t+a.ledger.cfg.AskAfter)
	i := sort.Search(len(a.asks), func(k int) bool { return a.asks[k].To >= r.From })
	j := i + sort.Search(len(a.asks)-i, func(k int) bool { return a.asks[i+k].From > r.To })
	var by [3]ask
	put := by[:0]
	if i < j && a.asks[i].From < r.From {
		left := a.asks[i]
		left.To = r.From - 1
		put = append(put, left)
	}
	put = append(put, ask{Range: r, due: t + a.ledger.cfg.AskAgain})
	if i < j && a.asks[j-1].To > r.To {
		right := a.asks[j-1]
		right.From = r.To + 1
		put = append(put, right)
	}
	a.asks = slices.Replace(a.asks, i, j, put...)
	a.wake = min(a.wake, t+a.ledger.cfg.AskAgain)
	a.coalesce()
}

// appendAsk joins an ask to the last one where they say the same.
func appendAsk(list []ask, k ask) []ask {
	if n := len(list); n > 0 {
		last := &list[n-1]
		same := *last
		same.Range = k.Range
		if last.To+1 == k.From && same == k {
			last.To = k.To
			return list
		}
	}
	return append(list, k)
}

// keep makes list the account's asks and the old ones the scratch.
func (a *Account) keep(list []ask) {
	a.asks = append(a.asks[:0], list...)
	a.ledger.asks = list[:0]
	if c := cap(a.asks); c > 64 && len(a.asks) < c/8 {
		a.asks = slices.Clip(slices.Clone(a.asks))
	}
	a.coalesce()
	a.wake = math.MaxInt64
	for i := range a.asks {
		if !a.asks[i].out {
			a.wake = min(a.wake, a.asks[i].due)
		}
	}
}

// coalesce joins neighbours, patiently, when answers and drops have cut few
// holes into more asks than there may be holes: what is joined rests as long
// as the one that rests longer, with the fewer vain resends.
func (a *Account) coalesce() {
	limit := a.ledger.cfg.StreamHoles + slack
	for len(a.asks) > limit {
		n := 0
		for i := 0; i < len(a.asks); i += 2 {
			k := a.asks[i]
			if i+1 < len(a.asks) {
				b := a.asks[i+1]
				k.To = b.To
				k.due, k.vain = max(k.due, b.due), min(k.vain, b.vain)
				k.sent, k.out = k.sent && b.sent, k.out && b.out
			}
			a.asks[n] = k
			n++
		}
		a.asks = a.asks[:n]
	}
}
