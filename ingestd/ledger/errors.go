package ledger

import "errors"

var (
	// ErrStreams says that a beat would make known more lives than
	// Config.Streams, when all of them live or have frames on their way to the
	// store. The life stays unknown and its frames are refused until another can
	// be forgotten.
	ErrStreams = errors.New("too many streams, none of which can be forgotten yet")
	// ErrForgotten says that a beat is of a life that was forgotten to make room.
	// It stays so, or its frames would be committed twice (P7.2): only a new life
	// of its node is taken.
	ErrForgotten = errors.New("the life was forgotten, only a new one of its node is taken")
)
