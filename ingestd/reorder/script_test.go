package reorder

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/frame"
	"datastream/test/golden"
)

// TestScripts runs testdata/*.txt. A script is blocks of commands, a line of
// four dashes and what they print, up to an empty line:
//
//	new 0 wait=250ms bytes=16384     a window whose next position is 0
//	push a 0-3 7                     a run of channel a
//	pass 4-6                         these will never come
//	advance 100ms                    time passes
//	ready | force | state            take what may go on; show
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("find scripts: %v, %d found", err, len(files))
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			m := &machine{t: t, now: start}
			golden.Script(t, f, func(_ *testing.T, words []string) string { return m.command(words) })
		})
	}
}

// A machine carries out commands on a window.
type machine struct {
	t   *testing.T
	w   *Window
	now time.Time
}

func (m *machine) command(f []string) string {
	switch f[0] {
	case "new":
		m.open(f[1:])
	case "push":
		var at []subjects.Position
		for _, s := range f[2:] {
			from, to := m.span(s)
			for p := from; ; p++ {
				if at = append(at, p); p == to {
					break
				}
			}
		}
		m.w.Push(run(m.t, subjects.Channel(f[1]), at...), m.now)
	case "pass":
		from, to := m.span(f[1])
		m.w.Pass(span(from, to))
	case "advance":
		d, err := time.ParseDuration(f[1])
		m.check(err)
		m.now = m.now.Add(d)
	case "ready":
		ready, late := m.w.Ready(m.now, nil, nil)
		return line("ready", ready) + line("late", late)
	case "force":
		return line("forced", m.w.Force(nil))
	case "state":
		s := fmt.Sprintf("next %v waiting %d", m.w.Next(), m.w.Waiting())
		if d, ok := m.w.Deadline(); ok {
			s += " deadline in " + d.Sub(m.now).String()
		}
		return s + "\n"
	default:
		m.t.Fatalf("unknown command %q", f)
	}
	return ""
}

func (m *machine) open(f []string) {
	next, _ := m.span(f[0])
	var cfg Config
	for _, s := range f[1:] {
		var err error
		switch k, v, _ := strings.Cut(s, "="); k {
		case "wait":
			cfg.Wait, err = time.ParseDuration(v)
		case "bytes":
			cfg.Bytes, err = strconv.Atoi(v)
		default:
			m.t.Fatalf("unknown option %q", s)
		}
		m.check(err)
	}
	m.w = New(next, cfg)
}

func (m *machine) span(s string) (from, to subjects.Position) {
	a, b, ok := strings.Cut(s, "-")
	if !ok {
		b = a
	}
	from, err := subjects.ParsePosition(a)
	m.check(err)
	to, err = subjects.ParsePosition(b)
	m.check(err)
	return from, to
}

func (m *machine) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func line(what string, runs []frame.Run) string {
	if len(runs) == 0 {
		return ""
	}
	return what + show(runs) + "\n"
}
