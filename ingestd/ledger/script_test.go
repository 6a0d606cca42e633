package ledger

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/golden"
)

// TestScripts runs testdata/*.txt. A script is blocks of commands, a line of
// four dashes and what they print, up to an empty line. A, B … are lives of one
// node; a position may carry its payload, as 3=x.
//
//	config streamholes=4 holes=9 streams=2
//	restore A                      the store holds the life
//	beat A assigned=9 drained=8 dropped=0 oldest=2 below=0 closed
//	arrive A 0-3 7=bytes           a run; prints what is fresh
//	commit A 0-3   drop A 2-3
//	store A 0-3                    arrive and commit
//	ask A   answer A sent=0-1,3 gone=2 pending=4 | answer A none
//	advance 2ms   tick A   hold   release   resume
//	gone A   settled A   missing A   counts A   over A   holes
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("find scripts: %v, %d found", err, len(files))
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			m := &machine{t: t, now: start, l: New(Config{})}
			golden.Script(t, f, func(_ *testing.T, words []string) string { return m.command(words) })
		})
	}
}

// A machine carries out commands on a ledger.
type machine struct {
	t   *testing.T
	l   *Ledger
	now time.Time
}

func (m *machine) command(f []string) string {
	switch f[0] {
	case "config":
		m.l = New(m.config(f[1:]))
	case "advance":
		d, err := time.ParseDuration(f[1])
		m.check(err)
		m.now = m.now.Add(d)
	case "hold", "release":
		m.l.Hold(f[0] == "hold", m.now)
	case "resume":
		m.l.Resume(m.now)
	case "holes":
		return fmt.Sprintf("holes %d of %d streams", m.l.Holes(), m.l.Streams())
	case "restore":
		if m.l.Restore(stream(m.t, f[1]), m.now) == nil {
			return "refused"
		}
		return m.forgot()
	case "beat":
		if _, err := m.l.Beat(stream(m.t, f[1]), m.beat(f[2:]), m.now); err != nil {
			return err.Error()
		}
		return m.forgot()
	default:
		a := m.l.Find(stream(m.t, f[1]))
		if a == nil {
			return "unknown life"
		}
		return m.account(a, f)
	}
	return ""
}

func (m *machine) forgot() string {
	st, ok := m.l.Forgot()
	if !ok {
		return ""
	}
	return "forgot " + st.String()
}

func (m *machine) account(a *Account, f []string) string {
	switch f[0] {
	case "arrive":
		fresh, dup := a.Arrive(m.run(f[2:]), nil)
		return fmt.Sprintf("fresh%s duplicates %d", showRuns(fresh), dup)
	case "commit":
		return fmt.Sprintf("committed %d", a.Commit(m.run(f[2:])))
	case "store":
		fresh, _ := a.Arrive(m.run(f[2:]), nil)
		for _, r := range fresh {
			a.Commit(r)
		}
	case "drop":
		for _, r := range m.ranges(f[2]) {
			a.Drop(r)
		}
	case "ask":
		return "ask" + show(a.Ask(m.now))
	case "answer":
		m.answer(a, f[2:])
	case "tick":
		a.Tick(m.now)
	case "gone":
		return "gone" + show(a.TakeGone())
	case "settled":
		s, changed := a.Settled()
		if !changed {
			return "unchanged"
		}
		return string(s.Encode())
	case "missing":
		return "missing" + show(a.Missing())
	case "over":
		return fmt.Sprintf("over %v", a.Over())
	case "counts":
		c := a.Counts()
		return fmt.Sprintf("committed %d duplicates %d refused %d given up %d healed %d closed %d waiting %d missing %d in %d holes, next %v horizon %v",
			c.Committed, c.Duplicates, c.Refused, c.GivenUp, c.Healed, c.Closed, c.Waiting, c.Missing, c.Holes, c.Next, c.Horizon)
	default:
		m.t.Fatalf("unknown command %q", f)
	}
	return ""
}

func (m *machine) answer(a *Account, f []string) {
	var ans control.RepairAnswer
	for _, s := range f {
		switch k, v, _ := strings.Cut(s, "="); k {
		case "sent":
			ans.Sent = m.ranges(v)
		case "gone":
			ans.Gone = m.ranges(v)
		case "pending":
			ans.Pending = m.ranges(v)
		}
	}
	a.Answer(ans, len(f) == 0 || f[0] != "none", m.now)
}

func (m *machine) config(f []string) (c Config) {
	for _, s := range f {
		k, v, _ := strings.Cut(s, "=")
		n, err := strconv.Atoi(v)
		m.check(err)
		switch k {
		case "streamholes":
			c.StreamHoles = n
		case "holes":
			c.Holes = n
		case "streams":
			c.Streams = n
		case "askranges":
			c.AskRanges = n
		default:
			m.t.Fatalf("unknown option %q", s)
		}
	}
	return c
}

func (m *machine) beat(f []string) (b control.Beat) {
	for _, s := range f {
		k, v, _ := strings.Cut(s, "=")
		if k == "closed" {
			b.Closed = true
			continue
		}
		n, err := subjects.ParseDecimal(v)
		m.check(err)
		switch p := subjects.Position(n); k {
		case "assigned":
			b.Assigned = p
		case "drained":
			b.Drained = p
		case "oldest":
			b.Oldest = p
		case "below":
			b.Below = p
		case "dropped":
			b.Dropped = n
		default:
			m.t.Fatalf("unknown field %q", s)
		}
	}
	if _, err := control.DecodeBeat(b.Encode()); err != nil {
		m.t.Fatal(err)
	}
	return b
}

func (m *machine) run(f []string) frame.Run {
	var shots []shot
	for _, s := range f {
		where, payload, ok := strings.Cut(s, "=")
		if !ok {
			payload = "x"
		}
		for _, r := range m.ranges(where) {
			for p := r.From; ; p++ {
				if shots = append(shots, shot{p, payload}); p == r.To {
					break
				}
			}
		}
	}
	return run(m.t, shots...)
}

func (m *machine) ranges(s string) (out []control.Range) {
	for item := range strings.SplitSeq(s, ",") {
		a, b, ok := strings.Cut(item, "-")
		if !ok {
			b = a
		}
		from, err := subjects.ParsePosition(a)
		m.check(err)
		to, err := subjects.ParsePosition(b)
		m.check(err)
		out = append(out, span(from, to))
	}
	return out
}

func (m *machine) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// showRuns writes runs as positions with their payloads, where not x.
func showRuns(runs []frame.Run) string {
	if len(runs) == 0 {
		return " none"
	}
	var b strings.Builder
	for _, r := range runs {
		for i := 0; i < r.Len(); {
			n := r.Consecutive(i)
			b.WriteString(show([]control.Range{span(r.Pos(i), r.Pos(i+n-1))}))
			if p := string(r.Payload(i)); p != "x" {
				b.WriteString("=" + p)
			}
			i += n
		}
	}
	return b.String()
}
