package view

import (
	"datastream/queryd/value"
)

// A Ref is a field of a record, resolved once for a query.
type Ref struct {
	kind refKind
	at   int
}

type refKind uint8

const (
	refTimestamp refKind = iota
	refNode
	refLife
	refChannel
	refPosition
	refOrigin
	refIsError
	refMessage
	refKindName
	refSize
	refPayload
	refPath   // a payload path, by the number of its want
	refColumn // a column of a computed row
)

// fixedRefs are the fields of frames that are no payload's.
var fixedRefs = map[string]Ref{
	"timestamp": {kind: refTimestamp}, "node": {kind: refNode}, "life": {kind: refLife},
	"channel": {kind: refChannel}, "position": {kind: refPosition},
	"origin": {kind: refOrigin}, "is_error": {kind: refIsError}, "message": {kind: refMessage},
	"kind": {kind: refKindName}, "size": {kind: refSize}, "payload": {kind: refPayload},
}

// Fixed is the field of a frame of that name; the plan has checked that the
// mode has it. It panics on any other name.
func Fixed(name string) Ref {
	r, ok := fixedRefs[name]
	if !ok {
		panic("view: no fixed field " + name)
	}
	return r
}

// Path is the payload path of the want of that number.
func Path(want int) Ref { return Ref{refPath, want} }

// Column is the column of that number of a computed row.
func Column(n int) Ref { return Ref{refColumn, n} }

// costly reports whether reading the field means to decode a payload or to
// read a text.
func (r Ref) costly() bool { return r.kind == refPath || r.kind == refMessage }

// A record is what the operators of a chain pass on: a frame, a computed row
// or a gap. It is one reused by all records that a source or a sort gives.
type record struct {
	frame   *Frame
	stream  *stream
	channel *channel
	columns []value.Value // of a computed row
	gap     *gap

	decoder *value.Decoder // of the Spec's wants
	fields  value.Fields
	decoded bool
	failed  error // why the payload is raw
}

// set makes the record one of a frame.
func (r *record) set(f *Frame, s *stream, c *channel) {
	r.frame, r.stream, r.channel = f, s, c
	r.columns, r.gap, r.decoded = nil, nil, false
}

// setColumns makes the record a computed row.
func (r *record) setColumns(columns []value.Value) {
	r.frame, r.columns, r.gap = nil, columns, nil
}

// setGap makes the record a gap.
func (r *record) setGap(g *gap) { r.frame, r.columns, r.gap = nil, nil, g }

func (r *record) place() place { return place{r.frame.Sequence, r.frame.Place} }

// at is the value of a field; it holds as long as the record.
func (r *record) at(ref Ref) value.Value {
	switch ref.kind {
	case refColumn:
		return r.columns[ref.at]
	case refTimestamp:
		return value.OfTime(r.frame.Instant)
	case refNode:
		return r.stream.node
	case refLife:
		return r.stream.life
	case refChannel:
		return r.channel.value
	case refPosition:
		return value.OfUint(uint64(r.frame.Position))
	case refOrigin:
		return r.channel.origin
	case refIsError:
		return value.OfBool(r.channel.class.IsError)
	case refMessage:
		return value.OfText(lineOf(r.frame.Payload))
	case refKindName:
		return value.OfString(r.channel.class.Kind.Field())
	case refSize:
		return value.OfInt(int64(len(r.frame.Payload)))
	case refPayload:
		return value.OfText(r.frame.Payload)
	}
	if !r.channel.class.MayHoldRecords() {
		return value.Value{} // a frame that is no record has no paths
	}
	r.decode()
	if r.failed != nil && r.channel.class.Sniffed() {
		return value.Value{}
	}
	return r.fields.At(ref.at)
}

// decode reads the wanted paths, once a record.
func (r *record) decode() {
	if !r.decoded {
		r.failed = r.decoder.Decode(&r.fields, r.frame.Payload)
		r.decoded = true
	}
}

// isRecord reports whether the frame is a record of EVENTS (L12.1).
func (r *record) isRecord() bool {
	if !r.channel.class.Sniffed() {
		return r.channel.class.MayHoldRecords()
	}
	if value.FormOf(r.frame.Payload) == value.NoMap {
		return false // without a pass over all of it
	}
	r.decode()
	return r.failed == nil
}

// lineOf is a text without its one LF at the end, and a CR before that (L4.3).
func lineOf(p []byte) []byte {
	n := len(p)
	if n > 0 && p[n-1] == '\n' {
		if n--; n > 0 && p[n-1] == '\r' {
			n--
		}
	}
	return p[:n]
}
