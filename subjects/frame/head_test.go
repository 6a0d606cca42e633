package frame

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"datastream/subjects"
)

// What has a body decodes to the same positions and lengths without it.
func TestHeadAgreesWithWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Cutter
		pos := rapid.Uint64Range(0, 1<<40).Draw(t, "first")
		for range rapid.IntRange(1, 40).Draw(t, "frames") {
			payload := []byte(rapid.StringN(0, 20, 40).Draw(t, "payload"))
			c.Add(Single("c", subjects.Position(pos), payload), false)
			pos += rapid.Uint64Range(1, 3).Draw(t, "step")
		}
		for _, cut := range c.Runs(nil) {
			h := map[string][]string{HeaderPos: {cut.Run.First().String()}}
			if list := cut.Run.Header(); list != "" {
				h[HeaderRun] = []string{list}
			}
			whole, err := Decode("c", h, cut.Run.Body())
			if err != nil {
				t.Fatal(err)
			}
			head, err := DecodeHead("c", h, len(cut.Run.Body()))
			if err != nil {
				t.Fatal(err)
			}
			if head.Len() != whole.Len() || head.Bytes() != whole.Bytes() || head.Cost() != whole.Cost() || head.Header() != whole.Header() {
				t.Fatalf("head %v, whole %v", head, whole)
			}
			for i := range whole.Len() {
				if head.Pos(i) != whole.Pos(i) {
					t.Fatalf("frame %d: head at %d, whole at %d", i, head.Pos(i), whole.Pos(i))
				}
			}
		}
	})
}

func TestHeadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, pos, run string
		size           int
		want           error
	}{
		{"no position", "", "1,1", 3, ErrRun},
		{"bad position", "01", "1,1", 3, ErrRun},
		{"negative size", "0", "", -1, ErrRun},
		{"size too large", "0", "", MaxBody + 1, ErrRun},
		{"body too short", "0", "1,1", 2, ErrRun},
		{"body too long", "0", "1,1", 4, ErrRun},
		{"no room for the separator", "0", "1,0", 1, ErrRun},
		{"more frames than bytes", "0", "0,0,0", 1, ErrRun},
		{"position passes the end", "18446744073709551614", "1,1", 3, ErrRun},
		{"skip on the first", "0", "1+1,1", 3, ErrRun},
		{"no number", "0", "1,x", 3, ErrRun},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := map[string][]string{}
			if c.pos != "" {
				h[HeaderPos] = []string{c.pos}
			}
			if c.run != "" {
				h[HeaderRun] = []string{c.run}
			}
			if r, err := DecodeHead("c", h, c.size); !errors.Is(err, c.want) {
				t.Fatalf("got %v, %v; want %v", r, err, c.want)
			}
		})
	}
	h := map[string][]string{HeaderPos: {"1", "2"}}
	if _, err := DecodeHead("c", h, 1); !errors.Is(err, ErrHeader) {
		t.Fatalf("a position that stands twice: %v", err)
	}
}
