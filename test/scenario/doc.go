// Package scenario does what users do, with real processes: the commands of
// the README and of the help, the nats tool as a peer, signals, ports that are
// taken, processes that die. It holds tests alone, by what happens:
//
//	plain_test.go     the nats tool submits and reads, with no tool of ours
//	emit_test.go      ds emit, and what it says when it cannot
//	million_test.go   a million lines; the same while muxd or ingestd is killed
//	folder_test.go    folders, ports, pages that are taken
//	takeover_test.go  a node's own mux beside a gateway
//	stop_test.go      SIGTERM, a second signal, kill -9
//	away_test.go      NATS comes late, goes and returns; a store is deleted
//	help_test.go      --help, ds wait
//	readme_test.go    the blocks of README.md and docs that are marked to run
//
// A claim about what is committed is always checked against what the store
// holds, read back with ingestd/store as any client may.
package scenario
