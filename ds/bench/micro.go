package bench

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"datastream/muxd/mux"
	"datastream/subjects"
	"datastream/subjects/frame"
)

// life is that of every stream that is not a mux's own.
var life = subjects.MintLife(time.UnixMilli(1_700_000_000_000))

// micro is the pure code that every frame passes.
func micro(frames int) []candidate {
	l := hotLoad(frames)
	return []candidate{
		{name: "submit", about: "mux: copy, position, buffer, and drain cut into runs", load: l, prepare: ready(func() error { return submit(l) })},
		{name: "encode run", about: "runs of 127 frames: body, Ds-Run, Ds-Pos", load: l, prepare: ready(func() error { return encodeRuns(l) })},
		{name: "decode run", about: "the same back", load: l, prepare: ready(func() error { return decodeRuns(l) })},
	}
}

// ready is a candidate that needs no preparation.
func ready(run func() error) func(context.Context) (func() error, func() error, error) {
	return func(context.Context) (func() error, func() error, error) { return run, nil, nil }
}

// submit gives single frames to a mux, and drains it whenever as many wait as
// a pipe under load finds waiting.
func submit(l load) error {
	m := mux.New(stream(), mux.Config{}, nil)
	got := 0
	drain := func() {
		for s, ok := m.Drain(); ok; s, ok = m.Drain() {
			for _, c := range s.Cuts {
				got += c.Run.Len()
			}
		}
	}
	for i := range l.frames {
		m.Submit(frame.Single(l.channels[i%len(l.channels)], 0, bytes.Clone(l.line)), false)
		if i%frame.SliceFrames == frame.SliceFrames-1 {
			drain()
		}
	}
	drain()
	return all(got, l.frames)
}

// perRun is how many lines make a run of 16 KiB.
const perRun = frame.RunBytes / lineBytes

func encodeRuns(l load) error {
	var cutter frame.Cutter
	var cuts []frame.Cut
	var pos []byte
	bytes := 0
	for i := 0; i < l.frames; {
		for range min(perRun, l.frames-i) {
			cutter.AddFrame("proc.app.stdout", subjects.Position(i), l.line, false)
			i++
		}
		cuts = cutter.Runs(cuts[:0])
		for _, c := range cuts {
			pos = strconv.AppendUint(pos[:0], uint64(c.Run.First()), 10)
			bytes += len(c.Run.Body()) - (c.Run.Len() - 1)
			if c.Run.Header() == "" && c.Run.Len() > 1 {
				return fmt.Errorf("encode run: no %s for %d frames", frame.HeaderRun, c.Run.Len())
			}
		}
	}
	return all(bytes/lineBytes, l.frames)
}

func decodeRuns(l load) error {
	var cutter frame.Cutter
	for i := range perRun {
		cutter.Add(frame.Single("proc.app.stdout", subjects.Position(i), l.line), false)
	}
	r := cutter.Runs(nil)[0].Run
	h := map[string][]string{frame.HeaderPos: {"0"}, frame.HeaderRun: {r.Header()}}
	got := 0
	for got < l.frames {
		back, err := frame.Decode("proc.app.stdout", h, r.Body())
		if err != nil {
			return err
		}
		got += back.Len()
	}
	return nil
}

// all is an error if not every frame came through (promise 2).
func all(got, want int) error {
	if got != want {
		return fmt.Errorf("%w: %d frames of %d came through", ErrLost, got, want)
	}
	return nil
}
