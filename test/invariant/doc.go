// Package invariant holds the pipe to its promises: one test for each
// invariant of P9, and tests that try to break them from outside with forged
// messages, hostile names, lost and repeated messages, and clients that
// misbehave. Everything runs over the real stack; nothing is a double but the
// carrier.
//
//	test ──submit──▶ muxd ──▶ courier ──▶ ingestd ──▶ store
//	                          drops, delays,            │
//	      watcher             repeats, reorders         ▼
//	 sees every subject                              archive
//	 that is published                     every stored message, raw
//
// A pipe is a running stack with a watcher and an archive. The archive reads
// the stream with the plain JetStream client and the frame codec alone, and
// fails the test when a position is stored twice or a subject is not canonical.
// The watcher does the same for everything that is published under the prefix.
//
// Promises:
//
//  1. Every wait is for a state; nothing is asserted about time.
//  2. Whatever is random prints its seed; the flag -seed repeats it.
//  3. A courier does only what a transport may do (P6): a message that it
//     passes on is the message that it was given.
//  4. A test that tampers with nothing shares one pipe with the others and uses
//     nodes of its own.
//
// The package has tests alone; its goroutines end with the pipes.
package invariant
