// Package server is the embedded NATS server: the same server, limits and
// permissions as deploy/nats-server.conf, inside this process.
//
//	            user      may publish (P2, P2.3, P2.4)
//	muxd ─────► muxd      ds.frame.> ds.beat.>                     ┐
//	ingestd ──► ingestd   ds.settled.> ds.repair.> ds.store.> $KV  │  and answers
//	queryd ───► queryd    ds.client.>, reads of JetStream          │  to _INBOX.>
//	$SRV ─────► service   ds.client.>                              ┘
//	people ───► operator  everything but $SYS
//	others ───► anonymous ds.submit.> ds.query(.>) ds.flow.> $SRV.>,
//	                      reads of JetStream
//
// Subjects: this package neither reads nor writes any; it says who may.
//
// Promises:
//
//  1. Who may publish what is enforced by the server, for TCP and in-process
//     connections alike (P2.3). A client without credentials is anonymous;
//     one with wrong credentials is refused.
//  2. The service connection may publish nothing but answers, so that a
//     request to $SRV with a forged reply subject stores nothing (P2.4).
//  3. Reading through $JS.API is open to everyone, changing a stream or its
//     messages to ingestd and the operator alone.
//  4. JetStream acknowledges after fsync (P8), and no reader slows a
//     publisher down (S5.6).
//  5. One process holds a data folder at a time; the second one is told who.
//     The hold ends with the process, however it ends.
//  6. Permissions derive from the subject space and the stream's name alone;
//     a test compares them with deploy/nats-server.conf.
//
// What subject permissions cannot say: a reader may create any number of
// consumers, delete those of others, and let a push consumer deliver stored
// bytes to a subject it may not publish to. The API and the keys of a bucket
// are safe from these (a test holds it); but a bucket can be filled with
// messages that are no keys, so buckets need a size, and handlers look at a
// message's own subject (P2.4). The secure set-up withdraws $JS.API from
// clients (S6.5).
//
// Start blocks until the server answers or has failed; the goroutines are the
// NATS server's and end in Close, which waits for them. A Server is safe for
// concurrent use. When the server has something to say, warnings and errors
// go to the given logger, at most one a second after a burst of 20 (clients
// can provoke them); the line after a silence says how many were left out.
package server
