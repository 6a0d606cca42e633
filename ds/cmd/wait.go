package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/micro"
	"github.com/spf13/cobra"

	"datastream/service"
)

// stages answer under $SRV once they serve.
var stages = []string{"muxd", "ingestd"}

// waitPause is between two looks.
const waitPause = 50 * time.Millisecond

func newWait(e env) *cobra.Command {
	var nats service.NATS
	timeout := 10 * time.Second
	c := &cobra.Command{
		Use:   "wait",
		Short: "Wait until the stack answers",
		Long:  "Wait until NATS, muxd and ingestd answer: exit 0 then, 1 when the time is up.",
		Args:  exactly(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := service.Env(c.Flags(), e.getenv, service.EnvPrefix); err != nil {
				return err
			}
			if err := nats.Resolve(c.Flags(), e.getenv); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			if err := waitFor(ctx, nats); err != nil {
				if c.Context().Err() != nil {
					return c.Context().Err()
				}
				return fmt.Errorf("gave up after %s: %w", timeout, err)
			}
			return nil
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", timeout, "how long to wait")
	nats.Flags(c.Flags())
	service.DescribeEnv(c.Flags(), service.EnvPrefix)
	return c
}

// waitFor looks until everything answers; its error is the last reason why not.
func waitFor(ctx context.Context, n service.NATS) error {
	for {
		err := answers(ctx, n)
		if err == nil || errors.Is(err, service.ErrRefused) || errors.Is(err, service.ErrUsage) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(waitPause):
		}
	}
}

func answers(ctx context.Context, n service.NATS) error {
	conn, err := service.Connect(context.WithoutCancel(ctx), n, service.Options{Name: "ds-wait"})
	if err != nil {
		return err
	}
	defer conn.Close()
	var silent []string
	for _, name := range stages {
		subject, err := micro.ControlSubject(micro.PingVerb, name, "")
		if err != nil {
			return fmt.Errorf("ask %s: %w", name, err)
		}
		if _, err := conn.Request(subject, nil, time.Second); err != nil {
			silent = append(silent, name)
		}
	}
	if len(silent) > 0 {
		return fmt.Errorf("NATS answers at %s, but not yet: %s", n.Redacted(), strings.Join(silent, ", "))
	}
	return nil
}
