package run

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"datastream/muxd/bus"
	"datastream/muxd/mux"
	"datastream/service"
	"datastream/subjects"
)

// Gateway is the --node that serves every node without a mux of its own (P5.4).
const Gateway = "*"

// DefaultHTTP is where the health and metrics pages are.
const DefaultHTTP = "127.0.0.1:9221"

// A Config is everything that muxd may be told. Zero fields take the defaults.
type Config struct {
	NATS   service.NATS
	Log    service.LogConfig
	HTTP   string // host:port of the health and metrics pages, or "off"
	Prefix string // of all subjects
	Node   string // the node served, or Gateway

	BufferFrames int // a stream's buffer (P5.1)
	BufferBytes  int // the same, and of all streams together four times as much
	RingBytes    int // the repair ring (P5.3)
	PacedBytes   int // unsettled paced frames (P4.3)
	MaxFrame     int // the largest payload (P1.4)
	Streams      int // nodes that a gateway serves (P5.4)
	Channels     int // channels of a stream (P5.4)
	Idle         time.Duration

	// Carrier wraps the connection that frames, beats and repair answers go
	// out on, once it is made; nil leaves it as it is (P6). It is for tests.
	Carrier func(connection bus.Carrier) bus.Carrier
}

// Defaults is the Config without any settings.
func Defaults() Config {
	return Config{
		HTTP: DefaultHTTP, Prefix: subjects.DefaultPrefix, Node: Gateway,
		BufferFrames: mux.DefaultBufferFrames, BufferBytes: mux.DefaultBufferBytes,
		RingBytes: 64 << 20, PacedBytes: 8 << 20, MaxFrame: mux.DefaultMaxFrame,
		Streams: mux.DefaultStreams, Channels: mux.DefaultChannels, Idle: mux.DefaultIdle,
	}
}

// Parse reads the command line and the environment. It wraps service.ErrUsage,
// and is service.ErrAnswered after --help or --version.
func Parse(args []string, getenv func(string) string, stdout io.Writer) (Config, error) {
	c := Defaults()
	fs := pflag.NewFlagSet("muxd", pflag.ContinueOnError)
	c.Flags(fs)
	c.NATS.Flags(fs)
	c.NATS.ServiceFlags(fs)
	c.Log.Flags(fs)
	fs.StringVar(&c.HTTP, "http", c.HTTP, "`address` of /healthz, /readyz and /metrics, or off")
	about := "muxd gives frames their positions and publishes them: the one mux of a node, or a gateway for many."
	if err := service.Parse(fs, args, getenv, stdout, about); err != nil {
		return Config{}, err
	}
	return c, c.NATS.Resolve(fs, getenv)
}

// Flags adds the mux's own flags; ds up has them, too.
func (c *Config) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Prefix, "prefix", c.Prefix, "`prefix` of all subjects")
	fs.StringVar(&c.Node, "node", c.Node, "the `node` to serve; * is every node without a mux of its own")
	fs.IntVar(&c.BufferFrames, "buffer-frames", c.BufferFrames, "`frames` that a stream buffers; more are dropped and show as gaps")
	fs.IntVar(&c.BufferBytes, "buffer-bytes", c.BufferBytes, "`bytes` that a stream buffers")
	fs.IntVar(&c.RingBytes, "ring-bytes", c.RingBytes, "`bytes` of published frames kept for repair")
	fs.IntVar(&c.PacedBytes, "paced-bytes", c.PacedBytes, "`bytes` of paced frames that may be unsettled")
	fs.IntVar(&c.MaxFrame, "max-frame", c.MaxFrame, "largest payload in `bytes`")
	fs.IntVar(&c.Streams, "streams", c.Streams, "`nodes` that a gateway serves at most")
	fs.IntVar(&c.Channels, "channels", c.Channels, "`channels` that a stream bears at most")
	fs.DurationVar(&c.Idle, "idle", c.Idle, "when a settled stream without submissions is closed")
}

// check turns the settings into the bus's.
func (c Config) check() (bus.Config, error) {
	space, err := subjects.NewSpace(c.Prefix)
	if err != nil {
		return bus.Config{}, fmt.Errorf("%w: --prefix: %w", service.ErrUsage, err)
	}
	var node subjects.Node
	if c.Node != Gateway {
		if node, err = subjects.ParseNode(c.Node); err != nil {
			return bus.Config{}, fmt.Errorf("%w: --node: %w", service.ErrUsage, err)
		}
	}
	for _, v := range []struct {
		flag  string
		value int
	}{
		{"buffer-frames", c.BufferFrames}, {"buffer-bytes", c.BufferBytes}, {"ring-bytes", c.RingBytes}, {"paced-bytes", c.PacedBytes},
		{"max-frame", c.MaxFrame}, {"streams", c.Streams}, {"channels", c.Channels}, {"idle", int(c.Idle)},
	} {
		if v.value < 1 {
			return bus.Config{}, fmt.Errorf("%w: --%s must be above 0", service.ErrUsage, v.flag)
		}
	}
	const maxFrame = 7 << 20
	if c.MaxFrame > maxFrame {
		return bus.Config{}, fmt.Errorf("%w: --max-frame: %d bytes, at most %d fit a message with its headers", service.ErrUsage, c.MaxFrame, maxFrame)
	}
	b := bus.Config{
		Space: space, Node: node, Streams: c.Streams, Idle: c.Idle,
		Mux:         mux.Config{MaxFrame: c.MaxFrame, BufferFrames: c.BufferFrames, BufferBytes: c.BufferBytes, Channels: c.Channels},
		BufferBytes: 4 * c.BufferBytes, PacedRoom: c.PacedBytes,
	}
	b.Ring.Bytes = c.RingBytes
	return b, nil
}
