package bench

import "errors"

// Sentinels for errors.Is.
var (
	// ErrLost says that not every frame of a measurement came through; there
	// is no number then.
	ErrLost = errors.New("frames were lost")
	// ErrOptions says that the options cannot be meant.
	ErrOptions = errors.New("bad options")
)
