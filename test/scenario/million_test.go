package scenario

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"datastream/test/harness"
)

// TestMillionLines: everything that ds emit was given is committed, in order,
// none lost, none repeated.
func TestMillionLines(t *testing.T) {
	const lines = 1_000_000
	up := harness.Up(t)
	if p, code := sh(t, up.URL, "seq 1 1000000 | ds emit big.x"); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.Stderr())
	}
	all := readStore(t, up.Connect(t))
	if len(all) != lines {
		t.Fatalf("the store holds %d frames, want %d", len(all), lines)
	}
	for i, k := range all {
		if k.stream != all[0].stream || k.channel != "big.x" || uint64(k.pos) != uint64(i) || k.payload != strconv.Itoa(i+1) {
			t.Fatalf("frame %d is %q at position %v of %s in %v, want %q at %d", i, k.payload, k.pos, k.channel, k.stream, strconv.Itoa(i+1), i)
		}
	}
}

const (
	killLines  = 200_000
	killBefore = 100_000 // lines given before the kill
	killStored = 10      // messages stored before it
)

// TestMuxKilledInTheMiddle: a mux takes what it had not handed on with it, and
// ds emit says exactly how much, or sends it again and loses nothing (P4.3).
func TestMuxKilledInTheMiddle(t *testing.T) {
	parts := harness.NewParts(t)
	mux, _ := parts.Pipe(t)
	emitThrough(t, parts, func() {
		mux.Kill()
		mux.Wait(t)
		parts.Muxd(t).Serving(t)
	})
}

// TestIngestKilledInTheMiddle: each position is committed once, across crashes
// of ingest (P7.4).
func TestIngestKilledInTheMiddle(t *testing.T) {
	parts := harness.NewParts(t)
	_, ingest := parts.Pipe(t)
	p := emitThrough(t, parts, func() {
		for range 3 {
			ingest.Kill()
			ingest.Wait(t)
			ingest = parts.Ingestd(t)
			ingest.Serving(t)
		}
	})
	if code := p.Wait(t); code != 0 {
		t.Errorf("exit %d: the mux lived and had everything, nothing needs to be lost\n%s", code, p.Stderr())
	}
}

// TestMuxRestartedInTheMiddle: a mux that stops in order has handed on all that
// it took, so that ds emit goes on with the next one and knows of every line.
func TestMuxRestartedInTheMiddle(t *testing.T) {
	parts := harness.NewParts(t)
	mux, _ := parts.Pipe(t)
	p := emitThrough(t, parts, func() {
		if code := mux.Stop(t); code != 0 {
			t.Errorf("muxd: exit %d", code)
		}
		parts.Muxd(t).Serving(t)
	})
	if code := p.Wait(t); code != 0 {
		t.Errorf("exit %d: the mux waited until all it had was settled\n%s", code, p.Stderr())
	}
}

// emitThrough gives lines to ds emit, does something in the middle, and checks
// what it says at the end against the store.
func emitThrough(t *testing.T, parts *harness.Parts, middle func()) *harness.Proc {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := harness.Command{Path: harness.DS(t), Args: []string{"emit", "big.x"}, Env: []string{"NATS_URL=" + parts.URL}, Stdin: r}.Spawn(t)
	r.Close()
	middleOver, written := make(chan struct{}), make(chan error, 1)
	go func() { written <- writeLines(w, middleOver) }()
	nc := parts.Connect(t)
	harness.Until(t, "the store has some", func() bool { return messages(t, nc) >= killStored })
	if p.Ended() {
		t.Fatalf("ds emit has ended before its input did\n%s", p.Stderr())
	}
	middle()
	close(middleOver)
	if err := <-written; err != nil {
		t.Errorf("write the lines: %v", err)
	}
	checkVerdict(t, nc, p)
	return p
}

func writeLines(w io.WriteCloser, proceed <-chan struct{}) error {
	defer w.Close()
	b := bufio.NewWriter(w)
	for i := 1; i <= killLines; i++ {
		if i == killBefore {
			if err := b.Flush(); err != nil {
				return err
			}
			<-proceed
		}
		if _, err := b.WriteString(strconv.Itoa(i) + "\n"); err != nil {
			return err
		}
	}
	return b.Flush()
}

var verdict = regexp.MustCompile(`of (\d+) frames (\d+) are (?:settled|committed), (\d+) lost, (\d+) unknown`)

// checkVerdict holds the exit and the counts of ds emit against the store.
func checkVerdict(t *testing.T, nc *nats.Conn, p *harness.Proc) {
	t.Helper()
	code := p.Wait(t)
	all := readStore(t, nc)
	for payload, n := range count(all) {
		if i, err := strconv.Atoi(payload); err != nil || i < 1 || i > killLines {
			t.Fatalf("%q is stored and was never a line", payload)
		}
		if n > 1 {
			t.Errorf("line %s is stored %d times", payload, n)
		}
	}
	submitted, settled, lost, unknown := killLines, killLines, 0, 0
	if code != 0 {
		m := verdict.FindStringSubmatch(p.Stderr())
		if code != 1 || m == nil {
			t.Fatalf("exit %d without counts:\n%s", code, p.Stderr())
		}
		submitted, settled, lost, unknown = atoi(t, m[1]), atoi(t, m[2]), atoi(t, m[3]), atoi(t, m[4])
		t.Log(strings.TrimSpace(m[0]))
	}
	if submitted != killLines || submitted != settled+lost+unknown {
		t.Errorf("%d lines were given: %d submitted, %d settled, %d lost, %d unknown", killLines, submitted, settled, lost, unknown)
	}
	if n := len(all); n < settled || n > settled+unknown {
		t.Errorf("the store holds %d lines, ds emit vouches for %d, and does not know of %d", n, settled, unknown)
	}
	inOrder(t, all)
}

// inOrder: within a life, the lines stand in the order in which they were given.
func inOrder(t *testing.T, all []kept) {
	t.Helper()
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.stream == b.stream && atoi(t, a.payload) >= atoi(t, b.payload) {
			t.Fatalf("line %s stands before line %s in %v", a.payload, b.payload, a.stream)
		}
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
