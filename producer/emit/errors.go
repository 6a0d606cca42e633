package emit

import "errors"

// Sentinels for errors.Is.
var (
	// ErrOption says that an option has a value that cannot be.
	ErrOption = errors.New("bad option")
	// ErrSize says that a payload is larger than a frame may be.
	ErrSize = errors.New("payload too large")
	// ErrClosed says that the handle takes no more frames: it was closed, or
	// its connection was closed for good.
	ErrClosed = errors.New("handle is closed")
	// ErrUnsettled says that Close cannot vouch for every frame: the Report or
	// the Stats beside it say how many.
	ErrUnsettled = errors.New("not every frame was settled")
	// ErrRecord says that a record does not encode to a map of fields.
	ErrRecord = errors.New("not a record")
)
