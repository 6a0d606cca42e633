package ledger

import "errors"

// ErrStreams says that a beat would make known more lives than
// Config.Streams. The life stays unknown and its frames are refused until
// another life is forgotten.
var ErrStreams = errors.New("too many streams")
