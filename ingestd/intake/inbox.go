package intake

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// An inbox holds what has arrived until the route loop looks, bounded by
// bytes. All subscriptions share it, so that frames, beats and answers keep
// the order in which the server sent them.
type inbox struct {
	limit   int
	ready   chan struct{} // the inbox was empty and is not
	passed  chan struct{} // the relay has come upon a nil message
	dropped atomic.Uint64

	mu    sync.Mutex
	msgs  []*nats.Msg
	bytes int
}

func newInbox(limit int) *inbox {
	return &inbox{limit: limit, ready: make(chan struct{}, 1), passed: make(chan struct{}, 1)}
}

// relay moves messages from the client library, which bounds by count alone,
// until ctx ends. It never waits for anything else, so nothing piles up there.
func (b *inbox) relay(ctx context.Context, from <-chan *nats.Msg) {
	for {
		select {
		case m := <-from:
			if m == nil {
				b.passed <- struct{}{}
				continue
			}
			b.put(m)
		case <-ctx.Done():
			return
		}
	}
}

// pass waits until the relay has moved everything that is in its channel.
func (b *inbox) pass(relay chan<- *nats.Msg) {
	relay <- nil
	<-b.passed
}

func (b *inbox) put(m *nats.Msg) {
	size := m.Size()
	b.mu.Lock()
	if b.bytes+size > b.limit && len(b.msgs) > 0 {
		b.mu.Unlock()
		b.dropped.Add(1)
		return
	}
	b.msgs = append(b.msgs, m)
	b.bytes += size
	first := len(b.msgs) == 1
	b.mu.Unlock()
	if first {
		select {
		case b.ready <- struct{}{}:
		default:
		}
	}
}

// take swaps everything that waits for an empty slice.
func (b *inbox) take(empty []*nats.Msg) []*nats.Msg {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.msgs
	b.msgs, b.bytes = empty[:0], 0
	return out
}
