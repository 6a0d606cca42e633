package emit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// A Handle is the one way into the pipe (P4). Submit copies the payload, never
// blocks, returns nothing and may be called from any goroutine.
type Handle interface {
	Submit(channel subjects.Channel, payload []byte)
}

// A Sink is what a mux in the same program offers. Submit takes ownership of
// the run, gives its frames their positions and never waits; it reports false
// if the mux kept none of them, which the mux counts.
type Sink interface {
	Submit(node subjects.Node, r frame.Run) bool
}

// Emit submits a record as JSON: anything that encoding/json makes an object
// of. It returns an error that wraps ErrRecord, and submits nothing, if it does
// not; what becomes of the frame is the handle's to count.
func Emit(h Handle, channel subjects.Channel, record any) error {
	b, err := JSON(record)
	if err == nil {
		h.Submit(channel, b)
	}
	return err
}

// EmitMsgpack is Emit in MessagePack.
func EmitMsgpack(h Handle, channel subjects.Channel, record any) error {
	b, err := Msgpack(record)
	if err == nil {
		h.Submit(channel, b)
	}
	return err
}

// JSON encodes a record as one line of JSON. It wraps ErrRecord.
func JSON(record any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the payload is no web page; people read it
	if err := e.Encode(record); err != nil {
		return nil, fmt.Errorf("encode record as JSON: %w: %T: %w", ErrRecord, record, err)
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
	if line[0] != '{' {
		return nil, fmt.Errorf("encode record as JSON: %w: %T becomes %.40s; it must be a struct or a map", ErrRecord, record, line)
	}
	return line, nil
}

// Msgpack encodes a record as MessagePack. Fields have the names that
// encoding/json gives them, and maps are written in the order of their keys.
// It wraps ErrRecord.
func Msgpack(record any) ([]byte, error) {
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	e.SetCustomStructTag("json")
	e.SetSortMapKeys(true)
	e.UseCompactInts(true)
	if err := e.Encode(record); err != nil {
		return nil, fmt.Errorf("encode record as MessagePack: %w: %T: %w", ErrRecord, record, err)
	}
	// A map begins with 80…8f, de or df.
	if c := b.Bytes()[0]; c&0xf0 != 0x80 && c != 0xde && c != 0xdf {
		return nil, fmt.Errorf("encode record as MessagePack: %w: %T becomes no map; it must be a struct or a map", ErrRecord, record)
	}
	return b.Bytes(), nil
}
