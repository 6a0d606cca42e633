package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Find is the sequence at which the first commit up to end begins whose
// instant is not below the given one, or end.Seq+1 if there is none. It
// bisects over what is stored, for instants never fall (P8.1); so it asks the
// server about once for every doubling of the store.
//
// It wraps ErrNoStream, ErrRecreated or ErrIncomplete; any other error is of
// the connection.
func (r *Reader) Find(ctx context.Context, instant int64, end End) (uint64, error) {
	seq, err := r.bisect(ctx, instant, end)
	if err != nil {
		return 0, fmt.Errorf("find an instant in the store: %w", err)
	}
	return seq, nil
}

func (r *Reader) bisect(ctx context.Context, instant int64, end End) (uint64, error) {
	if !end.Created.Equal(r.created) {
		return 0, fmt.Errorf("%w: the end is of one created at %v, not %v", ErrRecreated, end.Created, r.created)
	}
	// Below low every instant is too early; from high on none is, and answer
	// is the first message there.
	low, high, answer := end.First, end.Seq+1, end.Seq+1
	for low < high {
		mid := low + (high-low)/2
		s, ok, err := r.first(ctx, mid, high-1)
		switch {
		case err != nil:
			return 0, err
		case ok && s.Commit.Instant < instant:
			low = s.Seq + 1
		case ok:
			answer, high = s.Seq, mid
		default: // nothing but foreign or evicted messages
			high = mid
		}
	}
	return answer, nil
}

// codeNoMessage is the server's word that it has no such message.
const codeNoMessage jetstream.ErrorCode = 10037

// get asks the stream's leader for the first message from a sequence on whose
// subject the filter takes. It is nil if there is none.
func (a access) get(ctx context.Context, seq uint64, filter string) (*nats.Msg, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	req, err := json.Marshal(map[string]any{"seq": seq, "next_by_subj": filter})
	if err != nil {
		return nil, 0, err
	}
	reply, err := a.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+a.cfg.Stream, req)
	if err != nil {
		return nil, 0, fmt.Errorf("ask stream %s for message %d: %w", a.cfg.Stream, seq, err)
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Subject string `json:"subject"`
			Seq     uint64 `json:"seq"`
			Headers []byte `json:"hdrs"`
			Data    []byte `json:"data"`
		} `json:"message"`
	}
	err = json.Unmarshal(reply.Data, &answer)
	switch {
	case err != nil:
	case answer.Error != nil && answer.Error.ErrorCode == codeNoMessage:
		return nil, 0, nil
	case answer.Error != nil:
		err = refusal(answer.Error)
	case answer.Message == nil:
		err = fmt.Errorf("the answer %.80q has no message", reply.Data)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("ask stream %s for message %d: %w", a.cfg.Stream, seq, err)
	}
	m := &nats.Msg{Subject: answer.Message.Subject, Data: answer.Message.Data}
	if len(answer.Message.Headers) > 0 {
		// What cannot be read is no header of ours: the message is foreign.
		m.Header, _ = nats.DecodeHeadersMsg(answer.Message.Headers)
	}
	return m, answer.Message.Seq, nil
}
