package frame

import (
	"fmt"

	"datastream/subjects"
)

// DecodeHead reads a positioned message of which only the headers and the
// body's size are at hand. The run knows its channel, positions and lengths;
// Payload and Body must not be called on it. The newlines between payloads
// cannot be seen, and are believed; all else is as in Decode. It wraps ErrRun
// or ErrHeader.
func DecodeHead(c subjects.Channel, h map[string][]string, size int) (Run, error) {
	if size < 0 {
		return Run{}, fmt.Errorf("%w: a body of %d bytes", ErrRun, size)
	}
	first, err := position(h)
	if err != nil {
		return Run{}, err
	}
	return decode(c, first, h, sized{size: size, head: true}, true)
}

// position reads the header that says where a run begins.
func position(h map[string][]string) (subjects.Position, error) {
	value, ok, err := Get(h, HeaderPos)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, fmt.Errorf("%w: no %s", ErrRun, HeaderPos)
	}
	first, err := subjects.ParsePosition(value)
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrRun, HeaderPos, err)
	}
	return first, nil
}
