package run

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"datastream/service"
	"datastream/subjects"
)

// askAround is how long other muxes have to answer.
const askAround = 500 * time.Millisecond

// lookAround asks every mux who it is (P5.5).
func lookAround(ctx context.Context, conn *service.Conn) ([]micro.Info, error) {
	for {
		all, err := askAll(ctx, conn.Conn)
		if err == nil || conn.IsConnected() || ctx.Err() != nil {
			return all, err
		}
		// A cut connection says nothing of the others: look again when it is back.
		if err := conn.WaitConnected(ctx); err != nil {
			return nil, err
		}
	}
}

func askAll(ctx context.Context, nc *nats.Conn) (all []micro.Info, err error) {
	inbox := nats.NewInbox() // under _INBOX., the only place where $SRV answers (P2.4)
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("look for other muxes: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	subject, err := micro.ControlSubject(micro.InfoVerb, "muxd", "")
	if err != nil {
		return nil, fmt.Errorf("look for other muxes: %w", err)
	}
	if err := nc.PublishRequest(subject, inbox, nil); err != nil {
		return nil, fmt.Errorf("look for other muxes: %w", err)
	}
	wait, cancel := context.WithTimeout(ctx, askAround)
	defer cancel()
	for {
		m, err := sub.NextMsgWithContext(wait)
		if err != nil { // nobody, or nobody else
			return all, ctx.Err()
		}
		if info, ok := answer(m, inbox); ok {
			all = append(all, info)
		}
	}
}

// answer reads what a service says of itself. A consumer of anybody's may
// deliver stored bytes to an inbox: they bear the subject that they were
// stored on (P2.4).
func answer(m *nats.Msg, inbox string) (info micro.Info, ok bool) {
	ok = m.Subject == inbox && json.Unmarshal(m.Data, &info) == nil
	return info, ok
}

// shown is the node as the others see it.
func (d *Daemon) shown() string {
	if d.bus.Node == "" {
		return Gateway
	}
	return subjects.EncodeNode(d.bus.Node)
}

// conflict is an error if another mux serves the same node. Once this one is
// registered itself, as own, only an older id is: so that one of two goes on.
func (d *Daemon) conflict(others []micro.Info, own string) error {
	for _, o := range others {
		if o.Metadata["node"] != d.shown() || o.Metadata["prefix"] != d.cfg.Prefix || o.ID == own || own != "" && o.ID > own {
			continue
		}
		return fmt.Errorf("another muxd serves --node %q (its id is %s; `nats micro info muxd` shows it): stop it first, or give this one a node of its own", d.cfg.Node, o.ID)
	}
	return nil
}

// elsewhere is the nodes that have muxes of their own: a gateway leaves them
// alone from its start on, and not only from their next beats.
func (d *Daemon) elsewhere(others []micro.Info) (nodes []subjects.Node) {
	if d.bus.Node != "" {
		return nil
	}
	for _, o := range others {
		if n := o.Metadata["node"]; n != Gateway && n != "" && o.Metadata["prefix"] == d.cfg.Prefix {
			nodes = append(nodes, subjects.DecodeNode(n))
		}
	}
	return nodes
}
