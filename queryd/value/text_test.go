package value

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestNeedleFindsWhatStandsThere is promise 7 against the naive model, over
// texts that lie to its anchors.
func TestNeedleFindsWhatStandsThere(t *testing.T) {
	texts := rapid.OneOf(
		rapid.StringMatching(`[aAbB]{0,60}`),
		rapid.StringMatching(`[a-cA-C ./é@\[`+"`"+`{]{0,200}`),
		rapid.Map(rapid.StringMatching(`[aAb]{1,6}`), func(s string) string { return strings.Repeat(s, 1500) }),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := texts.Draw(t, "text")
		needle := rapid.OneOf(texts, rapid.Custom(func(t *rapid.T) string {
			from := rapid.IntRange(0, len(s)).Draw(t, "from")
			return strings.ToUpper(s[from:rapid.IntRange(from, len(s)).Draw(t, "to")])
		})).Draw(t, "needle")
		n := NewNeedle(needle)
		want := strings.Contains(naiveFoldBytes(s), naiveFoldBytes(needle))
		if got := n.Find(s); got != want {
			t.Fatalf("%q in %q: %v", needle, s, got)
		}
		if len(needle) > 0 && len(s) >= len(needle) {
			last := len(s) - len(needle)
			if n.findPairs(s, 0, last) != want {
				t.Fatalf("%q in %q by pairs: %v", needle, s, !want)
			}
			n.border = borders(n.text)
			if n.findLinear(s) != want {
				t.Fatalf("%q in %q by borders: %v", needle, s, !want)
			}
		}
	})
}

func naiveFoldBytes(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 32
		}
	}
	return string(b)
}

// TestNeedleAtEveryPlace: near the ends of blocks and words nothing is missed,
// and nothing is found that is cut off.
func TestNeedleAtEveryPlace(t *testing.T) {
	for _, needle := range []string{"q", "7", "eQ", "e7.", "Error: Timeout", "eeeeeeeeeeeeeeeeeeeeeeeq"} {
		n := NewNeedle(needle)
		for _, size := range []int{0, 1, 7, 8, 9, 30, 4090, 4100, 8200} {
			for _, filler := range []string{" ", "e", "E"} {
				s := strings.Repeat(filler, size)
				for at := range 20 {
					at = min(at, size)
					if !n.Find(s[:size-at] + strings.ToUpper(needle) + s[size-at:]) {
						t.Fatalf("%q is not found among %d %q, %d from the end", needle, size, filler, at)
					}
					if n.Find(s[:at] + strings.Repeat(filler, size) + needle[:len(needle)-1]) {
						t.Fatalf("%q is found where its last byte is missing", needle)
					}
				}
			}
		}
	}
}

// misleading is a text and needles that stand in it but for a byte, at
// distances that show to no anchor.
func misleading() (hay string, needles []string) {
	period := strings.Repeat("a", 100) + "b"
	long := strings.Repeat(period, 320)
	return strings.Repeat(period, 1<<20/len(period)), []string{
		long + "bb", "bb" + long, long + "ab" + long, strings.Repeat("a", 1<<15) + "b", "b" + strings.Repeat("a", 1<<15),
	}
}

// TestNeedleIsLinear is promise 7: texts made to mislead cost no more than a
// multiple of their length. A search that looked back would compare some 2^32
// bytes for each.
func TestNeedleIsLinear(t *testing.T) {
	hay, needles := misleading()
	for _, text := range needles {
		n := NewNeedle(text)
		if n.Find(hay) {
			t.Fatal("found what is not there")
		}
		if !n.Find(hay + strings.ToUpper(text)) {
			t.Fatal("not found what is there")
		}
	}
}

func TestFindAllocatesNothing(t *testing.T) {
	s := strings.Repeat("level=INFO path=/api/v1/users status=200 ", 500)
	n := NewNeedle("Status=500")
	if a := testing.AllocsPerRun(20, func() { n.Find(s) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}
