package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"datastream/ingestd/store"
	"datastream/subjects"
)

// The streams that are compared, under bench.>, of at most so many bytes.
const (
	plainPrefix = "bench"
	bareStream  = "BENCH_BARE"
	plainBytes  = 2 << 30
)

// core is publish → subscribe through the server: what the transport does
// when nothing is stored. What is on its way is bounded by credit, for the
// server drops what a subscriber is too slow for.
func (r *rig) core(l load) candidate {
	subjects := make([]string, len(l.messages))
	for i, m := range l.messages {
		subjects[i] = plainPrefix + ".core." + string(m.Run.Channel)
	}
	c := candidate{name: "core", about: "core NATS, publish → subscribe, nothing stored", load: l}
	c.prepare = func(ctx context.Context) (func() error, func() error, error) {
		total := l.frames / l.cycle * len(l.messages)
		cr := newCredit(max(64, min(16384, coreBytes/len(l.messages[0].Run.Body()))))
		got, done := 0, make(chan struct{})
		sub, err := r.peer.Subscribe(plainPrefix+".core.>", func(*nats.Msg) {
			cr.give(1)
			if got++; got == total {
				close(done)
			}
		})
		if err != nil {
			return nil, nil, err
		}
		if err := errors.Join(sub.SetPendingLimits(-1, -1), r.peer.Flush()); err != nil {
			return nil, nil, err
		}
		run := func() error {
			t := taker{credit: cr}
			for range l.frames / l.cycle {
				for i := range l.messages {
					if err := t.take(ctx); err != nil {
						return err
					}
					if err := r.operator.Publish(subjects[i], l.messages[i].Run.Body()); err != nil {
						return err
					}
				}
			}
			return await(ctx, done)
		}
		return run, sub.Unsubscribe, nil
	}
	return c
}

// coreBytes is how much may be between publisher and subscriber: far below
// what the server queues to a client.
const coreBytes = 2 << 20

// bare is atomic batches of the same bodies and nothing else: no fence, no
// headers but the protocol's. It is what plain NATS commits, fsynced.
func (r *rig) bare(l load) candidate {
	c := candidate{name: "bare", about: "bare atomic batches, fsynced", load: l}
	c.prepare = func(ctx context.Context) (func() error, func() error, error) {
		if err := r.makeBare(ctx); err != nil {
			return nil, nil, err
		}
		b := newBareBatch(r.operator, l)
		run := func() error {
			return l.each(l.take, func(msgs []store.Message) error { return b.commit(ctx, msgs) })
		}
		return run, func() error { return r.js.DeleteStream(context.WithoutCancel(ctx), bareStream) }, nil
	}
	return c
}

func (r *rig) makeBare(ctx context.Context) error {
	_, err := r.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: bareStream, Subjects: []string{plainPrefix + ".bare.>"}, Storage: jetstream.FileStorage,
		MaxBytes: plainBytes, AllowAtomicPublish: true,
	})
	return err
}

// take is how many messages make a batch of at most 4 MiB, as store.Writer
// does it.
func (l load) take(msgs []store.Message) int {
	n, bytes := 0, 0
	for n < min(len(msgs), l.batch) {
		if bytes += len(msgs[n].Run.Body()); n > 0 && bytes > store.DefaultBatchBytes {
			break
		}
		n++
	}
	return n
}

// A bareBatch publishes batches and reuses what it can.
type bareBatch struct {
	nc       *nats.Conn
	subjects map[subjects.Channel]string
	msg      nats.Msg
	id, seq  [1]string
	numbers  []string
}

func newBareBatch(nc *nats.Conn, l load) *bareBatch {
	b := &bareBatch{nc: nc, subjects: map[subjects.Channel]string{}}
	for _, c := range l.channels {
		b.subjects[c] = plainPrefix + ".bare." + string(c)
	}
	for i := range l.batch {
		b.numbers = append(b.numbers, fmt.Sprint(i+1))
	}
	return b
}

func (b *bareBatch) commit(ctx context.Context, msgs []store.Message) error {
	b.id[0] = nuid.Next()
	b.msg.Header = nats.Header{"Nats-Batch-Id": b.id[:], "Nats-Batch-Sequence": b.seq[:]}
	for i, m := range msgs {
		b.msg.Subject, b.msg.Data, b.seq[0] = b.subjects[m.Run.Channel], m.Run.Body(), b.numbers[i]
		if i < len(msgs)-1 {
			if err := b.nc.PublishMsg(&b.msg); err != nil {
				return err
			}
		}
	}
	b.msg.Header["Nats-Batch-Commit"] = []string{"1"}
	ack, err := b.nc.RequestMsgWithContext(ctx, &b.msg)
	if err != nil {
		return err
	}
	return batchAck(ack.Data, len(msgs))
}

// commit is the same through the one way to write the store: with the Ds-*
// headers and the fence.
func (r *rig) commit(l load) candidate {
	c := candidate{name: "commit", about: "ingestd/store: the same with Ds-* headers and fence", load: l, of: []string{"bare"}}
	c.prepare = func(ctx context.Context) (func() error, func() error, error) {
		space, err := subjects.NewSpace(plainPrefix)
		if err != nil {
			return nil, nil, err
		}
		w, err := store.Open(ctx, r.operator, store.Config{Space: space, Init: true, MaxBytes: plainBytes, BatchMessages: l.batch})
		if err != nil {
			return nil, nil, err
		}
		run := func() error {
			return l.each(w.Take, func(msgs []store.Message) error { return w.Commit(ctx, time.Now().UnixNano(), msgs) })
		}
		tidy := func() error {
			return errors.Join(w.Close(), r.js.DeleteStream(context.WithoutCancel(ctx), space.StreamName()))
		}
		return run, tidy, nil
	}
	return c
}
