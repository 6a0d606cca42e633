package control

import (
	"fmt"

	"datastream/subjects"
)

// Reasons of an Answer's Error that a paced handle acts on (P4.3). Any other
// text is for people, and final.
const (
	// ErrorOrder: the run does not begin with the number that is expected of
	// its producer; go back to Next.
	ErrorOrder = "order"
	// ErrorRoom: the run was held and found no room; go back to Next.
	ErrorRoom = "room"
	// ErrorClosed: the stream's life is over, and it took nothing of the run;
	// its producer numbers anew and sends it again.
	ErrorClosed = "closed"
	// ErrorLost: the frames got their positions and were then given up
	// (Ds-Ack: committed).
	ErrorLost = "lost"
)

// An Answer is what a mux answers to a submission with a reply (P4.3, P4.4).
type Answer struct {
	// Node is the stream's node as a subject spells it (subjects.EncodeNode):
	// a node may be any bytes, and JSON carries valid UTF-8 alone.
	Node string `json:"node,omitempty"`
	// Life is the stream's life.
	Life subjects.Life `json:"life,omitzero"`
	// Position is that of the first frame; the others follow it.
	Position subjects.Position `json:"position"`
	// Count is the frames taken.
	Count int `json:"count"`
	// Error is empty, one of the reasons above, or text for people.
	Error string `json:"error,omitempty"`
	// Next is, with ErrorOrder and ErrorRoom, the number the mux expects.
	Next uint64 `json:"next,omitempty"`
}

// refusal is an Answer with an error: it has no position.
type refusal struct {
	Error string        `json:"error"`
	Node  string        `json:"node,omitempty"`
	Life  subjects.Life `json:"life,omitzero"`
	Next  *uint64       `json:"next,omitempty"`
}

// Encode is the answer as it travels.
func (a Answer) Encode() []byte {
	if a.Error == "" {
		return encode(a)
	}
	r := refusal{Error: a.Error, Node: a.Node, Life: a.Life}
	if a.Error == ErrorOrder || a.Error == ErrorRoom {
		r.Next = &a.Next
	}
	return encode(r)
}

// DecodeAnswer reads an answer. It wraps ErrMessage.
func DecodeAnswer(body []byte) (Answer, error) {
	var a Answer
	if err := decode("answer", body, &a); err != nil {
		return Answer{}, err
	}
	if a.Count < 0 || a.Position > subjects.MaxPosition ||
		uint64(a.Count) > uint64(subjects.MaxPosition-a.Position)+1 {
		return Answer{}, fmt.Errorf("%w: answer %.200s contradicts itself", ErrMessage, body)
	}
	return a, nil
}
