package store

import (
	"fmt"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// maxKnown bounds the subjects that are remembered. Past it all are
// forgotten, which costs time and loses nothing.
const maxKnown = 32_768

// known remembers how channels are spelled as subjects, since spelling and
// parsing them costs more than all else about a small message. It is not safe
// for concurrent use.
type known struct {
	subjects map[name]string
	names    map[string]name
}

// name is what a subject of the store says.
type name struct {
	stream  subjects.Stream
	channel subjects.Channel
}

func newKnown() *known {
	return &known{subjects: make(map[name]string), names: make(map[string]name)}
}

// subject spells the subject of a message. It wraps ErrMessage for names that
// no reader would take.
func (k *known) subject(space subjects.Space, m *Message) (string, error) {
	n := name{m.Stream, m.Run.Channel}
	if s, ok := k.subjects[n]; ok {
		return s, nil
	}
	_, err := subjects.ParseNode(string(n.stream.Node))
	if err == nil {
		_, err = subjects.ParseChannel(string(n.channel))
	}
	if err == nil && n.stream.Life.IsZero() {
		err = fmt.Errorf("the life of node %q is zero", n.stream.Node)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrMessage, err)
	}
	if len(k.subjects) >= maxKnown {
		clear(k.subjects)
	}
	s := space.Store(n.stream, n.channel)
	k.subjects[n] = s
	return s, nil
}

// parse reads the subject of a stored message.
func (k *known) parse(space subjects.Space, subject string) (name, error) {
	if n, ok := k.names[subject]; ok {
		return n, nil
	}
	st, ch, err := space.ParseStore(subject)
	if err != nil {
		return name{}, err
	}
	if len(k.names) >= maxKnown {
		clear(k.names)
	}
	n := name{st, ch}
	k.names[subject] = n
	return n, nil
}

// What else a stored message has by way of headers is under otherHeaders
// bytes, a length with its skip under itemBytes; the server keeps the length
// of all headers in 16 bits.
const (
	maxHeaders   = 1<<16 - 1
	otherHeaders = 1 << 10
	itemBytes    = 32
)

// checkRun refuses a run that could not be stored and read back, or not be
// sent: maxPayload is the server's bound on headers and body.
func checkRun(r frame.Run, maxPayload int) error {
	body, headers := 0, otherHeaders
	if r.Len() > 0 {
		body, headers = len(r.Body()), otherHeaders+itemBytes*r.Len()
	}
	if headers > maxHeaders || body+headers > maxPayload {
		headers = otherHeaders + len(r.Header()) // the bound was too coarse
	}
	switch {
	case r.Len() == 0:
		return fmt.Errorf("%w: a run of channel %q has no frames", ErrMessage, r.Channel)
	case r.Len() > frame.MaxFrames:
		return fmt.Errorf("%w: a run of channel %q has %d frames, at most %d are allowed", ErrMessage, r.Channel, r.Len(), frame.MaxFrames)
	case body > frame.MaxBody || body+headers > maxPayload:
		return fmt.Errorf("%w: a run of channel %q has %d bytes of body and some %d of headers; at most %d of body, and %d of both, are allowed",
			ErrMessage, r.Channel, body, headers, frame.MaxBody, maxPayload)
	case headers > maxHeaders:
		return fmt.Errorf("%w: the lengths of a run of channel %q do not fit the server's headers; cut it into runs of %d frames",
			ErrMessage, r.Channel, frame.RunFrames)
	}
	return nil
}
