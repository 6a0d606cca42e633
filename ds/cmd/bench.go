package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"

	"github.com/spf13/cobra"

	"datastream/ds/bench"
	"datastream/service"
)

// benching is what ds bench may be told.
type benching struct {
	env
	opts     bench.Options
	output   string
	log      service.LogConfig
	cpu, mem string
}

func newBench(e env) *cobra.Command {
	b := &benching{env: e}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the speed of this machine, beside plain NATS",
		Long: `Run a whole stack in a temporary folder and measure how many frames a second
each part of it bears, and the whole way, beside what plain NATS does with the
same bytes in the same run. Takes some minutes; do nothing else meanwhile.`,
		Example: `  ds bench
  ds bench --only hot --pairs 3 --cpuprofile cpu.pprof`,
		Args: exactly(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := service.Env(c.Flags(), e.getenv, service.EnvPrefix); err != nil {
				return err
			}
			if b.output != "table" && b.output != "json" {
				return fmt.Errorf("%w: -o: %q is not table or json", service.ErrUsage, b.output)
			}
			return b.profiled(func() error { return b.run(c.Context()) })
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.IntVar(&b.opts.Pairs, "pairs", bench.DefaultPairs, "`rounds` in which everything is measured in turn")
	fs.IntVar(&b.opts.Frames, "frames", bench.DefaultFrames, "`frames` in a measurement of the hot group; the others take a part of it")
	fs.StringSliceVar(&b.opts.Only, "only", nil, "`groups` to measure: "+strings.Join(bench.Groups(), ", "))
	fs.StringVarP(&b.output, "output", "o", "table", "`format`: table or json")
	fs.StringVar(&b.opts.Dir, "dir", "", "`folder` for the temporary data (default the system's temporary folder)")
	fs.StringVar(&b.cpu, "cpuprofile", "", "write a CPU profile to `file`, for go tool pprof")
	fs.StringVar(&b.mem, "memprofile", "", "write all allocations to `file`, for go tool pprof")
	b.log.Flags(fs)
	fs.Lookup("log-level").DefValue = "error"
	b.log.Level = "error"
	service.DescribeEnv(fs, service.EnvPrefix)
	return c
}

func (b *benching) run(ctx context.Context) error {
	log, err := service.NewLogger(b.stderr, "ds", b.log, b.getenv)
	if err != nil {
		return err
	}
	b.opts.Log = log
	b.opts.Say = func(s string) { b.say("ds: %s", s) }
	report, err := bench.Run(ctx, b.opts)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, bench.ErrOptions):
		return fmt.Errorf("%w: %w", service.ErrUsage, err)
	case err != nil:
		return err
	}
	if b.output == "json" {
		return report.JSON(b.stdout)
	}
	return report.Table(b.stdout)
}

// profiled runs fn under the profiles asked for.
func (b *benching) profiled(fn func() error) (err error) {
	if b.cpu != "" {
		f, err := os.Create(b.cpu)
		if err != nil {
			return fmt.Errorf("write the CPU profile: %w", err)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return fmt.Errorf("write the CPU profile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	if b.mem == "" {
		return fn()
	}
	f, err := os.Create(b.mem)
	if err != nil {
		return fmt.Errorf("write the profile of allocations: %w", err)
	}
	defer f.Close()
	if err := fn(); err != nil {
		return err
	}
	runtime.GC() // what was freed is in the profile only after a collection
	if err := pprof.Lookup("allocs").WriteTo(f, 0); err != nil {
		return fmt.Errorf("write the profile of allocations: %w", err)
	}
	return nil
}
