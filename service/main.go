package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
)

// stamp is the version that the build sets:
// -ldflags "-X datastream/service.stamp=1.2.3".
var stamp string

// Version is this build's version, always SemVer: the stamp, else what the Go
// tool knows, else 0.0.0-dev.
var Version = version(stamp, debug.ReadBuildInfo)

func version(stamp string, read func() (*debug.BuildInfo, bool)) string {
	if stamp != "" {
		return strings.TrimPrefix(stamp, "v")
	}
	info, ok := read()
	if !ok {
		return "0.0.0-dev"
	}
	if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "0.0.0-dev+" + s.Value[:12]
		}
	}
	return "0.0.0-dev"
}

// The exit codes of every command.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
	exitSignal = 128 // plus the signal's number
)

// A RunFunc is a main without the process: it returns when its work is done
// or, soon, after the context has ended. A daemon that was asked to stop
// returns nil; a command that was cut short ErrInterrupted or the context's
// error.
type RunFunc func(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error

// Main runs a program and exits. The first SIGINT or SIGTERM ends the
// context, the second kills the process. Errors are printed as
// `name: message`.
func Main(name string, run RunFunc) {
	// With a handler for SIGPIPE, writing to a closed standard output is an
	// error like any other instead of sudden death. A handler is not
	// inherited by child processes, unlike ignoring the signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := context.WithCancelCause(context.Background())
	go func() {
		s := <-signals
		signal.Reset(os.Interrupt, syscall.SIGTERM) // before the context ends: who sees that may send the second
		stop(&signalError{s})
	}()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	os.Exit(exit(ctx, name, err, os.Stderr))
}

// signalError is why the context of Main ended.
type signalError struct{ signal os.Signal }

// Error names the signal.
func (s *signalError) Error() string { return "got " + s.signal.String() }

// Unwrap makes it ErrInterrupted.
func (s *signalError) Unwrap() error { return ErrInterrupted }

// stdoutClosed reports whether the reader of standard output has gone, which
// is how `… | head` ends. A broken connection is another matter.
func stdoutClosed(err error) bool {
	var p *os.PathError
	return errors.As(err, &p) && p.Path == os.Stdout.Name() && errors.Is(p.Err, syscall.EPIPE)
}

// exit prints what is to be printed about an error and chooses the code.
func exit(ctx context.Context, name string, err error, stderr io.Writer) int {
	var got *signalError
	signalled := errors.As(context.Cause(ctx), &got)
	switch {
	case err == nil, errors.Is(err, ErrAnswered), stdoutClosed(err):
		return ExitDone
	case errors.Is(err, ErrInterrupted), signalled && errors.Is(err, context.Canceled):
		if signalled && got.signal == syscall.SIGTERM {
			return exitSignal + int(syscall.SIGTERM)
		}
		return exitSignal + int(syscall.SIGINT)
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	if errors.Is(err, ErrUsage) {
		return ExitUsage
	}
	return ExitFailed
}
