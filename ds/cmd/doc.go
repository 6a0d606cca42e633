// Package cmd is the ds command line: one command a file.
//
//	ds up                 the whole stack in one process
//	ds wait               until a stack answers
//	ds emit CHANNEL       submit, and know that it is committed
//	ds bench              the speed of this machine, beside plain NATS
//	ds muxd, ds ingestd   the daemons; also under these names by argv[0]
//
// Rules: data on stdout, all else on stderr; exit 0 done, 1 failed, 2 wrong
// usage, 130 on Ctrl-C; a closed pipe is a clean end. Connection flags and
// variables are those of the nats CLI.
//
// Subjects: those of producer/emit and stack, and $SRV.PING, which ds wait asks.
package cmd
