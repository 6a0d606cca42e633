package frame

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"datastream/subjects"
)

// TestEncodeDecodeIsIdentity is promise 1: what a run's header and body say
// is the run, for any frames and for any piece of them.
func TestEncodeDecodeIsIdentity(t *testing.T) {
	payload := rapid.OneOf(rapid.StringMatching(`[a\n]{0,4}`), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		payloads := rapid.SliceOfN(payload, 1, 20).Draw(t, "payloads")
		next := subjects.Position(rapid.Uint64Max(1<<60).Draw(t, "first"))
		var positions []subjects.Position
		for range payloads {
			positions = append(positions, next)
			next += 1 + subjects.Position(rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Max(1<<58)).Draw(t, "skip"))
		}
		r := encoded(t, "c", positions, payloads)
		for i := range payloads {
			if r.Pos(i) != positions[i] || string(r.Payload(i)) != payloads[i] {
				t.Fatalf("frame %d: %s %q, want %s %q", i, r.Pos(i), r.Payload(i), positions[i], payloads[i])
			}
		}
		from := rapid.IntRange(0, len(payloads)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(payloads)).Draw(t, "to")
		piece := r.Slice(from, to)
		if string(piece.Body()) != strings.Join(payloads[from:to], "\n") || piece.Len() != to-from {
			t.Fatalf("frames %d … %d have the body %q", from, to-1, piece.Body())
		}
		back, err := Decode("c", wire(piece), piece.Body())
		if err != nil || !same(back, piece) {
			t.Fatalf("frames %d … %d decode to %v, %v", from, to-1, frames(back), err)
		}
		n := 1
		for from+n < len(positions) && positions[from+n] == positions[from]+subjects.Position(n) {
			n++
		}
		if got := r.Consecutive(from); got != n {
			t.Fatalf("%d consecutive from %d of %v, want %d", got, from, positions, n)
		}
	})
}

// TestFitIsTheLongestThatARunMayBe: no frame more would fit, and a bigger one
// travels alone (promise 3, P3.1).
func TestFitIsTheLongestThatARunMayBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 15, 16, 17, 4000, RunBytes - 1, RunBytes, RunBytes + 1}), 1, 40).Draw(t, "sizes")
		if rapid.Bool().Draw(t, "many") {
			sizes = append(make([]int, rapid.IntRange(RunFrames-2, RunFrames+2).Draw(t, "empty ones")), sizes...)
		}
		var positions []subjects.Position
		var payloads []string
		for i, n := range sizes {
			positions = append(positions, subjects.Position(2*i))
			payloads = append(payloads, strings.Repeat("x", n))
		}
		r := encoded(t, "c", positions, payloads)
		n, bytes := r.Fit()
		if n < 1 || bytes != r.Slice(0, n).Bytes() || n > 1 && (n > RunFrames || bytes > RunBytes) {
			t.Fatalf("%d frames of %d bytes fit", n, bytes)
		}
		if n < r.Len() && n+1 <= RunFrames && r.Slice(0, n+1).Bytes() <= RunBytes {
			t.Fatalf("%d frames fit, and one more would", n)
		}
	})
	if n, bytes := (Run{}).Fit(); n != 0 || bytes != 0 {
		t.Errorf("%d frames of %d bytes of the empty run fit", n, bytes)
	}
}

// TestAppendToAPayloadHarmsNoOther: a payload's capacity ends with it, so that
// an append by its reader copies.
func TestAppendToAPayloadHarmsNoOther(t *testing.T) {
	r := encoded(t, "a", []subjects.Position{0, 1}, []string{"x", "y"})
	_ = append(r.Payload(0), "zzz"...)
	_ = append(r.Slice(0, 1).Body(), "zzz"...)
	if string(r.Body()) != "x\ny" {
		t.Fatalf("body %q", r.Body())
	}
}

// TestRenumber: positions are consecutive from the first one, up to the last
// position that there is, and are left alone past it.
func TestRenumber(t *testing.T) {
	r := encoded(t, "a", []subjects.Position{0, 1, 2}, []string{"x", "", "z"})
	if !r.Renumber(41) || r.First() != 41 || r.Last() != 43 || r.Consecutive(0) != 3 {
		t.Fatalf("positions %v, want 41 … 43", frames(r))
	}
	if !r.Renumber(subjects.MaxPosition-2) || r.Last() != subjects.MaxPosition {
		t.Fatalf("positions %v, want the last three", frames(r))
	}
	if r.Renumber(subjects.MaxPosition-1) || r.Last() != subjects.MaxPosition || r.Renumber(subjects.MaxPosition+1) {
		t.Fatalf("positions %v after one too high", frames(r))
	}
	if !(Run{}).Renumber(subjects.MaxPosition) {
		t.Fatal("an empty run has no position to pass the end")
	}
}

// TestEmptyRun: a mark has no frames, body or cost.
func TestEmptyRun(t *testing.T) {
	r, err := DecodeSubmission("a", map[string][]string{HeaderRun: {""}}, nil)
	if err != nil || r.Len() != 0 || r.Bytes() != 0 || r.Cost() != 0 || r.Body() != nil || r.Header() != "" || r.Channel != "a" {
		t.Fatalf("got %+v, %v", r, err)
	}
}

// TestBodyIsBounded: a body past MaxBody is refused, one of MaxBody is taken.
func TestBodyIsBounded(t *testing.T) {
	h := map[string][]string{HeaderPos: {"0"}}
	if r, err := Decode("a", h, make([]byte, MaxBody)); err != nil || r.Bytes() != MaxBody {
		t.Errorf("a body of MaxBody: %d bytes, %v", r.Bytes(), err)
	}
	if _, err := Decode("a", h, make([]byte, MaxBody+1)); !errors.Is(err, ErrRun) {
		t.Errorf("a body of MaxBody + 1: %v, want ErrRun", err)
	}
}

// TestDecodeAllocatesLittle is promise 2: entries for the frames that the body
// can hold, and nothing for what a header merely claims; a single frame is one
// allocation.
func TestDecodeAllocatesLittle(t *testing.T) {
	single := map[string][]string{HeaderPos: {"7"}}
	body := []byte("hello\nhi\nbye")
	if n := testing.AllocsPerRun(100, func() { _, _ = Decode("a", single, body) }); n > 1 {
		t.Errorf("a single frame: %v allocations", n)
	}
	run := map[string][]string{HeaderPos: {"7"}, HeaderRun: {"5,2,3+4"}}
	if n := testing.AllocsPerRun(100, func() { _, _ = Decode("a", run, body) }); n > 1 {
		t.Errorf("a run: %v allocations", n)
	}
}
