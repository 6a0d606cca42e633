// Package server is the embedded NATS server: the same server, limits,
// accounts and permissions as deploy/nats-server.conf, inside this process.
//
//	 account PIPE, with JetStream                     │  account USERS
//	            user      may publish (P2, P2.3, P2.4) │
//	muxd ─────► muxd      ds.frame.> ds.beat.>         │  user: anonymous
//	                      _INBOX.>                     │
//	ingestd ──► ingestd   ds.settled.> ds.repair.>     │
//	                      ds.store.> $KV _INBOX.>      │
//	queryd ───► queryd    ds.client.> _INBOX.>         │
//	$SRV ─────► service   ds.client.> _INBOX.>         │
//	people ───► operator  everything but $SYS          │
//	                                                   │
//	 ◄── ds.submit.> ds.query(.>) ds.flow.> $SRV.> ────┤  as they are
//	 ──── ds.frame.> ds.beat.> ds.settled.> ──────────►│  as they are
//	      ds.store.> ds.client.> _INBOX.>              │
//	 ◄── $JS.API. INFO, STREAM.INFO, DIRECT.GET … ─────┤  as services
//	     $JS.ACK.> $JS.FC.>                            │
//	 ◄── ds.api.CONSUMER(.DURABLE).CREATE.S… ──────────┤  as $JS.API.CONSUMER…
//	     to the gate in ingestd                        │
//
// An account has subjects of its own; what is drawn crosses, nothing else.
// Two of them are needed because JetStream answers to any reply subject that
// its asker names, and no permission is asked for an answer: in one account
// everybody could have frames, settled announcements and stored messages
// published in the pipe. As a service of another account it sees a reply
// subject of the server's, and its answer ends in the asker's own account.
//
// Where a push consumer delivers is in the body of the request that makes it,
// which no permission sees, and JetStream delivers to any subject of the pipe;
// a consumer's idle heartbeat there is an empty message, on the subject of a
// request that deletes the store, say. So the requests of users for consumers
// of the stream do not go to JetStream: they arrive, moved to ds.api., at the
// gate (ingestd/gate), which reads them and asks in its own name.
//
// Subjects: this package neither reads nor writes any; it says who may.
//
// Promises:
//
//  1. Who may publish what is enforced by the server, for TCP and in-process
//     connections alike (P2.3). A client without credentials is anonymous;
//     one with wrong credentials is refused.
//  2. Between users and the pipe the subjects drawn above cross, and no other.
//     The daemons' own inboxes (InboxPrefix) do not: nobody outside hears or
//     forges an answer to a daemon.
//  3. What JetStream sends for a user reaches users only: an answer, whatever
//     reply subject the question bore, and what a consumer delivers, heartbeats
//     included, as long as ingestd's gate alone takes requests from ds.api.
//  4. The service connection may publish nothing but answers, so that a
//     request to $SRV with a forged reply subject stores nothing (P2.4).
//  5. Reading through $JS.API is open to everyone, changing a stream or its
//     messages to ingestd and the operator alone. Without ingestd users get no
//     new consumers, and are told at once that nobody responds; consumers that
//     are there and direct gets go on.
//  6. JetStream acknowledges after fsync (P8), and no reader slows a
//     publisher down (S5.6).
//  7. One process holds a data folder at a time; the second one is told who.
//     The hold ends with the process, however it ends.
//  8. Accounts and permissions derive from the subject space and the stream's
//     name alone; deploy/nats-server.conf says the same, and tests of
//     behaviour run on both.
//
// Among themselves users are not kept apart: a reflected answer can be heard
// under any subject in their own account, so that a tail of ds.frame.> shows
// what a neighbour has made up. What is stored, and what the pipe says in
// answer to a request, is not of a neighbour's making. Consumers belong to
// nobody: a user may delete another's, or a daemon's, which its client makes
// anew.
//
// Start blocks until the server answers or has failed; the goroutines are the
// NATS server's and end in Close, which waits for them. A Server is safe for
// concurrent use. When the server has something to say, warnings and errors
// go to the given logger, at most one a second after a burst of 20 (clients
// can provoke them); the line after a silence says how many were left out.
package server
