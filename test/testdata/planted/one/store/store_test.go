package store

import (
	"time"

	_ "planted/two/docs"
)

// Tests may import more, wait, and export without a comment.
func Wait() { time.Sleep(1) }
