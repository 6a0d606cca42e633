// Command ingestd puts the frames of all streams back in order and commits
// them to JetStream. Everything is in run.
package main

import (
	"datastream/ingestd/run"
	"datastream/service"
)

func main() { service.Main("ingestd", run.Main) }
