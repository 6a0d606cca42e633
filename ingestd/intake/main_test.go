package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"datastream/ingestd/ledger"
	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// A rig is an intake that runs on a real server with a scripted writer, and
// the connection of a mux.
type rig struct {
	t      *testing.T
	srv    *server.Server
	nc     *nats.Conn // the mux's
	writer *scripted
	in     *Intake
	reg    *prometheus.Registry
	states chan error
	end    func() error

	evicted uint64 // positions that the store has let go of

	mu   sync.Mutex
	said map[subjects.Stream][]control.Settled
}

// quick makes what takes seconds take less: no test is about how long.
func quick(cfg Config) Config {
	if cfg.Ledger == (ledger.Config{}) {
		cfg.Ledger = ledger.Config{AskAgain: 20 * time.Millisecond}
	}
	if cfg.AnswerWait == 0 {
		cfg.AnswerWait = harness.Patience
	}
	if cfg.Window.Wait == 0 {
		cfg.Window.Wait = harness.Patience // what is passed is passed for a reason
	}
	if cfg.StopWait == 0 {
		cfg.StopWait = harness.Patience
	}
	return cfg
}

// start runs an intake until the test ends, or until r.end.
func start(t *testing.T, cfg Config, change ...func(*scripted)) *rig {
	t.Helper()
	r := build(t, cfg, change...)
	r.run()
	return r
}

func build(t *testing.T, cfg Config, change ...func(*scripted)) *rig {
	t.Helper()
	srv, err := server.Start(server.Options{Dir: t.TempDir(), Space: subjects.Default(), InProc: true, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	r := &rig{
		t: t, srv: srv, writer: newScripted(t), reg: prometheus.NewRegistry(), states: make(chan error, 1<<12),
		said: map[subjects.Stream][]control.Settled{},
	}
	for _, f := range change {
		f(r.writer)
	}
	r.nc = r.connect(server.Operator)
	if _, err := r.nc.Subscribe("ds.settled.>", r.hear); err != nil {
		t.Fatal(err)
	}
	cfg = quick(cfg)
	cfg.State = func(err error) { r.states <- err }
	r.in = New(r.connect(server.Ingestd), r.writer, cfg, zerolog.Nop(), r.reg)
	return r
}

func (r *rig) run() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- r.in.Run(ctx, func() { close(up) }) }()
	r.end = sync.OnceValue(func() error {
		cancel()
		err := <-done
		r.flush()
		return err
	})
	r.t.Cleanup(func() {
		if err := r.end(); err != nil {
			r.t.Errorf("the intake ended with %v", err)
		}
	})
	<-up
}

func (r *rig) connect(u server.User) *nats.Conn {
	r.t.Helper()
	user, password := r.srv.Credentials(u)
	nc, err := nats.Connect("", nats.InProcessServer(r.srv), nats.UserInfo(user, password),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.t.Logf("%s: %v", u, err) }))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(nc.Close)
	return nc
}

