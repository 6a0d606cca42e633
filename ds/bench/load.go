package bench

import (
	"bytes"
	"fmt"

	"datastream/ingestd/store"
	"datastream/subjects"
	"datastream/subjects/frame"
)

// lineBytes is the size of every frame.
const lineBytes = 128

// A load is the frames of a measurement: the same line over channels in turn.
type load struct {
	channels []subjects.Channel
	line     []byte
	frames   int // in a measurement
	// messages are what the pipe makes of some of the frames. What bears
	// messages sends these over and over.
	messages []store.Message
	cycle    int // frames in messages
	batch    int // messages in an atomic batch, at most
}

// stream is whose frames the messages are.
func stream() subjects.Stream { return subjects.Stream{Node: "bench", Life: life} }

// newLoad makes a load of so many slices of consecutive frames before it
// repeats itself, and rounds frames up to whole repetitions.
func newLoad(channels, slices, slice, frames, batch int) load {
	l := load{line: line(), batch: batch, cycle: slices * slice}
	for i := range channels {
		l.channels = append(l.channels, subjects.Channel(fmt.Sprintf("proc.app%d.stdout", i)))
	}
	l.frames = (frames + l.cycle - 1) / l.cycle * l.cycle
	var cutter frame.Cutter
	var cuts []frame.Cut
	for i := range l.cycle {
		cutter.Add(frame.Single(l.channels[i%channels], subjects.Position(i), l.line), false)
		if (i+1)%slice == 0 {
			cuts = cutter.Runs(cuts)
		}
	}
	for _, c := range cuts {
		l.messages = append(l.messages, store.Message{Stream: stream(), Run: c.Run})
	}
	return l
}

// hotLoad is 8 slices over 10 channels: 4 MiB of runs, a batch of P7.3.
func hotLoad(frames int) load { return newLoad(10, 8, frame.SliceFrames, frames, 1000) }

// wideLoad is one frame for each of 5 000 channels.
func wideLoad(frames int) load { return newLoad(5000, 5, 1000, frames, 1000) }

// singleLoad is 10 channels, a message a frame.
func singleLoad(frames int) load { return newLoad(10, 1000, 10, frames, 1000) }

// line looks like a line of a log.
func line() []byte {
	text := []byte(`2026-01-02T03:04:05.678Z INFO request served method=GET path=/api/v1/orders status=200 bytes=5120 took=12.5ms id=`)
	return append(text, bytes.Repeat([]byte{'x'}, lineBytes-len(text))...)
}

// each calls fn with as many messages at a time as make a batch, until every
// frame of the measurement was given.
func (l load) each(take func([]store.Message) int, fn func([]store.Message) error) error {
	for range l.frames / l.cycle {
		for rest := l.messages; len(rest) > 0; {
			n := take(rest)
			if err := fn(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return nil
}
