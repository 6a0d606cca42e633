// Command one may import NATS and its own stage.
package main

import (
	_ "github.com/nats-io/nats.go"
	_ "planted/one/store"
	_ "planted/two/docs"
)

func main() {}
