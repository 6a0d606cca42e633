package frame

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"datastream/subjects"
)

// encoded makes a run the naive way: text is written and decoded.
func encoded(t interface{ Fatalf(string, ...any) }, c subjects.Channel, positions []subjects.Position, payloads []string) Run {
	var lengths []string
	for i, p := range payloads {
		item := fmt.Sprint(len(p))
		if i > 0 && positions[i] > positions[i-1]+1 {
			item += fmt.Sprintf("+%d", positions[i]-positions[i-1]-1)
		}
		lengths = append(lengths, item)
	}
	h := map[string][]string{HeaderPos: {positions[0].String()}, HeaderRun: {strings.Join(lengths, ",")}}
	r, err := Decode(c, h, []byte(strings.Join(payloads, "\n")))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// sizes are payload lengths about the bounds, and the small ones of every day.
var sizes = rapid.OneOf(
	rapid.IntRange(0, 3),
	rapid.IntRange(0, 300),
	rapid.SampledFrom([]int{RunBytes / 2, RunBytes - 1, RunBytes, RunBytes + 1, 3 * RunBytes, 300 << 10}),
)

// drawRun makes a run of a few frames, or of many small ones, from next on.
func drawRun(t *rapid.T, next subjects.Position) Run {
	n := rapid.OneOf(rapid.Just(1), rapid.IntRange(1, 8), rapid.SampledFrom([]int{RunFrames - 1, RunFrames, RunFrames + 1, 3000, SliceFrames})).Draw(t, "frames")
	holes := rapid.IntRange(0, 4).Draw(t, "holes") == 0
	var positions []subjects.Position
	var payloads []string
	for i := range n {
		size := i % 5
		if n <= 8 {
			size = sizes.Draw(t, "size")
		}
		if holes && i%3 == 1 {
			next += subjects.Position(i)
		}
		positions = append(positions, next)
		payloads = append(payloads, strings.Repeat(string(rune('a'+int(next)%26)), size))
		next++
	}
	return encoded(t, rapid.SampledFrom([]subjects.Channel{"a", "b", "a.b"}).Draw(t, "channel"), positions, payloads)
}

// TestCutterAgainstModel: over any frames, what comes out of a cutter is what
// went in, cut within the bounds of P3.1. The model is a list.
func TestCutterAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Cutter
		var model []aFrame
		var bodies, kept [][]byte // what the cutter shares, and how it was
		adds, next := 0, subjects.Position(rapid.IntRange(0, 2).Draw(t, "from"))
		flush := func() {
			runs := c.Count()
			cuts := c.Runs(nil)
			if len(cuts) != runs {
				t.Fatalf("%d runs, counted before as %d", len(cuts), runs)
			}
			checkSlice(t, cuts, model, adds)
			for i := range bodies {
				if !bytes.Equal(bodies[i], kept[i]) {
					t.Fatalf("the cutter wrote into a body that it shares")
				}
			}
			if c.Len() != 0 || len(c.Runs(nil)) != 0 {
				t.Fatalf("a finished slice leaves %d frames", c.Len())
			}
			model, bodies, kept, adds = nil, nil, nil, 0
		}
		for range rapid.IntRange(1, 30).Draw(t, "runs") {
			r, paced := drawRun(t, next), rapid.Bool().Draw(t, "paced")
			if c.Full(r.Len(), r.Bytes()) {
				if adds == 0 {
					t.Fatalf("an empty slice is full")
				}
				flush()
			}
			c.Add(r, paced)
			adds++
			for _, f := range frames(r) {
				f.paced = paced
				model = append(model, f)
			}
			if c.Len() != len(model) {
				t.Fatalf("%d frames in the slice, want %d", c.Len(), len(model))
			}
			bodies, kept = append(bodies, r.Body()), append(kept, bytes.Clone(r.Body()))
			next = r.Last() + 1 + subjects.Position(rapid.IntRange(0, 2).Draw(t, "gap"))
		}
		flush()
	})
}

// checkSlice holds the runs of one slice to the frames that were added.
func checkSlice(t *rapid.T, cuts []Cut, want []aFrame, adds int) {
	var got []aFrame
	size := 0
	for i, cut := range cuts {
		r := cut.Run
		switch {
		case r.Len() == 0 || r.Len() > RunFrames:
			t.Fatalf("a run of %d frames", r.Len())
		case r.Len() > 1 && r.Bytes() > RunBytes:
			t.Fatalf("a run of %d frames has %d bytes", r.Len(), r.Bytes())
		case i > 0 && r.First() <= cuts[i-1].Run.First():
			t.Fatalf("a run from %s after one from %s", r.First(), cuts[i-1].Run.First())
		}
		for j, f := range frames(r) {
			if j > 0 && r.Pos(j) <= r.Pos(j-1) {
				t.Fatalf("position %s after %s in a run", r.Pos(j), r.Pos(j-1))
			}
			f.paced = cut.Paced
			got = append(got, f)
		}
		size += r.Bytes()
		if back, err := Decode(r.Channel, wire(r), r.Body()); err != nil || !same(back, r) {
			t.Fatalf("a run does not survive the wire: %v", err)
		}
	}
	slices.SortFunc(got, func(a, b aFrame) int {
		if a.pos < b.pos {
			return -1
		}
		return 1
	})
	if !slices.Equal(got, want) {
		t.Fatalf("%d frames out, %d in, or others", len(got), len(want))
	}
	if adds > 1 && (len(got) > SliceFrames || size > SliceBytes) {
		t.Fatalf("a slice of %d frames, %d bytes", len(got), size)
	}
}

