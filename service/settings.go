package service

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// EnvPrefix begins the variable of a flag that has no name of its own.
const EnvPrefix = "DS_"

// envKey annotates a flag with its own variable, which its owner reads.
const envKey = "datastream_env"

// Variable is the environment variable that a flag takes its value from when
// it is not on the command line, or "" for those that take none.
func Variable(f *pflag.Flag, prefix string) string {
	if own := f.Annotations[envKey]; len(own) == 1 {
		return own[0]
	}
	if f.Name == "help" || f.Name == "version" {
		return ""
	}
	return prefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// Env gives every flag that is not on the command line its value from the
// environment: --http takes DS_HTTP when the prefix is DS_. An empty variable
// is an absent one. Flags of NATS.Flags are left to NATS.Resolve. It wraps
// ErrUsage and names the variable.
func Env(fs *pflag.FlagSet, getenv func(string) string, prefix string) error {
	var first error
	fs.VisitAll(func(f *pflag.Flag) {
		name := Variable(f, prefix)
		if f.Changed || name == "" || f.Annotations[envKey] != nil || first != nil {
			return
		}
		v := getenv(name)
		if v == "" {
			return
		}
		if err := f.Value.Set(v); err != nil {
			first = fmt.Errorf("read %s from the environment: %w: %q does not do for --%s: %w", name, ErrUsage, v, f.Name, err)
			return
		}
		f.Changed = true
	})
	return first
}

// DescribeEnv writes each flag's variable into its usage text. It may be
// called again.
func DescribeEnv(fs *pflag.FlagSet, prefix string) {
	fs.VisitAll(func(f *pflag.Flag) {
		name := Variable(f, prefix)
		if mark := " [$" + name + "]"; name != "" && !strings.HasSuffix(f.Usage, mark) {
			f.Usage += mark
		}
	})
}

// Parse is the whole command line of a daemon: flags, --help and --version,
// no other arguments, then the environment. About is the help's first line.
// It returns ErrAnswered when the rest is not to be run, and wraps ErrUsage.
func Parse(fs *pflag.FlagSet, args []string, getenv func(string) string, stdout io.Writer, about string) error {
	version := fs.Bool("version", false, "print the version and exit")
	DescribeEnv(fs, EnvPrefix)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	switch err := fs.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return answer(stdout, "%s\n\nUsage: %s [flags]\n\n%s", about, fs.Name(), fs.FlagUsages())
	case err != nil:
		return fmt.Errorf("%w: %w; --help lists the flags", ErrUsage, err)
	case *version:
		return answer(stdout, "%s %s\n", fs.Name(), Version)
	case fs.NArg() > 0:
		return fmt.Errorf("%w: unexpected argument %q; --help lists the flags", ErrUsage, fs.Arg(0))
	}
	return Env(fs, getenv, EnvPrefix)
}

func answer(w io.Writer, format string, a ...any) error {
	if _, err := fmt.Fprintf(w, format, a...); err != nil {
		return err
	}
	return ErrAnswered
}
