// Command ds is the whole of datastream: the stack in one process, the
// commands to use it, and the daemons under their own names. Everything is in
// cmd.
package main

import (
	"datastream/ds/cmd"
	"datastream/service"
)

func main() { service.Main(cmd.Name(), cmd.Main) }
