package service

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Health holds a service's named checks. The zero value has none and is
// ready.
//
// A check is a state that its owner sets: ready or not, and why. A pulse is a
// loop that must not stand still: one that has not beaten in time is wedged,
// which only a restart mends, so that it alone fails /healthz.
type Health struct {
	mu     sync.Mutex
	checks map[string]string // reason, "" when passed
	pulses map[string]*Pulse
}

// Set notes the state of a check: nil is passed.
func (h *Health) Set(name string, err error) {
	reason := ""
	if err != nil {
		if reason = oneLine(err.Error()); reason == "" {
			reason = "failed"
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checks == nil {
		h.checks = map[string]string{}
	}
	h.checks[name] = reason
}

// Remove forgets a check.
func (h *Health) Remove(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.checks, name)
}

// A Pulse is the sign of life of one loop.
type Pulse struct {
	h      *Health
	name   string
	within time.Duration
	last   atomic.Int64 // ns since epoch
	epoch  time.Time    // for a monotonic clock
}

// Pulse begins to watch a loop that will call Beat at least once in the given
// time, from now until Stop. A second pulse of a name replaces the first.
func (h *Health) Pulse(name string, within time.Duration) *Pulse {
	p := &Pulse{h: h, name: name, within: within, epoch: time.Now()}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pulses == nil {
		h.pulses = map[string]*Pulse{}
	}
	h.pulses[name] = p
	return p
}

// Beat says that the loop is alive. It costs a clock reading.
func (p *Pulse) Beat() { p.last.Store(int64(time.Since(p.epoch))) }

// Stop ends the watch.
func (p *Pulse) Stop() {
	p.h.mu.Lock()
	defer p.h.mu.Unlock()
	if p.h.pulses[p.name] == p {
		delete(p.h.pulses, p.name)
	}
}

// Wedged lists the loops that stand still, one line each, sorted; none is
// alive.
func (h *Health) Wedged() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for name, p := range h.pulses {
		if silent := time.Since(p.epoch) - time.Duration(p.last.Load()); silent > p.within {
			out = append(out, fmt.Sprintf("%s: no sign of life for %v", name, silent.Round(time.Millisecond)))
		}
	}
	slices.Sort(out)
	return out
}

// Failing lists the checks that have not passed and the loops that stand
// still, one line each, `name: reason`; none is ready.
func (h *Health) Failing() []string {
	out := h.Wedged()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(h.checks)) {
		if reason := h.checks[name]; reason != "" {
			out = append(out, name+": "+reason)
		}
	}
	return out
}

// report answers 200 with ok, or 503 with the lines.
func report(failing func() []string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		lines := failing()
		if len(lines) == 0 {
			io.WriteString(w, "ok\n")
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, strings.Join(lines, "\n")+"\n")
	}
}

// oneLine joins the lines of a text, so that a check stays one line.
func oneLine(s string) string { return strings.Join(strings.FieldsFunc(s, isBreak), "; ") }

func isBreak(r rune) bool { return r == '\n' || r == '\r' }
