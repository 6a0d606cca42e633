// Command muxd gives frames their positions: the one mux of a node, or a
// gateway for every node without a mux of its own. Everything is in run.
package main

import (
	"datastream/muxd/run"
	"datastream/service"
)

func main() { service.Main("muxd", run.Main) }
