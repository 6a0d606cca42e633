// Package store is an edge.
package store

import (
	_ "github.com/nats-io/nats-server/v2/server"
	_ "github.com/nats-io/nats.go"
	_ "github.com/synadia-io/orbit.go/natscontext"
)
