package view

import "errors"

var (
	// ErrMemory says that a sort, a group or another set outgrew the memory
	// that running queries share (L8.4). Narrower times, a narrower WHERE or
	// TAKE need less.
	ErrMemory = errors.New("the query needs more memory than queries may have; narrow it with SINCE, WHERE or TAKE")
)
