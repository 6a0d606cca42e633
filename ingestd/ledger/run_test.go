package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// start is when every test begins.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// stream is a life of node n, named by a digit or letter.
func stream(t testing.TB, name string) subjects.Stream {
	t.Helper()
	life, err := subjects.ParseLife("01JD" + strings.Repeat("0", 22-len(name)) + name)
	if err != nil {
		t.Fatal(err)
	}
	return subjects.Stream{Node: "n", Life: life}
}

// A shot is a frame to be.
type shot struct {
	pos     subjects.Position
	payload string
}

// run makes a run of frames at ascending positions.
func run(t testing.TB, shots ...shot) frame.Run {
	t.Helper()
	var list, body strings.Builder
	for i, s := range shots {
		if i > 0 {
			list.WriteString(",")
			body.WriteString("\n")
		}
		fmt.Fprintf(&list, "%d", len(s.payload))
		if i > 0 && s.pos-shots[i-1].pos > 1 {
			fmt.Fprintf(&list, "+%d", uint64(s.pos-shots[i-1].pos-1))
		}
		body.WriteString(s.payload)
	}
	h := map[string][]string{frame.HeaderPos: {shots[0].pos.String()}, frame.HeaderRun: {list.String()}}
	r, err := frame.Decode("c", h, []byte(body.String()))
	if err != nil {
		t.Fatalf("make run of %v: %v", shots, err)
	}
	return r
}

// at makes a run of one-byte frames at ascending positions.
func at(t testing.TB, positions ...subjects.Position) frame.Run {
	t.Helper()
	var shots []shot
	for _, p := range positions {
		shots = append(shots, shot{p, "x"})
	}
	return run(t, shots...)
}

// over makes a run of one-byte frames at from … to.
func over(t testing.TB, from, to subjects.Position) frame.Run {
	t.Helper()
	var shots []shot
	for p := from; p <= to; p++ {
		shots = append(shots, shot{p, "x"})
	}
	return run(t, shots...)
}

func span(from, to subjects.Position) control.Range { return control.Range{From: from, To: to} }

// show writes ranges as from-to.
func show(list []control.Range) string {
	if len(list) == 0 {
		return " none"
	}
	var b strings.Builder
	for _, r := range list {
		b.WriteString(" " + r.From.String())
		if r.From != r.To {
			b.WriteString("-" + r.To.String())
		}
	}
	return b.String()
}

// flat is the positions of runs.
func flat(runs []frame.Run) (out []subjects.Position) {
	for _, r := range runs {
		for i := range r.Len() {
			out = append(out, r.Pos(i))
		}
	}
	return out
}

// spread is the positions of ranges.
func spread(list []control.Range) (out []subjects.Position) {
	for _, r := range list {
		for p := r.From; p <= r.To; p++ {
			out = append(out, p)
		}
	}
	return out
}
