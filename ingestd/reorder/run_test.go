package reorder

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

// run makes a run of one-byte frames at ascending positions; each costs 66.
func run(t testing.TB, c subjects.Channel, positions ...subjects.Position) frame.Run {
	t.Helper()
	var list strings.Builder
	for i, p := range positions {
		if i > 0 {
			list.WriteString(",")
		}
		list.WriteString("1")
		if i > 0 && p-positions[i-1] > 1 {
			fmt.Fprintf(&list, "+%d", uint64(p-positions[i-1]-1))
		}
	}
	body := strings.TrimSuffix(strings.Repeat("x\n", len(positions)), "\n")
	h := map[string][]string{frame.HeaderPos: {positions[0].String()}, frame.HeaderRun: {list.String()}}
	r, err := frame.Decode(c, h, []byte(body))
	if err != nil {
		t.Fatalf("make run of %v: %v", positions, err)
	}
	return r
}

func positions(runs []frame.Run) (out []subjects.Position) {
	for _, r := range runs {
		for i := range r.Len() {
			out = append(out, r.Pos(i))
		}
	}
	return out
}

func span(from, to subjects.Position) control.Range { return control.Range{From: from, To: to} }

// show writes runs as channel:from-to.
func show(runs []frame.Run) string {
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, " %s:%s", r.Channel, showRange(span(r.First(), r.Last())))
	}
	return b.String()
}

func showRange(r control.Range) string {
	if r.From == r.To {
		return r.From.String()
	}
	return r.From.String() + "-" + r.To.String()
}