// hear takes an announcement and holds it to promise 3: nothing is announced
// before it is committed or given up.
func (r *rig) hear(m *nats.Msg) {
	id, err := subjects.Default().ParseSettled(m.Subject)
	if err != nil {
		r.t.Error(err)
		return
	}
	s, err := control.DecodeSettled(m.Data)
	if err != nil {
		r.t.Error(err)
		return
	}
	committed := r.evicted
	for p := range r.writer.payloads(id) {
		if p < s.Below {
			committed++
		}
	}
	if committed+s.Lost < uint64(s.Below) {
		r.t.Errorf("announced %+v, when %d of them are committed", s, committed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said[id] = append(r.said[id], s)
}

func (r *rig) flush() {
	r.t.Helper()
	if err := r.nc.FlushTimeout(harness.Patience); err != nil {
		r.t.Fatal(err)
	}
}

// announced is everything that was announced of a stream.
func (r *rig) announced(id subjects.Stream) []control.Settled {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.said[id])
}

// word waits until the last word about a stream is one that is waited for.
func (r *rig) word(id subjects.Stream, what string, ok func(control.Settled) bool) (last control.Settled) {
	r.t.Helper()
	harness.Until(r.t, what, func() bool {
		said := r.announced(id)
		if len(said) == 0 {
			return false
		}
		last = said[len(said)-1]
		return ok(last)
	})
	return last
}

// below waits until a stream is settled below a position, and returns that
// announcement.
func (r *rig) below(id subjects.Stream, p subjects.Position) control.Settled {
	r.t.Helper()
	return r.word(id, fmt.Sprintf("%v is settled below %d", id, p), func(s control.Settled) bool { return s.Below >= p })
}

// A life is a mux's side of one stream: what it has sent it can send again.
type life struct {
	r       *rig
	id      subjects.Stream
	mu      sync.Mutex
	run     map[subjects.Position]frame.Run
	gone    map[subjects.Position]bool
	drained subjects.Position
}

// birth makes a life known by its first beat.
func (r *rig) birth(node subjects.Node) *life {
	r.t.Helper()
	l := &life{r: r, id: subjects.Stream{Node: node, Life: subjects.MintLife(time.Now())}, run: map[subjects.Position]frame.Run{}, gone: map[subjects.Position]bool{}}
	l.beat(control.Beat{})
	return l
}

// beat says what is drained, and more if told.
func (l *life) beat(b control.Beat) {
	l.r.t.Helper()
	l.mu.Lock()
	b.Drained = max(b.Drained, l.drained)
	l.mu.Unlock()
	b.Assigned = max(b.Assigned, b.Drained)
	l.r.publish(&nats.Msg{Subject: subjects.Default().Beat(l.id), Data: b.Encode()})
}

func (r *rig) publish(m *nats.Msg) {
	r.t.Helper()
	if err := r.nc.PublishMsg(m); err != nil {
		r.t.Fatal(err)
	}
}

// make makes a run at consecutive positions, which is drained but not sent.
func (l *life) make(channel string, first subjects.Position, payloads ...string) frame.Run {
	l.r.t.Helper()
	return l.spread(channel, 1, first, payloads...)
}

// spread makes a run at every step-th position.
func (l *life) spread(channel string, step, first subjects.Position, payloads ...string) frame.Run {
	l.r.t.Helper()
	var cut frame.Cutter
	for i, p := range payloads {
		cut.Add(frame.Single(subjects.Channel(channel), first+step*subjects.Position(i), []byte(p)), false)
	}
	runs := cut.Runs(nil)
	if len(runs) != 1 {
		l.r.t.Fatalf("%d payloads make %d runs", len(payloads), len(runs))
	}
	run := runs[0].Run
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range run.Len() {
		l.run[run.Pos(i)] = run
	}
	l.drained = max(l.drained, run.Last()+1)
	return run
}

// send publishes a run as the mux does.
func (l *life) send(run frame.Run) {
	l.r.t.Helper()
	m := &nats.Msg{Subject: subjects.Default().Frame(l.id, run.Channel), Data: run.Body(), Header: nats.Header{}}
	m.Header[frame.HeaderPos] = []string{run.First().String()}
	if h := run.Header(); h != "" {
		m.Header[frame.HeaderRun] = []string{h}
	}
	l.r.publish(m)
}

// frames sends consecutive single frames, each on a channel of its own, with
// their positions as payloads.
func (l *life) frames(from, to subjects.Position) {
	l.r.t.Helper()
	for p := from; p < to; p++ {
		l.send(l.make(fmt.Sprint("c", p), p, p.String()))
	}
}

// repairs answers requests as a mux does, from now on.
func (l *life) repairs() {
	l.r.t.Helper()
	_, err := l.r.nc.Subscribe(subjects.Default().Repair(l.id), func(m *nats.Msg) { l.repair(m) })
	if err != nil {
		l.r.t.Fatal(err)
	}
	l.r.flush()
}

func (l *life) repair(m *nats.Msg) {
	req, err := control.DecodeRepairRequest(m.Data)
	if err != nil {
		l.r.t.Error(err)
		return
	}
	if len(req.Ranges) == 0 {
		l.beat(control.Beat{})
	}
	var a control.RepairAnswer
	l.mu.Lock()
	drained := l.drained
	var again []frame.Run
	for _, r := range req.Ranges {
		for p := r.From; p <= r.To; p++ {
			one := control.Range{From: p, To: p}
			run, ok := l.run[p]
			switch {
			case p >= drained:
				a.Pending = append(a.Pending, control.Range{From: p, To: r.To})
			case !ok || l.gone[p]:
				a.Gone = append(a.Gone, one)
			default:
				a.Sent = append(a.Sent, one)
				again = append(again, run)
			}
			if p >= drained {
				break
			}
		}
	}
	l.mu.Unlock()
	for _, run := range again {
		l.send(run)
	}
	if err := m.Respond(a.Encode()); err != nil {
		l.r.t.Error(err)
	}
}

// whole waits until exactly the positions below n are committed, each with
// the payload that was made first.
func (r *rig) whole(l *life, n subjects.Position) {
	r.t.Helper()
	r.below(l.id, n)
	got := r.writer.payloads(l.id)
	if len(got) != int(n) {
		r.t.Errorf("%d positions are committed, want %d", len(got), n)
	}
	for p := range n {
		l.mu.Lock()
		run := l.run[p]
		l.mu.Unlock()
		for i := range run.Len() {
			if run.Pos(i) == p && got[p] != string(run.Payload(i)) {
				r.t.Errorf("position %d holds %q, want %q", p, got[p], run.Payload(i))
			}
		}
	}
}

// metric is the sum of a family, over all labels or those that hold one value.
func (r *rig) metric(name string, label ...string) (sum float64) {
	r.t.Helper()
	families, err := r.reg.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "ds_ingest_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if len(label) == 0 || strings.Join(values, " ") == label[0] {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// arrived waits until so many frames have arrived and were handled.
func (r *rig) arrived(n int) {
	r.t.Helper()
	harness.Until(r.t, fmt.Sprintf("%d frames have arrived", n), func() bool { return r.metric("arrived_frames_total") >= float64(n) })
}

// gated is a writer whose commits wait for the test.
func gated(w *scripted) {
	w.gate, w.entry = make(chan struct{}), make(chan struct{}, 1<<12)
}

// open lets every commit through from now on.
func (r *rig) open() { close(r.writer.gate) }
