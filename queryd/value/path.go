package value

import (
	"fmt"
	"strings"
)

// Coordinates are the fields that every record has of its own. A payload's key
// of such a name is found under payload. (L4.1)
var Coordinates = [...]string{"timestamp", "node", "life", "channel", "position"}

// payloadSegment is where a payload's coordinates' names go.
const payloadSegment = "payload"

func isCoordinate(segment string) bool {
	switch segment {
	case "timestamp", "node", "life", "channel", "position":
		return true
	}
	return false
}

const (
	segmentStart = 1 << iota
	segmentByte
)

// segmentBytes says of each byte whether a path's segment may begin with it,
// and whether it may hold it.
var segmentBytes = func() (t [256]uint8) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") {
		t[c] = segmentStart | segmentByte
	}
	for _, c := range []byte("0123456789-") {
		t[c] = segmentByte
	}
	return t
}()

// IsPath reports whether a text is a path: segments joined by dots, each a
// letter or _ followed by letters, digits, _ and - (L2).
func IsPath(s string) bool {
	ok, _ := scanPath(s)
	return ok
}

// scanPath is IsPath, and where the first segment ends.
func scanPath(s string) (ok bool, first int) {
	need := uint8(segmentStart)
	for i := range len(s) {
		c := s[i]
		if segmentBytes[c]&need != 0 {
			need = segmentByte
			continue
		}
		if c != '.' || need == segmentStart {
			return false, 0
		}
		if first == 0 {
			first = i
		}
		need = segmentStart
	}
	if first == 0 {
		first = len(s)
	}
	return need == segmentByte, first
}

// A Want names a path that a Decoder looks for. Tree asks for every field under
// it, too, and lists what it finds.
type Want struct {
	Path string
	Tree bool
}

// A node is a segment of wanted paths.
type node struct {
	segment string
	path    string
	slot    int // where the value at this path goes, -1 if nowhere
	tree    bool
	kids    []*node
	byName  map[string]*node // of many kids
}

// manyKids is from where a map beats looking at each.
const manyKids = 12

func (n *node) child(segment string) *node {
	if n.byName != nil {
		return n.byName[segment]
	}
	for _, k := range n.kids {
		if k.segment == segment {
			return k
		}
	}
	return nil
}

// add is the child of that name, made if there is none.
func (n *node) add(segment string) *node {
	if k := n.child(segment); k != nil {
		return k
	}
	k := &node{segment: segment, path: segment, slot: -1}
	if n.path != "" {
		k.path = n.path + "." + segment
	}
	n.kids = append(n.kids, k)
	switch {
	case n.byName != nil:
		n.byName[segment] = k
	case len(n.kids) > manyKids:
		n.byName = make(map[string]*node, 2*manyKids)
		for _, k := range n.kids {
			n.byName[k.segment] = k
		}
	}
	return k
}

// A Decoder reads the wanted fields out of payloads, JSON and MessagePack
// alike. It is immutable and safe for concurrent use.
type Decoder struct {
	root  node
	all   bool
	wants []int // the slot of each want: equal paths share one
	slots int
}

// All is the decoder that lists every field.
func All() *Decoder { return &Decoder{root: node{slot: -1}, all: true} }

// Compile makes a decoder of the wanted paths. It wraps ErrPath.
func Compile(wants ...Want) (*Decoder, error) {
	d := &Decoder{root: node{slot: -1}}
	for _, w := range wants {
		if !IsPath(w.Path) {
			return nil, fmt.Errorf("compile decoder: %w: %.80q", ErrPath, w.Path)
		}
		n := &d.root
		for segment := range strings.SplitSeq(w.Path, ".") {
			n = n.add(segment)
		}
		n.tree = n.tree || w.Tree
		if n.slot < 0 {
			n.slot = d.slots
			d.slots++
		}
		d.wants = append(d.wants, n.slot)
	}
	return d, nil
}
