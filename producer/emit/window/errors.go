package window

import "errors"

// Sentinels for errors.Is on Window.Err.
var (
	// ErrRejected says that a mux refused a run for good; its text follows.
	ErrRejected = errors.New("the mux rejected a run")
	// ErrAnswer says that an answer contradicts what was asked.
	ErrAnswer = errors.New("the mux gave an answer that does not fit")
)
