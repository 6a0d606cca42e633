package source

import "errors"

// Sentinels for errors.Is.
var (
	// ErrConfig says that a source was configured with what cannot be.
	ErrConfig = errors.New("bad configuration")
	// ErrStart says that a command could not be started.
	ErrStart = errors.New("command did not start")
	// ErrState says that the file of remembered positions cannot be read or
	// written, or holds something else.
	ErrState = errors.New("bad state file")
	// ErrUnsettled says that a Follow ended before everything that it had
	// submitted was settled: the rest is submitted again by the next one.
	ErrUnsettled = errors.New("not everything is settled")
)
