package service

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// LogConfig says what is logged, and how it looks.
type LogConfig struct {
	Level  string // debug, info, warn, error; "" is info
	Format string // auto, json, console; "" is auto
}

// Flags adds --log-level and --log-format.
func (c *LogConfig) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Level, "log-level", "info", "log `level`: debug, info, warn or error")
	fs.StringVar(&c.Format, "log-format", "auto", "log `format`: json, console, or auto: console on a terminal")
}

// NewLogger writes to w, in colour only on a terminal and without NO_COLOR.
// Each line bears the service's name. It wraps ErrUsage.
func NewLogger(w io.Writer, service string, c LogConfig, getenv func(string) string) (zerolog.Logger, error) {
	level := zerolog.InfoLevel
	if c.Level != "" {
		l, err := zerolog.ParseLevel(c.Level)
		if err != nil || l < zerolog.DebugLevel || l > zerolog.ErrorLevel {
			return zerolog.Nop(), fmt.Errorf("set up the log: %w: level %q is not debug, info, warn or error (--log-level or DS_LOG_LEVEL)", ErrUsage, c.Level)
		}
		level = l
	}
	console := isTerminal(w)
	switch c.Format {
	case "", "auto":
	case "json":
		console = false
	case "console":
		console = true
	default:
		return zerolog.Nop(), fmt.Errorf("set up the log: %w: format %q is not auto, json or console (--log-format or DS_LOG_FORMAT)", ErrUsage, c.Format)
	}
	if console {
		w = zerolog.ConsoleWriter{
			Out: w, TimeFormat: "15:04:05.000",
			NoColor: !isTerminal(w) || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb",
		}
	}
	stamp := zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) {
		// The global time format has no fractions; a library leaves it alone.
		e.Str(zerolog.TimestampFieldName, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	})
	return zerolog.New(zerolog.SyncWriter(w)).Level(level).With().Str("service", service).Logger().Hook(stamp), nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
