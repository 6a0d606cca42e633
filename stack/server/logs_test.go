package server

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestLogsAreRationed: clients cannot fill the log, and the line after a
// silence says how many were left out.
func TestLogsAreRationed(t *testing.T) {
	var out bytes.Buffer
	b := newBridge(zerolog.New(&out))
	b.Noticef("hello")
	b.Warnf(plaintext + ", use nkeys or bcrypt")
	if out.Len() != 0 {
		t.Errorf("logged %s", out.String())
	}
	for range 1000 {
		b.Errorf("refused %d", 7)
	}
	lines := strings.Count(out.String(), "refused 7")
	if lines < logBurst || lines > 2*logBurst {
		t.Errorf("%d lines of 1000 were logged, want about %d", lines, logBurst)
	}
	left := b.left.Load()
	if left != uint64(1000-lines) {
		t.Errorf("%d lines counted as left out, want %d", left, 1000-lines)
	}
	out.Reset()
	b.ration.SetBurst(1 << 20)
	b.ration.SetLimit(1e9)
	b.Warnf("again")
	if !strings.Contains(out.String(), `"left_out":`) || b.left.Load() != 0 {
		t.Errorf("after the silence: %s", out.String())
	}
}

// TestFirstFatalLineIsTheReason: what the server says while it gives up is
// kept, and does not end the process.
func TestFirstFatalLineIsTheReason(t *testing.T) {
	b := newBridge(zerolog.Nop())
	b.Fatalf("Can't start JetStream: %s", "no")
	b.Fatalf("then %s", "more")
	<-b.stopped
	if got := b.reason(); got != "Can't start JetStream: no" {
		t.Errorf("the reason is %q", got)
	}
}
