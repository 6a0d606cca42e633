// Package pure is not.
package pure

import (
	"sync"
	clock "time"

	_ "github.com/nats-io/nats.go/jetstream"
	_ "planted/one/store"
)

var now = clock.Now

func run(g *sync.WaitGroup) {
	go clock.Sleep(1)
	g.Go(func() { <-clock.After(1) })
}
