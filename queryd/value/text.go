package value

import (
	"math/bits"
	"strings"
)

// lower folds one ASCII letter; every other byte is itself (L6.1).
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if i >= 'A' && i <= 'Z' {
			t[i] |= 0x20
		}
	}
	return t
}()

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load reads eight bytes of s at i, the first one lowest. The compiler makes
// it one load.
func load(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// foldWord folds the A–Z among eight bytes at once: 0x80 is set in each byte
// that is at least 'A', taken away where it is above 'Z' or no ASCII, and moved
// down to be the bit that makes a letter small.
func foldWord(w uint64) uint64 {
	low := w &^ highs
	upper := (low + (0x80-'A')*ones) &^ (low + (0x80-'Z'-1)*ones) &^ w & highs
	return w | upper>>2
}

// equalFold reports whether two strings are equal with A–Z folded.
func equalFold(a, b string) bool {
	return len(a) == len(b) && commonFold(a, b) == len(a)
}

// commonFold is the length of the longest common prefix with A–Z folded.
func commonFold(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x, y := load(a, i), load(b, i); x != y {
			if d := foldWord(x) ^ foldWord(y); d != 0 {
				return i + bits.TrailingZeros64(d)/8
			}
		}
	}
	for ; i < n && lower[a[i]] == lower[b[i]]; i++ {
	}
	return i
}

// compareFold orders by folded bytes, then by the original ones (L7).
func compareFold(a, b string) int {
	i := commonFold(a, b)
	if i < len(a) && i < len(b) {
		return int(lower[a[i]]) - int(lower[b[i]])
	}
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && equalFold(s[:len(prefix)], prefix)
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && equalFold(s[len(s)-len(suffix):], suffix)
}

// A Needle is text prepared to be found in other texts with ASCII folded
// (L6.1). It is immutable, safe for concurrent use, and Find allocates nothing.
//
// The search runs after one anchor, the needle's rarest byte by what telemetry
// is made of, with the machine's own byte search: a non-letter in one pass, a
// letter in one pass for each case, block by block so that a hit near the start
// costs no pass to the end. Where anchors turn out to be frequent it changes to
// comparing two bytes of the needle at eight places at once, and where even
// those keep lying (aaaa…b in aaaa…), to a scan that never looks back.
type Needle struct {
	text   string // folded
	a, b   anchor // the two rarest bytes; the same one if the needle has one byte
	border []int32
}

// An anchor is one byte of the needle, and where in it.
type anchor struct {
	at        int
	low, high byte   // both cases; equal if it is no letter
	mask      uint64 // 0x20 in every byte if it is a letter: sets case aside
	word      uint64 // low in every byte
}

// common lists bytes by how often telemetry has them, the commonest first.
// What it leaves out is rare. A letter stands for both its cases.
const common = " e0t1a2oi3nsr45.l6789d\":c,u-mph/=f_g]b[wyvk})({\tTxzjq;'|#+&%@$?!<>*~^\\\n\r"

// rarity ranks each byte, the rarest highest.
var rarity = func() (t [256]uint8) {
	for i := range t {
		t[i] = 255
		if at := strings.IndexByte(common, lower[i]); at >= 0 {
			t[i] = uint8(at)
		}
	}
	return t
}()

// NewNeedle prepares text to be looked for.
func NewNeedle(text string) *Needle {
	n := &Needle{text: fold(text)}
	if n.text == "" {
		return n
	}
	first, second := 0, -1
	for i := 1; i < len(n.text); i++ {
		switch r := rarity[n.text[i]]; {
		case r > rarity[n.text[first]]:
			first, second = i, first
		case second < 0 || r > rarity[n.text[second]]:
			second = i
		}
	}
	n.a = anchorAt(n.text, first)
	n.b = anchorAt(n.text, max(second, 0))
	if len(n.text) > shortNeedle {
		n.border = borders(n.text)
	}
	return n
}

func anchorAt(text string, at int) anchor {
	c := text[at]
	a := anchor{at: at, low: c, high: c, word: uint64(c) * ones}
	if c >= 'a' && c <= 'z' {
		a.high, a.mask = c&^0x20, 0x20*ones
	}
	return a
}

