// Package stack runs the whole pipeline in one process, on an embedded
// nats-server: ds up, tests and benchmarks all start this one.
//
//	Stack ─┬─ server.Server   embedded NATS with its users and permissions
//	       ├─ muxd/run        each daemon with its own identity and
//	       └─ ingestd/run     connections, as in processes of their own
//
// Subjects: those of its parts; it reads and writes none itself.
//
// Promises:
//
//  1. Nothing here is a special case of the daemons: they get a URL and
//     credentials, as they would anywhere.
//  2. A store is made only in a folder that has never had one; one that is
//     gone is an error (P8.4). A file in the folder, written once the store is
//     there, remembers it.
//  3. Stop order: muxd (whose frames ingest still commits), ingestd, server.
//
// A Stack is safe for concurrent use. Its goroutines end with Close.
package stack
