// Package docs has its comment in the wrong file.
package docs

import (
	_ "github.com/nats-io/nats.go"
	_ "planted/one/pure"
	_ "planted/one/store"
)

type Bare struct{}

func (b *Bare) Method() {}

type hidden[T any] struct{}

func (h hidden[T]) Fine() {}

func Function() {}

const Constant = 1

// A group is documented once.
const (
	First  = 1
	Second = 2
)

var (
	Variable int
	Noted    int // a line comment will do
)

type (
	// Documented is.
	Documented int
	Grouped    int
)
