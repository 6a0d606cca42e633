package value

import (
	"hash/maphash"
	"strings"
)

// The bounds of one record (L4.2).
const (
	MaxDepth     = 64      // maps and arrays within each other, the outermost counted
	MaxFields    = 4096    // leaves whose keys are paths
	MaxPathBytes = 1 << 20 // the sum of their paths' lengths
)

// A Form is how a payload is encoded, as its first byte tells.
type Form uint8

// The forms.
const (
	NoMap Form = iota
	JSON
	MessagePack
)

// FormOf tells by its first byte what a payload would be if it is a map: { is
// JSON, white space before it included; 0x80–0x8f, 0xde and 0xdf are
// MessagePack.
func FormOf(payload []byte) Form {
	p := view(payload)
	i := skipSpace(p, 0)
	switch {
	case i == len(p):
	case p[i] == '{':
		return JSON
	case i == 0 && (p[0]&0xf0 == 0x80 || p[0] == 0xde || p[0] == 0xdf):
		return MessagePack
	}
	return NoMap
}

// Check reports whether a payload is a map that decodes, as the error that
// Decode would give.
func Check(payload []byte) error {
	var f Fields
	return nothing.Decode(&f, payload)
}

var nothing = &Decoder{root: node{slot: -1}}

// A Field is one path of a record and what stands there.
type Field struct {
	Path  string
	Value Value
}

// Fields are the fields of one record, in memory that the next record reuses.
// The zero Fields is ready; it belongs to one goroutine.
type Fields struct {
	d     *Decoder
	slots []slot
	list  []Field
	raw   bool
	path  []byte   // of the map being read, where it is collected
	arena []byte   // unescaped strings and collected paths
	index []uint16 // hash table over list, place+1; used when list is long
}

type slot struct {
	value Value
	set   bool
}

// RawPath is the one field of a payload that is no map or does not decode.
const RawPath = "raw"

// Raw reports whether the payload is no map or does not decode: raw, its bytes,
// is then its one field (L4.1).
func (f *Fields) Raw() bool { return f.raw }

// At is the value at the decoder's want of that number, null if the record has
// none.
func (f *Fields) At(want int) Value { return f.slots[f.d.wants[want]].value }

// List is the fields under Tree wants, or all of them, in the payload's order;
// of equal paths only the first. It holds until the next Decode.
func (f *Fields) List() []Field { return f.list }

// Lookup is the listed value at a path, null if there is none.
func (f *Fields) Lookup(path string) Value {
	for i := range f.list {
		if f.list[i].Path == path {
			return f.list[i].Value
		}
	}
	return Value{}
}

func (f *Fields) reset(d *Decoder) {
	if cap(f.slots) < d.slots {
		f.slots = make([]slot, d.slots)
	}
	f.slots = f.slots[:d.slots]
	clear(f.slots)
	if len(f.list) >= linearFields {
		clear(f.index)
	}
	f.d, f.list, f.raw, f.path, f.arena = d, f.list[:0], false, f.path[:0], f.arena[:0]
}

// Decode reads the payload's wanted fields into f, whose earlier fields end
// here. The error says why the payload's one field is raw; the fields are
// valid all the same.
//
// One pass checks and reads: a length is compared with the bytes present
// before anything is done with it, what is found is bounded as it is found, and
// a payload that turns out to be malformed takes back all of it.
func (d *Decoder) Decode(f *Fields, payload []byte) error {
	f.reset(d)
	w := walk{p: view(payload), f: f}
	err := w.record(place{node: &d.root, all: d.all}, FormOf(payload))
	if err != nil {
		f.reset(d)
		f.raw = true
		if p, ok := w.enter(place{node: &d.root, all: d.all}, RawPath); ok {
			w.fields, w.pathBytes = 0, 0
			_ = w.leaf(p, OfBinary(payload)) // one field is within any bound
		}
	}
	return err
}

// A walk is the reading of one payload.
type walk struct {
	p         string
	f         *Fields
	fields    int
	pathBytes int
}

// A place is where in the record a walk is: the path so far, and what is
// wanted at and under it.
type place struct {
	node *node // the wanted paths that go on here, nil if none
	all  bool  // everything under here is listed, its path kept in Fields.path
	path int   // the path's length
}

