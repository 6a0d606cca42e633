package emit

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/producer/emit/window"
	"datastream/subjects"
	"datastream/subjects/control"
)

const (
	// tickInterval is the grain of a paced handle's time limits.
	tickInterval = 50 * time.Millisecond
	// settledBuffer holds announcements that wait for the goroutine: they come
	// at most each 20 ms for each life.
	settledBuffer = 1024
)

// A pacer is the goroutine of a Paced: it moves messages and time between the
// connection and the window, which decides everything. Its fields are its own
// but for the part under the mutex.
type pacer struct {
	ctx     context.Context
	cfg     config
	nc      *nats.Conn
	backlog *backlog
	closing <-chan struct{}
	done    chan<- struct{}

	window  *window.Window
	wire    *wire
	slicer  slicer
	batch   *batch  // taken from the backlog
	left    []entry // of batch, not enqueued yet
	inbox   string  // with its final dot; a key follows
	answers chan *nats.Msg
	settled chan *nats.Msg
	subs    []*nats.Subscription
	status  chan nats.Status
	ticker  *time.Ticker
	ticking bool
	closed  bool // Close was called

	mu     sync.Mutex
	result Report
	err    error
}

func newPacer(ctx context.Context, h *Paced, node subjects.Node) (*pacer, error) {
	p := &pacer{
		ctx:     ctx,
		cfg:     h.cfg,
		nc:      h.nc,
		backlog: h.backlog,
		closing: h.closing,
		done:    h.done,
		window: window.New(window.Config{
			Node:           node,
			Mint:           mintProducer,
			Runs:           h.cfg.windowRuns,
			Bytes:          h.cfg.windowBytes,
			AnswerTimeout:  h.cfg.answerTimeout,
			SilenceTimeout: h.cfg.silenceTimeout,
			BackoffMin:     h.cfg.backoffMin,
			BackoffMax:     h.cfg.backoffMax,
			Notice:         h.cfg.onNotice,
		}),
		wire:    newWire(h.nc, h.cfg.space, node),
		batch:   new(batch),
		inbox:   h.nc.NewInbox() + ".",
		answers: make(chan *nats.Msg, max(1024, 4*h.cfg.windowRuns)),
		settled: make(chan *nats.Msg, settledBuffer),
	}
	if err := p.subscribe(p.inbox+"*", p.answers); err != nil {
		return nil, err
	}
	if err := p.subscribe(h.cfg.space.NodeSettled(node), p.settled); err != nil {
		p.unsubscribe()
		return nil, err
	}
	p.status = h.nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	p.ticker = time.NewTicker(tickInterval)
	p.ticker.Stop()
	return p, nil
}

// subscribe has messages put into ch. One that finds it full is lost: an answer
// is asked for again, and an announcement is missed by the sums of the next.
func (p *pacer) subscribe(subject string, ch chan *nats.Msg) error {
	sub, err := p.nc.ChanSubscribe(subject, ch)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	p.subs = append(p.subs, sub)
	return nil
}

func (p *pacer) unsubscribe() {
	for _, s := range p.subs {
		_ = s.Unsubscribe() // fails only if the connection is closed
	}
}

func (p *pacer) run() {
	defer close(p.done)
	defer p.ticker.Stop()
	defer p.unsubscribe()
	defer p.nc.RemoveStatusListener(p.status)
	for {
		over := p.pump() || p.finished()
		if over {
			p.abandon()
		}
		p.publishReport(over)
		if over {
			return
		}
		p.tickWhileBusy()
		p.wait()
	}
}

// finished reports whether Close was called and there is nothing left to do.
func (p *pacer) finished() bool {
	return p.ctx.Err() != nil || (p.closed && !p.busy())
}

// busy reports whether any frame is not resolved.
func (p *pacer) busy() bool {
	return p.backlog.held() > 0 || !p.window.Idle()
}

// wait takes in one event, and those that wait beside it.
func (p *pacer) wait() {
	select {
	case m := <-p.answers:
		p.answer(m)
	case m := <-p.settled:
		p.announced(m)
	case <-p.backlog.wake:
	case <-p.ticker.C:
		if p.nc.IsConnected() {
			p.window.Tick(time.Now())
		}
	case s, ok := <-p.status:
		if !ok {
			p.status = nil
		}
		if s == nats.CONNECTED {
			p.window.Reconnected(time.Now())
		}
	case <-p.closing:
		p.closing, p.closed = nil, true
	case <-p.ctx.Done():
	}
	for n := len(p.answers); n > 0; n-- {
		p.answer(<-p.answers)
	}
	for n := len(p.settled); n > 0; n-- {
		p.announced(<-p.settled)
	}
}