// TestBacklogMakesFullRuns: one channel's frames fill runs up to the bound, and
// not one run more than the bound asks for is sent (P3.1).
func TestBacklogMakesFullRuns(t *testing.T) {
	for _, c := range []struct{ size, runs int }{{0, 4}, {16, 4}, {128, 32}, {RunBytes, SliceFrames}} {
		var cutter Cutter
		payload := bytes.Repeat([]byte("x"), c.size)
		for p := range subjects.Position(SliceFrames) {
			cutter.Add(Single("a", p, payload), false)
		}
		if got := len(cutter.Runs(nil)); got != c.runs {
			t.Errorf("%d frames of %d bytes make %d runs, want %d", SliceFrames, c.size, got, c.runs)
		}
	}
}

// TestInterleavedChannelsEachMakeARun: frames that alternate between channels
// are not sent one by one.
func TestInterleavedChannelsEachMakeARun(t *testing.T) {
	var c Cutter
	for p := range subjects.Position(1000) {
		c.Add(Single(subjects.Channel(fmt.Sprint("c", p%10)), p, []byte("x")), p%20 >= 10)
	}
	cuts := c.Runs(nil)
	if len(cuts) != 20 {
		t.Fatalf("%d runs, want one for each of 10 channels, paced and not", len(cuts))
	}
	for _, cut := range cuts {
		if cut.Run.Len() != 50 || cut.Paced != (cut.Run.First()%20 >= 10) {
			t.Errorf("%s: %d frames, paced %v", cut.Run.Channel, cut.Run.Len(), cut.Paced)
		}
	}
}

// TestLoneRunIsNotCopied: a run that nothing joins goes out as it came in.
func TestLoneRunIsNotCopied(t *testing.T) {
	r := encoded(t, "a", []subjects.Position{1, 2, 5}, []string{"x", "", "yz"})
	var c Cutter
	c.Add(r, false)
	cuts := c.Runs(nil)
	if len(cuts) != 1 || !same(cuts[0].Run, r) || &cuts[0].Run.Body()[0] != &r.Body()[0] {
		t.Fatalf("got %+v, want the run itself", cuts)
	}
}

// Frames that are added one by one make the runs that runs of one would, and
// those of a slice stay as they are when the cutter goes on to the next.
func TestAddFrameIsAddOfASingle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var one, other Cutter
		var got, want []Cut
		var texts []string
		next := subjects.Position(0)
		for range rapid.IntRange(1, 4).Draw(t, "slices") {
			for range rapid.IntRange(1, 40).Draw(t, "frames") {
				ch := rapid.SampledFrom([]subjects.Channel{"a", "b", "c", "d"}).Draw(t, "channel")
				payload := []byte(strings.Repeat(string(rune('a'+int(next)%26)), sizes.Draw(t, "size")))
				paced := rapid.Bool().Draw(t, "paced")
				one.AddFrame(ch, next, payload, paced)
				other.Add(Single(ch, next, payload), paced)
				next++
			}
			got, want = one.Runs(got), other.Runs(want)
			for _, c := range got[len(texts):] {
				texts = append(texts, fmt.Sprint(c.Paced, c.Run.Channel, c.Run.First(), c.Run.Header(), string(c.Run.Body())))
			}
		}
		for i, c := range want {
			text := fmt.Sprint(c.Paced, c.Run.Channel, c.Run.First(), c.Run.Header(), string(c.Run.Body()))
			now := fmt.Sprint(got[i].Paced, got[i].Run.Channel, got[i].Run.First(), got[i].Run.Header(), string(got[i].Run.Body()))
			if len(got) != len(want) || texts[i] != text || now != text {
				t.Fatalf("run %d of %d: %.80s, later %.80s, want %.80s of %d", i, len(got), texts[i], now, text, len(want))
			}
		}
	})
}

// A frame that is joined to others costs no memory of its own.
func TestAddFrameDoesNotAllocate(t *testing.T) {
	var c Cutter
	var cuts []Cut
	payload := []byte("payload")
	slice := func() {
		for i := range 1000 {
			c.AddFrame("a", subjects.Position(i), payload, false)
		}
		cuts = c.Runs(cuts[:0])
	}
	slice()
	if n := testing.AllocsPerRun(10, slice); n > 2 { // body and entries of the run
		t.Errorf("%v allocations for a run of 1000 frames, want 2", n)
	}
}
