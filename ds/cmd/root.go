package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	ingest "datastream/ingestd/run"
	mux "datastream/muxd/run"
	"datastream/service"
)

// daemons are also names of the one executable (argv[0], or ds muxd).
var daemons = map[string]struct {
	about string
	run   service.RunFunc
}{
	"muxd":    {"gives frames their positions: the mux of a node, or a gateway", mux.Main},
	"ingestd": {"puts frames back in order and commits them", ingest.Main},
}

// Name is what this executable was called as, a daemon or ds.
func Name() string {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if _, ok := daemons[name]; ok {
		return name
	}
	return "ds"
}

// Main is ds without the process.
func Main(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	if d, ok := daemons[Name()]; ok {
		return d.run(ctx, args, getenv, stdout, stderr)
	}
	root := newRoot(env{getenv: getenv, stdin: os.Stdin, stdout: stdout, stderr: stderr})
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// env is what a command has of its process.
type env struct {
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// say writes a line for people.
func (e env) say(format string, a ...any) { fmt.Fprintf(e.stderr, format+"\n", a...) }

func newRoot(e env) *cobra.Command {
	root := &cobra.Command{
		Use:   "ds",
		Short: "A telemetry pipeline on NATS: nothing lost silently, read by plain NATS",
		Long: `ds runs and uses a datastream: producers tag bytes with a channel name, each
frame gets a position, and everything is committed in order to JetStream, where
any NATS client reads it.

Start with: ds up`,
		Version:                    service.Version,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		// Without these an unknown command would be cobra's error, which is no
		// wrong usage by our exit code.
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknown(c, args[0])
		},
	}
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w; %s --help lists the flags", service.ErrUsage, err, c.CommandPath())
	})
	root.AddCommand(newUp(e), newWait(e), newEmit(e), newBench(e))
	for name, d := range daemons {
		root.AddCommand(&cobra.Command{
			Use: name, Short: d.about, DisableFlagParsing: true,
			RunE: func(c *cobra.Command, args []string) error {
				return d.run(c.Context(), args, e.getenv, e.stdout, e.stderr)
			},
		})
	}
	return root
}

// unknown names a command that there is not, and those that look like it.
func unknown(c *cobra.Command, name string) error {
	hint := ""
	if like := c.SuggestionsFor(name); len(like) > 0 {
		hint = "did you mean " + strings.Join(like, " or ") + "? "
	}
	return fmt.Errorf("%w: there is no command %q; %s%s --help lists them", service.ErrUsage, name, hint, c.CommandPath())
}

// exactly is cobra's ExactArgs and the like, with our exit code.
func exactly(from, to int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < from || len(args) > to {
			return fmt.Errorf("%w: %s; usage: %s", service.ErrUsage, count(len(args)), c.UseLine())
		}
		return nil
	}
}

func count(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}
