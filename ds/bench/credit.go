package bench

import (
	"context"
	"encoding/json"
	"fmt"
)

// creditParts is in how many parts credit is passed: a channel operation for
// each message would be measured, too.
const creditParts = 8

// A credit bounds what is between those who send and one who receives.
type credit struct {
	part   int
	tokens chan struct{}
	due    int // of the receiver: less than a part
}

// newCredit lets so many be under way, rounded to parts.
func newCredit(window int) *credit {
	c := &credit{part: max(1, window/creditParts), tokens: make(chan struct{}, creditParts)}
	for range creditParts {
		c.tokens <- struct{}{}
	}
	return c
}

// give says that n more were received. One goroutine at a time may call it.
func (c *credit) give(n int) {
	for c.due += n; c.due >= c.part; c.due -= c.part {
		c.tokens <- struct{}{} // never waits: a part that was received was taken before
	}
}

// A taker is one who sends. What it has left when it ends is lost to the
// others: there must be fewer takers than parts.
type taker struct {
	credit *credit
	have   int
}

// take waits until one more may be sent.
func (t *taker) take(ctx context.Context) error {
	if t.have == 0 {
		select {
		case <-t.credit.tokens:
			t.have = t.credit.part
		case <-ctx.Done():
			return stuck(ctx)
		}
	}
	t.have--
	return nil
}

// await waits until everything was received.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return stuck(ctx)
	}
}

func stuck(ctx context.Context) error {
	return fmt.Errorf("%w, or did not come in time: %w", ErrLost, context.Cause(ctx))
}

// batchAck reads the answer to a batch.
func batchAck(data []byte, count int) error {
	var ack struct {
		Count int `json:"count"`
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &ack); err != nil {
		return fmt.Errorf("read the answer to a batch: %w", err)
	}
	if ack.Error != nil {
		return fmt.Errorf("the server refuses a batch: %s", ack.Error.Description)
	}
	return all(ack.Count, count)
}