const (
	// shortNeedle is the length up to which comparing at every place is
	// cheap enough to need no bound.
	shortNeedle = 16
	// blockSize is how far one case of the anchor is looked for before the
	// other has its turn: it stays in the first cache.
	blockSize = 4096
)

// Find reports whether the text stands in s. An empty text stands everywhere.
func (n *Needle) Find(s string) bool {
	last := len(s) - len(n.text) // the last place where it could begin
	if last < 0 || n.text == "" {
		return last >= 0
	}
	misses := 0
	for from := 0; from <= last; from += blockSize {
		until := min(from+blockSize, last+1)
		found, gaveUp := n.findBlock(s, from, until, &misses)
		if found {
			return true
		}
		if gaveUp >= 0 {
			return n.findPairs(s, gaveUp, last)
		}
	}
	return false
}

// findBlock looks for the text at the places from ≤ p < until. When anchors
// without the text about them get frequent it stops, and returns the place to
// go on from, else -1.
func (n *Needle) findBlock(s string, from, until int, misses *int) (found bool, gaveUp int) {
	block := s[from+n.a.at : until+n.a.at]
	low := strings.IndexByte(block, n.a.low)
	high := -1
	if n.a.high != n.a.low {
		high = strings.IndexByte(block, n.a.high)
	}
	for low >= 0 || high >= 0 {
		p := low
		if low < 0 || (high >= 0 && high < low) {
			p = high
		}
		k := commonFold(s[from+p:from+p+len(n.text)], n.text)
		if k == len(n.text) {
			return true, -1
		}
		if *misses += 1 + k>>4; *misses > 4+(from+p)>>5 {
			return false, from + p + 1
		}
		if p == low {
			low = after(block, p, n.a.low)
		} else {
			high = after(block, p, n.a.high)
		}
	}
	return false, -1
}

// after is the next place of c beyond i, or -1.
func after(s string, i int, c byte) int {
	if j := strings.IndexByte(s[i+1:], c); j >= 0 {
		return i + 1 + j
	}
	return -1
}

// findPairs looks at eight places at once for both anchors. Each comparison
// that fails late is paid for by the places passed; when the debt grows it
// leaves the rest to findLinear.
func (n *Needle) findPairs(s string, from, last int) bool {
	a, b := &n.a, &n.b
	work := 0
	p := from
	for ; p <= last && p+max(a.at, b.at)+8 <= len(s); p += 8 {
		// A byte of w is zero where both anchors agree.
		w := (load(s, p+a.at) | a.mask) ^ a.word | (load(s, p+b.at) | b.mask) ^ b.word
		for hit := (w - ones) &^ w & highs; hit != 0; hit &= hit - 1 {
			q := p + bits.TrailingZeros64(hit)/8
			if q > last {
				return false
			}
			k := commonFold(s[q:q+len(n.text)], n.text)
			if k == len(n.text) {
				return true
			}
			if work += k; n.border != nil && work > 4*(p-from)+4096 {
				return n.findLinear(s[q:])
			}
		}
	}
	for ; p <= last; p++ { // fewer than eight places are left
		if equalFold(s[p:p+len(n.text)], n.text) {
			return true
		}
	}
	return false
}

// findLinear is the search of Knuth, Morris and Pratt: slow for a byte, but no
// text makes it slower.
func (n *Needle) findLinear(s string) bool {
	k := 0
	for i := range len(s) {
		c := lower[s[i]]
		for k > 0 && n.text[k] != c {
			k = int(n.border[k-1])
		}
		if n.text[k] == c {
			if k++; k == len(n.text) {
				return true
			}
		}
	}
	return false
}

// borders gives for each prefix the length of its longest proper border.
func borders(text string) []int32 {
	b := make([]int32, len(text))
	k := 0
	for i := 1; i < len(text); i++ {
		for k > 0 && text[k] != text[i] {
			k = int(b[k-1])
		}
		if text[k] == text[i] {
			k++
		}
		b[i] = int32(k)
	}
	return b
}
