package control

import (
	"encoding/json"
	"errors"
	"fmt"

	"datastream/subjects"
)

// ErrMessage says that a control message is not of its form.
var ErrMessage = errors.New("bad control message")

// MaxMessage bounds a control message, in bytes; MaxRanges bounds its lists.
const (
	MaxMessage = 64 << 10
	MaxRanges  = 1024
)

// A Range is the positions From … To, both included. In JSON it is [from,to].
type Range struct {
	From, To subjects.Position
}

// Len is the number of positions.
func (r Range) Len() uint64 { return uint64(r.To-r.From) + 1 }

// MarshalJSON writes [from,to].
func (r Range) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%d]", uint64(r.From), uint64(r.To)), nil
}

// UnmarshalJSON reads what MarshalJSON writes. It wraps ErrMessage.
func (r *Range) UnmarshalJSON(b []byte) error {
	var v []uint64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("%w: range %.60s: %w", ErrMessage, b, err)
	}
	if len(v) != 2 || v[0] > v[1] || subjects.Position(v[1]) > subjects.MaxPosition {
		return fmt.Errorf("%w: range %.60s is not [from,to]", ErrMessage, b)
	}
	*r = Range{From: subjects.Position(v[0]), To: subjects.Position(v[1])}
	return nil
}

// decode reads a bounded message into v.
func decode(what string, b []byte, v any) error {
	if len(b) > MaxMessage {
		return fmt.Errorf("%w: %s of %d bytes, at most %d are allowed", ErrMessage, what, len(b), MaxMessage)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMessage, what, err)
	}
	return nil
}

// checkRanges refuses lists that are too long, overlap or do not ascend.
func checkRanges(what string, list []Range) error {
	if len(list) > MaxRanges {
		return fmt.Errorf("%w: %s has %d ranges, at most %d are allowed", ErrMessage, what, len(list), MaxRanges)
	}
	for i := 1; i < len(list); i++ {
		if list[i].From <= list[i-1].To {
			return fmt.Errorf("%w: the ranges of %s do not ascend at item %d", ErrMessage, what, i+1)
		}
	}
	return nil
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // every type of this package marshals
		panic(err)
	}
	return b
}
