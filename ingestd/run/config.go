package run

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"datastream/ingestd/intake"
	"datastream/ingestd/store"
	"datastream/service"
	"datastream/subjects"
)

// DefaultHTTP is where the health and metrics pages are.
const DefaultHTTP = "127.0.0.1:9222"

// A Config is everything that ingestd may be told. Zero fields take the
// defaults.
type Config struct {
	NATS   service.NATS
	Log    service.LogConfig
	HTTP   string // host:port of the health and metrics pages, or "off"
	Prefix string // of all subjects

	Stream   string        // name of the JetStream stream; "" derives from the prefix
	Init     bool          // make the stream if it is not there (P8.4)
	Replicas int           // of the stream when it is made
	MaxAge   time.Duration // how long frames are kept
	MaxBytes int64         // how many bytes are kept; 0 is the smaller of 10 GB and half of what is free

	BatchMessages int           // in one commit (P7.3)
	BatchBytes    int           // in one commit (P7.3)
	WindowBytes   int           // frames waiting behind holes (P7.1)
	QueueBytes    int           // frames waiting for their commit (P7.7)
	Wait          time.Duration // how long a frame waits behind a hole (P7.1)

	// Opened, if not nil, is called each time the store was found or made,
	// before anything is committed to it.
	Opened func()
}

// Defaults is the Config without any settings.
func Defaults() Config {
	return Config{
		HTTP: DefaultHTTP, Prefix: subjects.DefaultPrefix, Replicas: 1, MaxAge: store.DefaultMaxAge,
		BatchMessages: store.DefaultBatchMessages, BatchBytes: store.DefaultBatchBytes,
		WindowBytes: 64 << 20, QueueBytes: 64 << 20, Wait: 250 * time.Millisecond,
	}
}

// Parse reads the command line and the environment. It wraps service.ErrUsage,
// and is service.ErrAnswered after --help or --version.
func Parse(args []string, getenv func(string) string, stdout io.Writer) (Config, error) {
	c := Defaults()
	fs := pflag.NewFlagSet("ingestd", pflag.ContinueOnError)
	c.Flags(fs)
	c.NATS.Flags(fs)
	c.NATS.ServiceFlags(fs)
	c.Log.Flags(fs)
	fs.StringVar(&c.HTTP, "http", c.HTTP, "`address` of /healthz, /readyz and /metrics, or off")
	fs.StringVar(&c.Prefix, "prefix", c.Prefix, "`prefix` of all subjects")
	fs.BoolVar(&c.Init, "init", c.Init, "make the stream if it is not there")
	about := "ingestd puts frames back in order and commits them to JetStream, fsynced."
	if err := service.Parse(fs, args, getenv, stdout, about); err != nil {
		return Config{}, err
	}
	return c, c.NATS.Resolve(fs, getenv)
}

// Flags adds ingest's own flags; ds up has them, too.
func (c *Config) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Stream, "stream", c.Stream, "`name` of the JetStream stream (default DATASTREAM for the prefix ds)")
	fs.IntVar(&c.Replicas, "replicas", c.Replicas, "`replicas` of the stream when it is made")
	fs.DurationVar(&c.MaxAge, "max-age", c.MaxAge, "how long frames are kept, when the stream is made")
	fs.Int64Var(&c.MaxBytes, "max-bytes", c.MaxBytes, "how many `bytes` are kept, when the stream is made; 0 is the smaller of 10 GB and half of what is free")
	fs.IntVar(&c.BatchMessages, "batch-messages", c.BatchMessages, "`messages` in a commit; not above the server's own limit")
	fs.IntVar(&c.BatchBytes, "batch-bytes", c.BatchBytes, "`bytes` in a commit")
	fs.IntVar(&c.WindowBytes, "window-bytes", c.WindowBytes, "`bytes` of frames that wait behind holes")
	fs.IntVar(&c.QueueBytes, "queue-bytes", c.QueueBytes, "`bytes` of frames that wait for their commit")
	fs.DurationVar(&c.Wait, "wait", c.Wait, "how long a frame waits behind a hole")
}

func (c Config) check() (store.Config, intake.Config, error) {
	space, err := subjects.NewSpace(c.Prefix)
	if err != nil {
		return store.Config{}, intake.Config{}, fmt.Errorf("%w: --prefix: %w", service.ErrUsage, err)
	}
	for _, v := range []struct {
		flag  string
		value int64
	}{
		{"replicas", int64(c.Replicas)}, {"max-age", int64(c.MaxAge)}, {"max-bytes", c.MaxBytes + 1}, {"batch-messages", int64(c.BatchMessages)},
		{"batch-bytes", int64(c.BatchBytes)}, {"window-bytes", int64(c.WindowBytes)}, {"queue-bytes", int64(c.QueueBytes)}, {"wait", int64(c.Wait)},
	} {
		if v.value < 1 {
			return store.Config{}, intake.Config{}, fmt.Errorf("%w: --%s must be above 0", service.ErrUsage, v.flag)
		}
	}
	s := store.Config{
		Space: space, Stream: c.Stream, Init: c.Init, Replicas: c.Replicas, MaxAge: c.MaxAge, MaxBytes: c.MaxBytes,
		BatchMessages: c.BatchMessages, BatchBytes: c.BatchBytes,
	}
	in := intake.Config{
		Space: space, WindowBytes: c.WindowBytes, QueueBytes: c.QueueBytes,
		BatchMessages: c.BatchMessages, BatchBytes: c.BatchBytes,
	}
	in.Window.Wait = c.Wait
	return s, in, nil
}
