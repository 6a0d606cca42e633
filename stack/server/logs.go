package server

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"
)

// Clients can make the server complain as often as they please (each refused
// publish is a line), so lines are rationed.
const (
	logBurst  = 20
	logPerSec = 1
)

// bridge hands the server's warnings and errors to zerolog and remembers why
// it gave up. It is the NATS server's Logger.
type bridge struct {
	log     zerolog.Logger
	ration  *rate.Limiter
	left    atomic.Uint64 // lines left out since the last one written
	mu      sync.Mutex
	fatal   string
	stopped chan struct{} // closed with the first fatal line
}

func newBridge(log zerolog.Logger) *bridge {
	return &bridge{log: log, ration: rate.NewLimiter(logPerSec, logBurst), stopped: make(chan struct{})}
}

// Fatalf notes why the server gave up. The server itself goes on or returns:
// unlike its own logger, this one does not end the process.
func (b *bridge) Fatalf(format string, v ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fatal == "" {
		b.fatal = fmt.Sprintf(format, v...)
		close(b.stopped)
	}
}

// reason is the first fatal line, or nothing.
func (b *bridge) reason() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fatal
}

// Errorf logs an error of the server.
func (b *bridge) Errorf(format string, v ...any) { b.line(zerolog.ErrorLevel, format, v) }

// plaintext is what the server says about any password that is not hashed.
// Ours are random, live in this process's memory alone and end with it.
const plaintext = "Plaintext passwords detected"

// Warnf logs a warning of the server, that one apart.
func (b *bridge) Warnf(format string, v ...any) {
	if !strings.HasPrefix(format, plaintext) {
		b.line(zerolog.WarnLevel, format, v)
	}
}

func (b *bridge) line(level zerolog.Level, format string, v []any) {
	if !b.ration.Allow() {
		b.left.Add(1)
		return
	}
	e := b.log.WithLevel(level)
	if n := b.left.Swap(0); n > 0 {
		e = e.Uint64("left_out", n)
	}
	e.Msgf(format, v...)
}

// Noticef drops what the server tells about its normal life.
func (b *bridge) Noticef(string, ...any) {}

// Debugf drops debugging.
func (b *bridge) Debugf(string, ...any) {}

// Tracef drops traces.
func (b *bridge) Tracef(string, ...any) {}
