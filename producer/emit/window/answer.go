package window

import (
	"fmt"
	"slices"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
)

// Answer reads the answer to one transmission. One for a run that is resolved
// is ignored.
func (w *Window) Answer(k Key, a control.Answer, now time.Time) {
	t := w.find(k.Run)
	if t == nil || k.Attempt > t.attempts {
		return
	}
	changed := w.seen(a.Life, now)
	switch a.Error {
	case "":
		w.taken(t, a)
	case control.ErrorOrder, control.ErrorRoom:
		w.refuse(t, k.Attempt, a, changed, now)
	case control.ErrorClosed:
		w.shut(t, k.Attempt, now)
	default:
		w.reject(t, k.Attempt, a.Error, changed)
	}
	w.advanceReset(now)
}

// NoResponders says that nobody listens where a run was sent: the server
// delivered it to no one, which is a refusal.
func (w *Window) NoResponders(k Key, now time.Time) {
	t := w.find(k.Run)
	if t == nil {
		return
	}
	t.close(k.Attempt)
	if k.Attempt == t.attempts {
		w.again(t)
	}
	if w.pause == 0 {
		w.notice(fmt.Sprintf("no mux answers for node %q; is muxd running?", w.cfg.Node))
	}
	w.backOff(now)
	w.advanceReset(now)
}

// seen notes which life answers, and reports whether it is a new one. Lives
// that answered before may answer late; they change nothing.
func (w *Window) seen(l subjects.Life, now time.Time) (changed bool) {
	switch {
	case l.IsZero() || l == w.life || slices.Contains(w.past, l):
		return false
	case w.life.IsZero():
		w.life = l
		return false
	}
	w.account(w.life).endedAt = now
	w.past = append(w.past, w.life)
	if len(w.past) > maxLives {
		w.past = slices.Delete(w.past, 0, 1)
	}
	w.notice(fmt.Sprintf("node %q has a new life: %s after %s", w.cfg.Node, l, w.life))
	w.life = l
	return true
}

// taken books a success.
func (w *Window) taken(t *item, a control.Answer) {
	n := subjects.Position(t.run.Len())
	switch {
	case a.Life.IsZero(), a.Count != int(n), a.Node != subjects.EncodeNode(w.cfg.Node), a.Position > subjects.MaxPosition-(n-1):
		w.fail(fmt.Errorf("%w: %d frames for node %q were answered by %s", ErrAnswer, n, w.cfg.Node, a.Encode()))
		w.done.unknown += uint64(n)
	default:
		acc := w.account(a.Life)
		acc.take(span{from: a.Position, to: a.Position + n, cuts: t.cuts})
		w.done.add(acc.resolve(w.cuts))
		if !slices.Contains(w.lives, a.Life) && len(w.lives) < maxReported {
			w.lives = append(w.lives, a.Life)
		}
	}
	w.drop(t)
	w.pause, w.hold, w.stuck = 0, time.Time{}, false
	w.confirmed = true
}

// refuse books order and room. Only the first refusal of a round, one to the
// last transmission of a run in flight, makes the window go back.
func (w *Window) refuse(t *item, no uint32, a control.Answer, changed bool, now time.Time) {
	t.close(no)
	if a.Next <= t.n && a.Life == w.life && w.expects(a.Next) {
		t.closeBefore(no, a.Life)
	}
	current := !t.due && no == t.attempts
	if current {
		w.again(t)
		t.denied = true
	}
	switch {
	case changed:
		w.beginReset(resetOver)
	case !current || w.reset != resetNone:
	case !w.expects(a.Next):
		w.notice(fmt.Sprintf("the mux of node %q no longer knows this producer: numbering anew", w.cfg.Node))
		w.beginReset(resetOver)
	default:
		w.goBack(a.Next)
		if w.stuck {
			w.backOff(now)
		}
		w.stuck = true
	}
}

// shut books the refusal of a life that is over: the next one takes the run. Until
// there is one, the window probes.
func (w *Window) shut(t *item, no uint32, now time.Time) {
	t.close(no)
	if no == t.attempts {
		w.again(t)
		t.denied = true
	}
	w.beginReset(resetOver)
	w.backOff(now)
}

// reject books an error that is final for the run. If another transmission is
// unanswered, that one may have been taken.
func (w *Window) reject(t *item, no uint32, text string, changed bool) {
	t.close(no)
	n := uint64(t.run.Len())
	w.fail(fmt.Errorf("%w: %d frames of channel %.80q: %.200s", ErrRejected, n, string(t.run.Channel), text))
	if t.refused() {
		w.done.lost += n
	} else {
		w.done.unknown += n
	}
	w.drop(t)
	w.rejected = t.n
	w.beginReset(resetRejected)
	if changed {
		w.beginReset(resetOver)
	}
}

// expects reports whether a mux of this life may expect the number: the start
// of an unanswered run, of the one it rejected, or of the next new one.
func (w *Window) expects(next uint64) bool {
	if next == w.next || (w.reset == resetRejected && next == w.rejected) {
		return true
	}
	for _, t := range w.items {
		if !t.numbered {
			break
		}
		if t.n == next {
			return true
		}
	}
	return false
}

// goBack makes everything from a number on due again.
func (w *Window) goBack(next uint64) {
	for _, t := range w.items {
		if !t.numbered {
			break
		}
		if t.n >= next {
			w.again(t)
		}
	}
}

// backOff pauses before the next transmission, longer each time.
func (w *Window) backOff(now time.Time) {
	if now.Before(w.hold) {
		return // this pause is for all that were in flight
	}
	w.pause = min(max(2*w.pause, w.cfg.BackoffMin), w.cfg.BackoffMax)
	w.hold = now.Add(w.pause)
}

// fail keeps the first error.
func (w *Window) fail(err error) {
	w.notice(err.Error())
	if w.err == nil {
		w.err = err
	}
}

// Settled reads an announcement of ingest about one life of the node.
func (w *Window) Settled(l subjects.Life, s control.Settled, now time.Time) {
	a := w.account(l)
	a.announce(s, now)
	w.done.add(a.resolve(w.cuts))
}

// account is that of a life, made if need be. Past maxLives the oldest one that
// holds nothing is forgotten, or else the oldest, its frames unknown.
func (w *Window) account(l subjects.Life) *account {
	for _, a := range w.accounts {
		if a.life == l {
			return a
		}
	}
	if len(w.accounts) == maxLives {
		i := slices.IndexFunc(w.accounts, func(a *account) bool { return len(a.spans) == 0 && a.life != w.life })
		i = max(i, 0)
		w.done.add(w.accounts[i].abandon())
		w.accounts = slices.Delete(w.accounts, i, i+1)
	}
	a := &account{life: l}
	w.accounts = append(w.accounts, a)
	return a
}
