package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"datastream/producer/emit"
	"datastream/service"
	"datastream/subjects"
	"datastream/subjects/frame"
)

// emitStuck is when ds emit says what it waits for.
const emitStuck = 5 * time.Second

// emitter is what ds emit may be told.
type emitter struct {
	env
	nats   service.NATS
	node   string
	prefix string
}

func newEmit(e env) *cobra.Command {
	m := &emitter{env: e, prefix: subjects.DefaultPrefix, node: hostname()}
	c := &cobra.Command{
		Use:   "emit CHANNEL [PAYLOAD]",
		Short: "Submit one payload, or each line of standard input",
		Long: `Submit one payload, or each line of standard input, to a channel. It sends as
fast as the stack commits and ends once everything is settled: exit 0 when all
of it is committed, 1 when anything was lost, with the exact count.`,
		Example: `  ds emit app.order '{"id":7}'
  tail -F app.log | ds emit app.log`,
		Args: exactly(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := service.Env(c.Flags(), e.getenv, service.EnvPrefix); err != nil {
				return err
			}
			if err := m.nats.Resolve(c.Flags(), e.getenv); err != nil {
				return err
			}
			return m.run(c.Context(), args)
		},
	}
	fs := c.Flags()
	fs.StringVar(&m.node, "node", m.node, "the `node` to submit for")
	fs.StringVar(&m.prefix, "prefix", m.prefix, "`prefix` of all subjects")
	m.nats.Flags(fs)
	service.DescribeEnv(fs, service.EnvPrefix)
	return c
}

func hostname() string {
	h, err := os.Hostname()
	if err != nil || h == "" {
		return "localhost"
	}
	return h
}

func (m *emitter) run(ctx context.Context, args []string) error {
	space, err := subjects.NewSpace(m.prefix)
	if err != nil {
		return fmt.Errorf("%w: --prefix: %w", service.ErrUsage, err)
	}
	node, err := subjects.ParseNode(m.node)
	if err != nil {
		return fmt.Errorf("%w: --node: %w", service.ErrUsage, err)
	}
	channel, err := subjects.ParseChannel(args[0])
	if err != nil {
		return fmt.Errorf("%w: %w", service.ErrUsage, err)
	}
	conn, err := service.Connect(ctx, m.nats, service.Options{Name: "ds-emit"})
	if err != nil {
		return err
	}
	defer conn.Close()
	handle, err := emit.OpenPaced(conn.Conn, node, emit.WithSpace(space), emit.WithOnNotice(func(s string) { m.say("ds: %s", s) }))
	if err != nil {
		return err
	}
	stop := m.explainWaiting(conn, handle)
	defer stop()
	submitted := m.submitUntil(ctx, handle, channel, args[1:])
	report, closed := handle.Close(ctx)
	stop()
	return m.verdict(ctx, report, errors.Join(submitted, closed))
}

// submitUntil is submit, but ends with ctx even while the standard input has
// nothing to say: a read cannot be interrupted, and ends with the process.
func (m *emitter) submitUntil(ctx context.Context, h *emit.Paced, c subjects.Channel, payload []string) error {
	done := make(chan error, 1)
	go func() { done <- m.submit(ctx, h, c, payload) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// submit sends the payload, or the lines. A line that is too long is named and
// left out; everything else goes.
func (m *emitter) submit(ctx context.Context, h *emit.Paced, c subjects.Channel, payload []string) error {
	if len(payload) == 1 {
		return h.Submit(ctx, c, []byte(payload[0]))
	}
	lines := newLines(m.stdin, frame.MaxPayload)
	var tooLong error
	for lines.next() {
		if n := lines.overlong(); n > 0 {
			if tooLong == nil {
				tooLong = fmt.Errorf("line %d has %d bytes, at most %d are allowed: not submitted; split it, or submit a reference to it", lines.number, n, frame.MaxPayload)
			}
			continue
		}
		if err := h.Submit(ctx, c, lines.line); err != nil {
			return err
		}
	}
	return errors.Join(tooLong, lines.err)
}

// verdict turns the report into the exit.
func (m *emitter) verdict(ctx context.Context, r emit.Report, err error) error {
	switch {
	case ctx.Err() != nil:
		m.say("ds: interrupted: of %d frames %d are committed, %d lost, %d unknown", r.Submitted, r.Settled, r.Lost, r.Unknown)
		return ctx.Err()
	case err != nil:
		return err
	}
	return nil
}

// explainWaiting says what is waited for when nothing moves.
func (m *emitter) explainWaiting(nc *service.Conn, h *emit.Paced) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		last, said := h.Report(), false
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(emitStuck):
			}
			now := h.Report()
			if now.Open() > 0 && now.Settled == last.Settled && now.Lost == last.Lost && !said {
				why := "is ingestd running?"
				if !nc.IsConnected() {
					why = "the connection to NATS is down; trying again"
				}
				m.say("ds: waiting: %d frames are submitted and not committed yet; %s", now.Open(), why)
				said = true
			}
			said = said && now.Settled == last.Settled
			last = now
		}
	}()
	return cancel
}