// pump sends what the window wants sent, and gives it more while it has room. It
// reports true if the connection is closed for good.
func (p *pacer) pump() (gone bool) {
	if p.nc.IsClosed() {
		return true
	}
	now := time.Now()
	for p.nc.IsConnected() {
		if s, ok := p.window.Next(now); ok {
			if !p.send(s, now) {
				break
			}
			continue
		}
		if !p.window.Room() || !p.enqueue() {
			break
		}
	}
	if frames, cost := p.window.Freed(); frames > 0 {
		p.backlog.release(frames, cost)
	}
	return false
}

// send publishes one transmission; false if the connection is away.
func (p *pacer) send(s window.Send, now time.Time) bool {
	err := p.wire.publish(s.Run, s.Seq, p.inbox+formatKey(s.Key))
	switch judge(err) {
	case published:
	case refused:
		p.window.Answer(s.Key, control.Answer{Error: "the connection refuses it: " + err.Error()}, now)
	default:
		p.window.Unsent(s.Key)
		return false
	}
	return true
}

// enqueue gives the window the runs of one slice; false if nothing waits.
func (p *pacer) enqueue() bool {
	if len(p.left) == 0 {
		p.batch.reset()
		p.batch = p.backlog.take(p.batch)
		p.left = p.batch.entries
		if len(p.left) == 0 {
			return false
		}
	}
	runs, n := p.slicer.slice(p.left)
	for i := range runs {
		p.window.Enqueue(runs[i].Run)
	}
	p.left = p.left[n:]
	return true
}

// answer reads a message of the inbox.
func (p *pacer) answer(m *nats.Msg) {
	k, ok := parseKey(strings.TrimPrefix(m.Subject, p.inbox))
	if !ok {
		return // nothing of ours
	}
	now := time.Now()
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		p.window.NoResponders(k, now)
		return
	}
	a, err := control.DecodeAnswer(m.Data)
	if err != nil {
		// Some other responder: the run is sent again when nothing else comes.
		p.cfg.onNotice(fmt.Sprintf("an answer that is none: %v", err))
		return
	}
	p.window.Answer(k, a, now)
}

// announced reads a message about what is settled.
func (p *pacer) announced(m *nats.Msg) {
	st, err := p.cfg.space.ParseSettled(m.Subject)
	if err != nil {
		return
	}
	s, err := control.DecodeSettled(m.Data)
	if err != nil {
		p.cfg.onNotice(fmt.Sprintf("an announcement for %s that is none: %v", st, err))
		return
	}
	p.window.Settled(st.Life, s, time.Now())
}

// tickWhileBusy runs the ticker only while something can become late.
func (p *pacer) tickWhileBusy() {
	busy := p.busy()
	switch {
	case busy && !p.ticking:
		p.ticker.Reset(tickInterval)
	case !busy && p.ticking:
		p.ticker.Stop()
	}
	p.ticking = busy
}

// abandon resolves what is still open when the handle ends.
func (p *pacer) abandon() {
	p.backlog.close()
	p.window.Abandon()
	if p.nc.IsClosed() {
		p.fail(fmt.Errorf("%w: the connection was closed", ErrClosed))
	}
}

// publishReport makes the window's counts visible. At the end what never
// reached the window is lost for certain.
func (p *pacer) publishReport(over bool) {
	c := p.window.Counts()
	var unsent uint64
	if over {
		taken, _ := p.backlog.counts()
		unsent = taken - c.Settled - c.Lost - c.Unknown
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.Settled, p.result.Lost, p.result.Unknown = c.Settled, c.Lost+unsent, c.Unknown
	if over {
		p.result.Lives = p.window.Lives()
		if err := p.window.Err(); err != nil {
			p.err = err
		}
	}
}

func (p *pacer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *pacer) report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.result
}

func (p *pacer) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// formatKey spells a key as the last token of a reply subject.
func formatKey(k window.Key) string {
	b := make([]byte, 0, 24)
	b = strconv.AppendUint(b, k.Run, 10)
	b = append(b, '-')
	b = strconv.AppendUint(b, uint64(k.Attempt), 10)
	return string(b)
}

// parseKey reads what formatKey writes.
func parseKey(s string) (window.Key, bool) {
	run, attempt, _ := strings.Cut(s, "-")
	r, err1 := subjects.ParseDecimal(run)
	a, err2 := subjects.ParseDecimal(attempt)
	return window.Key{Run: r, Attempt: uint32(a)}, err1 == nil && err2 == nil && a < 1<<32
}
