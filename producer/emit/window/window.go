package window

import (
	"slices"
	"sort"
	"time"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// Bounds of a Window, besides those of its Config.
const (
	// maxOpen is how many unanswered transmissions of a run are told apart.
	maxOpen = 64
	// maxLives is how many lives of the node are remembered.
	maxLives = 16
	// maxReported is how many lives Lives lists.
	maxReported = 1024
)

// Config is what a Window needs to know. All fields must be set.
type Config struct {
	Node  subjects.Node
	Mint  func() string // a new producer id, for Ds-Seq
	Runs  int           // unanswered runs in flight at most
	Bytes int           // their cost at most; one run is always allowed
	// AnswerTimeout is after how long a run is sent again. A mux may hold a
	// run for 5 s before it answers.
	AnswerTimeout time.Duration
	// SilenceTimeout is how long the end of a life's announcements is awaited
	// once another life answers.
	SilenceTimeout time.Duration
	// BackoffMin and BackoffMax bound the pause before a run that was refused
	// without any progress is sent again; it doubles.
	BackoffMin, BackoffMax time.Duration
	// Notice, if not nil, is told what a person may want to know. It is called
	// inside the method that found it out.
	Notice func(string)
}

// A Key names one transmission of one run: an answer bears it.
type Key struct {
	Run     uint64 // never used twice by one Window
	Attempt uint32 // 1, 2, 3 …
}

// A Send is one message to publish: the run as a request with Ds-Seq.
type Send struct {
	Key Key
	Run frame.Run
	Seq frame.Seq
}

// Counts is the fate of the frames that were enqueued.
type Counts struct {
	Settled uint64 // committed
	Lost    uint64 // certainly not committed
	Unknown uint64 // may be committed or not
	Taken   uint64 // taken by a mux, fate open
	Waiting uint64 // not known to be taken
}

// A Window is the state of one paced producer. Make it with New.
type Window struct {
	cfg Config

	producer string
	next     uint64 // the number of the next run that has none yet
	rejected uint64 // the number of the run that was rejected last
	// confirmed says that a run of this producer was answered as taken.
	confirmed bool
	items     []*item // not known to be taken, in order; ids ascend
	lastID    uint64

	flying      int // items sent and neither answered nor due again
	flyingBytes int

	life     subjects.Life   // the life that answers
	past     []subjects.Life // those that answered before, bounded
	accounts []*account      // bounded by maxLives
	lives    []subjects.Life // those that took frames of ours, bounded
	cuts     uint64          // reconnects
	resumed  time.Time       // the last of them

	reset resetKind
	hold  time.Time     // nothing is sent before
	pause time.Duration // of the last hold; 0 when the mux takes runs
	stuck bool          // went back, and nothing was taken since

	enqueued uint64
	waiting  uint64 // frames of items
	done     tally
	freed    struct{ frames, cost int }
	err      error
	notice   func(string)
}

// An item is a run that is not known to be taken.
type item struct {
	id       uint64
	run      frame.Run
	cost     int
	n        uint64 // its number, once numbered
	numbered bool
	due      bool // to be sent (again)
	denied   bool // the last transmission was refused by order or room
	attempts uint32
	sentAt   time.Time // of the last attempt
	open     []attempt // transmissions that nobody answered
	unsure   bool      // there were more than maxOpen
	cuts     uint64    // Window.cuts at the first attempt that may have been taken
}

// An attempt is one transmission.
type attempt struct {
	no uint32
	at time.Time
	// life is the one that had answered this producer's first run as taken, if
	// one had: should it forget us, it expects 0, which no run bears.
	life subjects.Life
}

// New makes an empty window.
func New(cfg Config) *Window {
	w := &Window{cfg: cfg, producer: cfg.Mint(), notice: cfg.Notice}
	if w.notice == nil {
		w.notice = func(string) {}
	}
	return w
}

// Enqueue appends a run. The window keeps it until it is taken or resolved.
func (w *Window) Enqueue(r frame.Run) {
	if r.Len() == 0 {
		return
	}
	w.lastID++
	w.enqueued += uint64(r.Len())
	w.waiting += uint64(r.Len())
	w.items = append(w.items, &item{id: w.lastID, run: r, cost: r.Cost(), due: true})
}

// Room reports whether another run could be sent at once. The caller enqueues
// only then, so that what waits forms larger runs.
func (w *Window) Room() bool {
	return w.reset == resetNone && len(w.items) == w.flying && w.fits(0)
}

// fits reports whether one more run of so much cost may be in flight.
func (w *Window) fits(cost int) bool {
	limit := w.cfg.Runs
	if w.pause > 0 {
		limit = 1 // a probe
	}
	return w.flying == 0 || (w.flying < limit && w.flyingBytes+cost <= w.cfg.Bytes)
}

// Next is the next message to publish now, if there is one. The caller
// publishes it, or says Unsent.
func (w *Window) Next(now time.Time) (Send, bool) {
	if now.Before(w.hold) {
		return Send{}, false
	}
	for _, t := range w.items {
		if !t.due || !w.mayResend(t) {
			continue
		}
		if !w.fits(t.cost) {
			return Send{}, false
		}
		w.transmit(t, now)
		return Send{
			Key: Key{Run: t.id, Attempt: t.attempts},
			Run: t.run,
			Seq: frame.Seq{Producer: w.producer, N: t.n},
		}, true
	}
	return Send{}, false
}

// transmit books one more transmission of t.
func (w *Window) transmit(t *item, now time.Time) {
	if !t.numbered {
		t.n, t.numbered = w.next, true
		w.next += uint64(t.run.Len())
	}
	if t.refused() { // nothing sent before can still be taken
		t.cuts = w.cuts
	}
	t.attempts++
	t.sentAt = now
	if len(t.open) == maxOpen {
		t.open = slices.Delete(t.open, 0, 1)
		t.unsure = true
	}
	a := attempt{no: t.attempts, at: now}
	if w.confirmed && w.items[0].n > 0 {
		a.life = w.life
	}
	t.open = append(t.open, a)
	t.due, t.denied = false, false
	w.flying++
	w.flyingBytes += t.cost
}

// again makes t due, if it is not.
func (w *Window) again(t *item) {
	if t.due {
		return
	}
	t.due = true
	w.flying--
	w.flyingBytes -= t.cost
}

// Unsent says that a message was not published: as if it had been refused.
func (w *Window) Unsent(k Key) {
	if t := w.find(k.Run); t != nil {
		t.close(k.Attempt)
		w.again(t)
	}
}

// Reconnected says that the connection was cut and is there again: answers
// and runs may have been lost, so everything in flight is sent again.
func (w *Window) Reconnected(now time.Time) {
	w.cuts++
	w.hold, w.resumed = now, now
	for _, t := range w.items {
		w.again(t)
	}
}

// Tick lets time pass while there is a connection: unanswered runs become due again, a reset goes on, and
// lives that nobody speaks of any more are given up.
func (w *Window) Tick(now time.Time) {
	late := 0
	for _, t := range w.items {
		if !t.due && now.Sub(t.sentAt) >= w.cfg.AnswerTimeout {
			w.again(t)
			late++
		}
	}
	if late > 0 && w.reset != resetOver {
		w.notice("no answer from the mux in " + w.cfg.AnswerTimeout.String() + ", sending again")
	}
	w.advanceReset(now)
	for _, a := range w.accounts {
		if a.silent(w.cfg.SilenceTimeout, w.resumed, now) {
			w.notice("life " + a.life.String() + " ended and is not spoken of any more: its unsettled frames are unknown")
			w.done.add(a.abandon())
		}
	}
}

// find is the item with an id, or nil.
func (w *Window) find(id uint64) *item {
	i := sort.Search(len(w.items), func(i int) bool { return w.items[i].id >= id })
	if i < len(w.items) && w.items[i].id == id {
		return w.items[i]
	}
	return nil
}

// release forgets an item's run: it no longer needs room.
func (w *Window) release(t *item) {
	w.again(t)
	w.waiting -= uint64(t.run.Len())
	w.freed.frames += t.run.Len()
	w.freed.cost += t.cost
}

// drop releases t and takes it out of the items. It is nearly always among
// the first, so the ones before it move.
func (w *Window) drop(t *item) {
	w.release(t)
	i := slices.Index(w.items, t)
	copy(w.items[1:i+1], w.items[:i])
	w.items[0] = nil
	w.items = w.items[1:]
}

// close removes a transmission from those unanswered.
func (t *item) close(no uint32) {
	t.open = slices.DeleteFunc(t.open, func(a attempt) bool { return a.no == no })
}

// closeBefore removes the transmissions before one that a life refused because
// it had not come to this run: they came to it before, and it took none. This
// is certain only of those that were sent while that life knew the producer.
func (t *item) closeBefore(no uint32, l subjects.Life) {
	t.open = slices.DeleteFunc(t.open, func(a attempt) bool { return a.no < no && !l.IsZero() && a.life == l })
}

// refused reports whether every transmission was refused: no mux took it.
func (t *item) refused() bool { return len(t.open) == 0 && !t.unsure }
