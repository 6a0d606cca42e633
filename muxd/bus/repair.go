package bus

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// inboxes is where answers to submissions may go, and nowhere else (P2.4).
// Repair requests come from another daemon: their answers may also go under
// the prefix of the connection's own inboxes, which a deployment keeps out of
// everybody else's reach.
const inboxes = "_INBOX."

// inboxPrefix is what the inboxes of a connection begin with.
func inboxPrefix(nc *nats.Conn) string {
	inbox := nc.NewInbox()
	return inbox[:strings.LastIndexByte(inbox, '.')+1]
}

// A repair is a request that waits for its turn.
type repair struct {
	stream *stream
	ask    []control.Range
	reply  string
	at     time.Time
}

// repairRequest takes a request in; the repair loop serves it.
func (b *Bus) repairRequest(m *nats.Msg, now time.Time) {
	id, err := b.cfg.Space.ParseRepair(m.Subject)
	if err != nil {
		b.refuse(m, err)
		return
	}
	req, err := control.DecodeRepairRequest(m.Data)
	if err == nil && !strings.HasPrefix(m.Reply, inboxes) && !strings.HasPrefix(m.Reply, b.inboxes) {
		err = errReply
	}
	if err != nil {
		b.refuse(m, err)
		return
	}
	b.mu.Lock()
	s := b.streams[id]
	if s != nil && len(req.Ranges) == 0 {
		b.sendBeat(s, now)
	}
	b.mu.Unlock()
	if s != nil && len(req.Ranges) == 0 {
		return // the beat is the answer
	}
	if s == nil {
		return // another mux's life, or one that is over: its beats say so
	}
	select {
	case b.repairs <- repair{stream: s, ask: req.Ranges, reply: m.Reply, at: now}:
	default:
		b.metrics.refused.WithLabelValues("repair_queue").Inc() // ingest asks again
	}
}

// repairLoop sends frames again, 16 MiB/s at most, each answer after its
// frames on the same connection.
func (b *Bus) repairLoop(ctx context.Context) {
	p := newPublisher(b)
	limit := rate.NewLimiter(repairRate, repairBytes+frame.MaxBody)
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-b.repairs:
			if time.Since(r.at) > repairStale {
				b.metrics.refused.WithLabelValues("repair_stale").Inc() // ingest has asked again
				continue
			}
			b.serveRepair(ctx, p, limit, r)
		}
	}
}

func (b *Bus) serveRepair(ctx context.Context, p *publisher, limit *rate.Limiter, r repair) {
	var runs []frame.Run
	b.mu.Lock()
	answer := b.ring.Find(r.stream.id, r.ask, repairBytes, func(run frame.Run) { runs = append(runs, run) })
	b.mu.Unlock()
	for _, run := range runs {
		if limit.WaitN(ctx, len(run.Body())) != nil {
			return // stopping
		}
		p.frames(r.stream, run)
		b.metrics.repaired.Add(float64(run.Len()))
	}
	if err := b.carrier.PublishMsg(&nats.Msg{Subject: r.reply, Data: answer.Encode()}); err != nil {
		b.publishFailed("repair", err)
	}
}
