package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// maxBody bounds a request. The longest honest one lists filters.
	maxBody = 64 << 10
	// maxIdle bounds how long a consumer that is not durable outlives its
	// reader.
	maxIdle = time.Hour
	// inboxes is where users hear answers and pushed messages (P2.4).
	inboxes = "_INBOX."
)

// A request is what makes a consumer, as JetStream has it.
type request struct {
	Stream   string                   `json:"stream_name"`
	Config   jetstream.ConsumerConfig `json:"config"`
	Action   string                   `json:"action,omitempty"`
	Pedantic bool                     `json:"pedantic,omitempty"`
}

// rewrite reads a request for a consumer of the stream and gives the one that
// JetStream is to get. Its errors are refusals.
func rewrite(body []byte, stream string) ([]byte, error) {
	if len(body) > maxBody {
		return nil, refuse(reasonSize, "the request has %d bytes; more than %d are not taken, use fewer or shorter filters", len(body), maxBody)
	}
	r, err := decode(body)
	if err != nil {
		return nil, err
	}
	if err := r.check(stream); err != nil {
		return nil, err
	}
	out, err := json.Marshal(r)
	if err != nil { // a value that was decoded and has no text
		return nil, refuse(reasonForm, "the request cannot be handed on: %v; leave out what is special in it", err)
	}
	return out, nil
}

func decode(body []byte) (*request, error) {
	var r request
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows it")
		}
	}
	if err != nil {
		return nil, refuse(reasonForm, "the request is not a consumer's configuration that is known here: %.200v; use the nats tool or a NATS client library", err)
	}
	return &r, nil
}

// check holds the request to promises 1, 2 and 6.
func (r *request) check(stream string) error {
	c := &r.Config
	switch {
	case r.Stream != stream:
		return refuse(reasonStream, "the request names the stream %.100q; consumers can be made on %s alone", r.Stream, stream)
	case c.DeliverSubject != "" && !isInbox(c.DeliverSubject):
		return refuse(reasonDeliver, "a consumer cannot deliver to %.100q; pull, or have it deliver to a subject under %s without wildcards", c.DeliverSubject, inboxes)
	case c.Durable == "" && c.InactiveThreshold > maxIdle:
		return refuse(reasonIdle, "inactive_threshold is %v; a consumer that is not durable ends after %v or less, make a durable one", c.InactiveThreshold, maxIdle)
	}
	return nil
}

// isInbox says whether a message may be sent to the subject for a user: under
// _INBOX., literal, and nothing that the server reads as something else.
func isInbox(subject string) bool {
	rest, ok := strings.CutPrefix(subject, inboxes)
	if !ok || strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '*' || r == '>' }) {
		return false
	}
	for token := range strings.SplitSeq(rest, ".") {
		if token == "" {
			return false
		}
	}
	return true
}

// A refusal says why there is no consumer. It is an error, and what the asker
// gets.
type refusal struct {
	reason string // a label of the metrics
	api    jetstream.APIError
}

func (r *refusal) Error() string { return "make a consumer: " + r.api.Description }

// Reasons, as the metrics have them.
const (
	reasonReply   = "reply"       // answers go under _INBOX. only
	reasonSize    = "size"        // a request of more than maxBody
	reasonForm    = "form"        // not JSON, or a field that is not known
	reasonStream  = "stream"      // another stream
	reasonDeliver = "deliver"     // to a subject that is no inbox
	reasonIdle    = "idle"        // an ephemeral consumer for longer than maxIdle
	reasonBusy    = "busy"        // too many under way
	reasonSilent  = "unavailable" // JetStream does not answer
	reasonUnsent  = "unsent"      // the connection does not take the answer
)

// JetStream's own numbers for the kinds of error.
const (
	codeUnavailable jetstream.ErrorCode = 10008 // the system is temporarily unavailable
	codeRefused     jetstream.ErrorCode = 10012 // a consumer cannot be made
)

func refuse(reason, format string, args ...any) *refusal {
	return &refusal{reason: reason, api: jetstream.APIError{Code: 400, ErrorCode: codeRefused, Description: fmt.Sprintf(format, args...)}}
}

// later is a refusal of a request that may succeed when it comes again.
func later(reason, text string) *refusal {
	return &refusal{reason: reason, api: jetstream.APIError{Code: 503, ErrorCode: codeUnavailable, Description: text}}
}

// encode is the refusal in the form of JetStream's answers.
func (r *refusal) encode() []byte {
	out, err := json.Marshal(struct {
		Type  string             `json:"type"`
		Error jetstream.APIError `json:"error"`
	}{"io.nats.jetstream.api.v1.consumer_create_response", r.api})
	if err != nil {
		panic(err) // strings and numbers
	}
	return out
}