// wanted reports whether a leaf at the place is asked for.
func (p place) wanted() bool { return p.all || (p.node != nil && p.node.slot >= 0) }

func (w *walk) record(at place, form Form) error {
	var end int
	var err error
	switch form {
	case NoMap:
		return ErrNoMap
	case JSON:
		end, err = w.jsonObject(skipSpace(w.p, 0), 1, at)
		if err == nil {
			end = skipSpace(w.p, end)
		}
	case MessagePack:
		var t token
		if t, err = readToken(w.p, 0); err == nil {
			end, err = w.msgpackMap(t.next, int(t.num), 1, at)
		}
	}
	if err == nil && end != len(w.p) {
		return ErrTrailing
	}
	return err
}

// enter is the place under a key; ok is false if the key is no path, so that
// nothing at and under it is a field.
func (w *walk) enter(at place, key string) (next place, ok bool) {
	ok, first := scanPath(key)
	if !ok {
		return place{}, false
	}
	if next = at; at.path == 0 && isCoordinate(key[:first]) {
		next = w.descend(next, payloadSegment)
	}
	for first >= 0 && first < len(key) {
		next = w.descend(next, key[:first])
		key = key[first+1:]
		first = strings.IndexByte(key, '.')
	}
	return w.descend(next, key), true
}

// descend is the place one segment further.
func (w *walk) descend(at place, segment string) place {
	next := place{all: at.all, path: len(segment)}
	if at.path > 0 {
		next.path += at.path + 1
	}
	if at.node != nil {
		next.node = at.node.child(segment)
	}
	switch {
	case at.all:
		w.f.path = w.f.path[:at.path]
		if at.path > 0 {
			w.f.path = append(w.f.path, '.')
		}
		w.f.path = append(w.f.path, segment...)
	case next.node != nil && next.node.tree:
		next.all = true
		w.f.path = append(w.f.path[:0], next.node.path...)
	}
	return next
}

// count holds a field against the bounds.
func (w *walk) count(at place) error {
	w.fields++
	w.pathBytes += at.path
	if w.fields > MaxFields || w.pathBytes > MaxPathBytes {
		return ErrFields
	}
	return nil
}

// leaf takes what stands at a place, unless an equal path came before.
func (w *walk) leaf(at place, v Value) error {
	if err := w.count(at); err != nil {
		return err
	}
	if at.node != nil && at.node.slot >= 0 {
		if s := &w.f.slots[at.node.slot]; !s.set {
			s.value, s.set = v, true
		}
	}
	if at.all {
		w.f.add(w.f.path[:at.path], v)
	}
	return nil
}

// linearFields is from how many listed fields on equal paths are found by hash.
const linearFields = 16

var hashSeed = maphash.MakeSeed()

// add lists a field unless its path is listed.
func (f *Fields) add(path []byte, v Value) {
	if len(f.list) < linearFields {
		for i := range f.list {
			if f.list[i].Path == string(path) {
				return
			}
		}
	} else {
		if len(f.list) == linearFields {
			f.buildIndex()
		}
		at, found := f.find(view(path))
		if found {
			return
		}
		f.index[at] = uint16(len(f.list) + 1)
	}
	n := len(f.arena)
	f.arena = append(f.arena, path...)
	f.list = append(f.list, Field{Path: view(f.arena[n:]), Value: v})
}

func (f *Fields) buildIndex() {
	if f.index == nil {
		f.index = make([]uint16, 2*MaxFields)
	}
	for i := range f.list {
		at, _ := f.find(f.list[i].Path)
		f.index[at] = uint16(i + 1)
	}
}

// find is the place of a path in the index, or the free place where it goes.
// The index is never more than half full.
func (f *Fields) find(path string) (at int, found bool) {
	for at = int(maphash.String(hashSeed, path) % (2 * MaxFields)); ; at = (at + 1) % (2 * MaxFields) {
		i := f.index[at]
		if i == 0 {
			return at, false
		}
		if f.list[i-1].Path == path {
			return at, true
		}
	}
}

// unescape is a checked string with its escapes resolved, in the arena.
func (f *Fields) unescape(s string) string {
	n := len(f.arena)
	f.arena = appendUnescaped(f.arena, s)
	return view(f.arena[n:])
}
