package frame

import (
	"errors"
	"fmt"
	"strings"

	"datastream/subjects"
)

// ErrRun says that a message's headers and body do not make a run. The whole
// message is refused (P3.2).
var ErrRun = errors.New("bad run")

// Decode reads a positioned message, of frame or store: its headers and body.
// The run shares the body. It wraps ErrRun or ErrHeader.
func Decode(c subjects.Channel, h map[string][]string, body []byte) (Run, error) {
	first, err := position(h)
	if err != nil {
		return Run{}, err
	}
	return decode(c, first, h, sized{body: body, size: len(body)}, true)
}

// DecodeSubmission reads a submission: positions count from 0 until the mux
// renumbers them. A mark gives an empty run and no error. It wraps ErrRun or
// ErrHeader.
func DecodeSubmission(c subjects.Channel, h map[string][]string, body []byte) (Run, error) {
	if v, ok := h[HeaderRun]; ok && len(v) == 1 && v[0] == "" {
		if len(body) > 0 {
			return Run{}, fmt.Errorf("%w: %s is empty but the body has %d bytes", ErrRun, HeaderRun, len(body))
		}
		return Run{Channel: c}, nil
	}
	return decode(c, 0, h, sized{body: body, size: len(body)}, false)
}

// sized is a body of which perhaps only the length is known.
type sized struct {
	body []byte
	size int
	head bool // there is no body to look at
}

func decode(c subjects.Channel, first subjects.Position, h map[string][]string, b sized, skips bool) (Run, error) {
	if b.size > MaxBody {
		return Run{}, fmt.Errorf("%w: the body has %d bytes, at most %d are allowed", ErrRun, b.size, MaxBody)
	}
	list, ok, err := Get(h, HeaderRun)
	if err != nil {
		return Run{}, err
	}
	if !ok {
		one := entry{pos: first, len: uint32(b.size)}
		return Run{Channel: c, entries: []entry{one}, buf: b.body}, nil
	}
	// A frame takes a byte of body, but for the first: separators.
	n := strings.Count(list, ",") + 1
	if n > MaxFrames || n > b.size+1 {
		return Run{}, fmt.Errorf("%w: %s has %d lengths for a body of %d bytes, at most %d are allowed", ErrRun, HeaderRun, n, b.size, MaxFrames)
	}
	r := Run{Channel: c, entries: make([]entry, 0, n), buf: b.body}
	if err := r.fill(first, list, b, skips); err != nil {
		return Run{}, err
	}
	return r, nil
}

// fill parses the lengths and skips and lays them over the body.
func (r *Run) fill(first subjects.Position, list string, b sized, skips bool) error {
	pos, off, size := first, uint64(0), uint64(b.size)
	for i := 0; ; i++ {
		item, rest, more := strings.Cut(list, ",")
		length, skip, skipped := strings.Cut(item, "+")
		n, err := subjects.ParseDecimal(length)
		if err != nil {
			return fmt.Errorf("%w: %s, item %d: length %w", ErrRun, HeaderRun, i+1, err)
		}
		if i > 0 {
			k := uint64(0)
			if skipped {
				if k, err = subjects.ParseDecimal(skip); err != nil || k == 0 {
					return fmt.Errorf("%w: %s, item %d: skip %.40q is no decimal above 0", ErrRun, HeaderRun, i+1, skip)
				}
			}
			if k >= uint64(subjects.MaxPosition-pos) {
				return fmt.Errorf("%w: %s, item %d: the position passes 2^64-2", ErrRun, HeaderRun, i+1)
			}
			pos += subjects.Position(k) + 1
			if off >= size || !b.head && b.body[off] != '\n' {
				return fmt.Errorf("%w: no newline at byte %d, between payloads %d and %d", ErrRun, off, i, i+1)
			}
			off++
		}
		if skipped && (i == 0 || !skips) {
			return fmt.Errorf("%w: %s, item %d: no skip may stand here", ErrRun, HeaderRun, i+1)
		}
		if n > size-off {
			return fmt.Errorf("%w: the lengths of %s pass the body's %d bytes at item %d", ErrRun, HeaderRun, size, i+1)
		}
		r.entries = append(r.entries, entry{pos: pos, off: uint32(off), len: uint32(n)})
		off += n
		if list = rest; !more {
			break
		}
	}
	if off != size {
		return fmt.Errorf("%w: lengths and separators of %s make %d bytes, the body has %d", ErrRun, HeaderRun, off, size)
	}
	return nil
}
