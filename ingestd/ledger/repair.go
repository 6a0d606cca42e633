package ledger

import (
	"time"

	"datastream/subjects/control"
)

// Ask returns the ranges to ask a mux for now, ascending, at most AskRanges:
// holes that have been seen for AskAfter, or were last asked for AskAgain ago
// and may still be healed. It returns none while a request is out, and
// otherwise expects one Answer for what it returned. (P7.1)
func (a *Account) Ask(now time.Time) []control.Range {
	t := a.ledger.tell(now)
	a.mark(t)
	a.bound()
	if a.out || a.Over() {
		return nil
	}
	a.note(a.ripe, t)
	if len(a.asks) == 0 || t < a.wake {
		return nil
	}
	return a.due(t)
}

// due walks the asks: it drops what is no longer healable, gives up what was
// resent in vain too often, and picks what is due.
func (a *Account) due(t time.Duration) (picked []control.Range) {
	l := a.ledger
	list, lost := l.asks[:0], l.teeth[:0]
	for _, k := range a.asks {
		for m := range a.arrived.Missing(k.Range) {
			for h := range a.gone.Missing(m) {
				k := k
				k.Range = h
				if k.due <= t && k.sent {
					k.sent = false
					if !l.held {
						k.vain++
					}
				}
				switch {
				case k.due > t:
				case k.vain >= l.cfg.Resends:
					lost = append(lost, h)
					continue
				default:
					picked, k.out = pick(picked, h, l.cfg.AskRanges)
				}
				list = appendAsk(list, k)
			}
		}
	}
	for _, r := range lost {
		a.loss(r)
	}
	l.teeth = lost
	a.out = len(picked) > 0
	a.keep(list)
	return picked
}

// pick puts a range into a request of at most so many.
func pick(picked []control.Range, r control.Range, limit int) ([]control.Range, bool) {
	if n := len(picked); n > 0 && picked[n-1].To+1 == r.From {
		picked[n-1].To = r.To
		return picked, true
	}
	if len(picked) == limit {
		return picked, false
	}
	return append(picked, r), true
}

// Answer takes the answer to what Ask returned; ok is false when none came.
// What is gone is given up. What was sent rests for AskAgain and, if it has not
// arrived by then, was resent in vain; what is pending, or was asked for without
// an answer, rests as long. While the ledger is held no resend is in vain: its
// frame may have found no room. What the answer does not mention may be asked for at
// once, unless it mentions nothing at all. An answer that nobody waits for is
// ignored. (P5.3, P7.1)
func (a *Account) Answer(ans control.RepairAnswer, ok bool, now time.Time) {
	l := a.ledger
	t := l.tell(now)
	a.mark(t)
	if !a.out {
		return
	}
	a.out = false
	if !ok {
		ans = control.RepairAnswer{}
	}
	s := sorter{account: a, list: l.asks[:0], lost: l.teeth[:0], now: t}
	for _, k := range a.asks {
		s.sort(k, ans)
	}
	rest := t
	if !s.mentioned {
		rest += l.cfg.AskAgain
	}
	for i := range s.list {
		if s.list[i].due == unsaid {
			s.list[i].due = rest
		}
	}
	for _, r := range s.lost {
		a.giveUp(r)
	}
	l.teeth = s.lost
	a.keep(s.list)
}

// unsaid stands for when an ask is due that an answer did not mention, until the
// whole answer is read.
const unsaid time.Duration = -1

// A sorter sorts what was asked for by what an answer says of it.
type sorter struct {
	account   *Account
	list      []ask
	lost      []control.Range
	now       time.Duration
	mentioned bool
}

// sort cuts an ask along the answer's lists. Where they contradict each other
// the kindest wins.
func (s *sorter) sort(k ask, ans control.RepairAnswer) {
	if !k.out {
		s.list = appendAsk(s.list, k)
		return
	}
	k.out = false
	again := s.now + s.account.ledger.cfg.AskAgain
	put := func(r control.Range, due time.Duration, sent bool) {
		p := k
		p.Range, p.due, p.sent = r, due, sent
		s.list = appendAsk(s.list, p)
	}
	sent := func(r control.Range) {
		s.mentioned = true
		put(r, again, !s.account.ledger.held)
	}
	pending := func(r control.Range) {
		s.mentioned = true
		put(r, again, false)
	}
	gone := func(r control.Range) {
		s.mentioned = true
		if s.account.ledger.held { // it will be gone after, too
			put(r, again, false)
			return
		}
		s.lost = append(s.lost, r)
	}
	left := func(r control.Range) { put(r, unsaid, false) }
	cut(k.Range, ans.Sent, sent, func(r control.Range) {
		cut(r, ans.Pending, pending, func(r control.Range) {
			cut(r, ans.Gone, gone, left)
		})
	})
}
