// Package gate is the way in which users' consumers are made: it reads each
// request to make one and hands on what may be, in words of its own.
//
// It reads  <prefix>.api.CONSUMER.CREATE.<stream>            requests of users, which the
//
//	<prefix>.api.CONSUMER.CREATE.<stream>.>          server moves here from $JS.API
//	<prefix>.api.CONSUMER.DURABLE.CREATE.<stream>.*
//	<own inbox>.…                                    JetStream's answers
//
// and writes $JS.API.CONSUMER.CREATE.… and …DURABLE.CREATE.… (requests), and
// answers under _INBOX., nowhere else.
//
//	users ─ $JS.API.CONSUMER.CREATE.S.> ─▶ server ─ <prefix>.api.CONSUMER.CREATE.S.> ─▶ chan (1024)
//	                                                                                     │
//	      ◀── _INBOX.… ── the answer, as it came ◀── JetStream ◀── request ◀── decode, check, encode
//	      ◀── _INBOX.… ── a refusal, in JetStream's own form ◀─────────────────┘  (64 at a time)
//
// Why: where a push consumer delivers is in the body of the request that makes
// it, which no permission of the server sees. The server delivers to any
// subject, and a consumer's idle heartbeat is an empty message on the subject
// that it is sent to: a request that deletes the store, or an empty value for
// a key of the ledger's checkpoint.
//
// Promises:
//
//  1. A consumer that is made here pulls, or is pushed to a literal subject
//     under _INBOX.: nothing that it sends is a word of the pipe. (P2.3, P2.4)
//  2. It reads the pipe's stream, and no other.
//  3. What JetStream gets is the request as it was understood, encoded anew,
//     never the bytes that came: a key in another spelling or twice cannot
//     mean one thing here and another there. A field that is not known here
//     is refused by name, so that nobody gets a consumer he has not asked for.
//  4. Answers go under _INBOX. only; a request with another reply subject, or
//     none, is dropped and counted. (P2.4)
//  5. JetStream's answer is handed on as it came. A refusal looks like one of
//     JetStream's, and says what was wrong and what to do.
//  6. A request has at most 64 KiB; 64 are under way at a time, one more is
//     answered that it is to come again; 1024 wait, and what comes on top is
//     counted. A consumer that is not durable ends when it was idle for an
//     hour, or sooner.
//  7. The gate needs nothing of ingest but its connection: it serves while
//     commits fail.
//
// Consumers that are there already, pulls, acknowledgements and direct gets do
// not pass here. Several gates of one pipe share the requests.
//
// A Gate owns one goroutine, and one for each request under way (64 at most).
// All end in Close, which answers what has arrived.
package gate
