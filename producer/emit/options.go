package emit

import (
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// Defaults of the options.
const (
	DefaultBufferFrames     = 65_536
	DefaultBufferBytes      = 16 << 20 // of a Remote
	DefaultPacedBufferBytes = 4 << 20  // of a Paced
	DefaultWindowRuns       = 256
	DefaultWindowBytes      = 4 << 20
)

// An Option changes a default of a handle.
type Option func(*config)

// WithSpace says under which prefix the pipe lives; default "ds".
func WithSpace(s subjects.Space) Option { return func(c *config) { c.space = s } }

// WithBuffer bounds what waits in the handle, in frames and in bytes; a frame
// counts payload + channel + 64 (P5.1). A frame larger than the buffer is taken
// when the buffer is empty.
func WithBuffer(frames, bytes int) Option {
	return func(c *config) { c.frames, c.bytes = frames, bytes }
}

// WithWindow bounds what a Paced handle has sent without an answer, in runs and
// in bytes. A mux remembers its last answers to each producer, by default 128:
// with more runs than that, a cut can leave frames unknown.
func WithWindow(runs, bytes int) Option {
	return func(c *config) { c.windowRuns, c.windowBytes = runs, bytes }
}

// WithMaxFrame bounds a payload, in bytes; default 1 MiB (P1.4).
func WithMaxFrame(bytes int) Option { return func(c *config) { c.maxFrame = bytes } }

// WithOnDrop sets a function that is told of every frame that Submit drops, in
// the goroutine that called Submit: it must not block, and should limit how
// often it logs.
func WithOnDrop(f func(Reason)) Option { return func(c *config) { c.onDrop = f } }

// WithOnNotice sets a function that is told, in the handle's own goroutine, what
// a person may want to know: that no mux answers, that a mux began a new life.
// It must not block.
func WithOnNotice(f func(string)) Option { return func(c *config) { c.onNotice = f } }

// config is the options of all kinds of handle, and the times that tests
// shorten.
type config struct {
	space       subjects.Space
	frames      int
	bytes       int
	windowRuns  int
	windowBytes int
	maxFrame    int
	onDrop      func(Reason)
	onNotice    func(string)

	idleFirst      time.Duration // from the last submission to the first idle mark
	idleNext       time.Duration // between idle marks
	answerTimeout  time.Duration
	silenceTimeout time.Duration
	backoffMin     time.Duration
	backoffMax     time.Duration
}

func newConfig(bufferBytes int, opts []Option) (config, error) {
	c := config{
		space:          subjects.Default(),
		frames:         DefaultBufferFrames,
		bytes:          bufferBytes,
		windowRuns:     DefaultWindowRuns,
		windowBytes:    DefaultWindowBytes,
		maxFrame:       frame.MaxPayload,
		onDrop:         func(Reason) {},
		onNotice:       func(string) {},
		idleFirst:      time.Second,
		idleNext:       10 * time.Second,
		answerTimeout:  10 * time.Second,
		silenceTimeout: 75 * time.Second,
		backoffMin:     100 * time.Millisecond,
		backoffMax:     2 * time.Second,
	}
	for _, o := range opts {
		o(&c)
	}
	for _, v := range []struct {
		name  string
		value int
	}{
		{"buffer frames", c.frames}, {"buffer bytes", c.bytes},
		{"window runs", c.windowRuns}, {"window bytes", c.windowBytes}, {"max frame", c.maxFrame},
	} {
		if v.value < 1 {
			return config{}, fmt.Errorf("%w: %s is %d, it must be at least 1", ErrOption, v.name, v.value)
		}
	}
	if c.maxFrame > frame.MaxBody {
		return config{}, fmt.Errorf("%w: max frame is %d, it must be at most %d", ErrOption, c.maxFrame, frame.MaxBody)
	}
	if c.space == (subjects.Space{}) || c.onDrop == nil || c.onNotice == nil {
		return config{}, fmt.Errorf("%w: a zero space or a nil function", ErrOption)
	}
	return c, nil
}

// check says why a submission cannot be, if it cannot.
func (c *config) check(channel subjects.Channel, payload []byte) Reason {
	switch {
	case len(channel) == 0 || len(channel) > subjects.MaxChannel:
		return ReasonChannel
	case len(payload) > c.maxFrame:
		return ReasonSize
	}
	return ReasonNone
}

// mintProducer makes a producer id that no other handle has.
func mintProducer() string { return ulid.Make().String() }
