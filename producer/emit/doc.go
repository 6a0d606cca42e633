// Package emit is the way into the pipe: a handle that takes a channel and a
// payload, and the sugar over it.
//
// Publishes <prefix>.submit.<node>.<channel…>. A Paced handle also reads
// <prefix>.settled.<node>.* and the answers in its own inbox.
//
//	                ┌ Local ── Sink: a mux in this program
//	Submit ─▶ Handle┤
//	                └ Remote ─ backlog ─▶ drain ─▶ NATS      observers: never wait
//	Submit(ctx) ───▶ Paced ── backlog ─▶ pacer ⇄ window ⇄ NATS   importers: may wait
//
// Promises:
//
//  1. Submit of a Handle copies the payload, never blocks, returns nothing, and
//     may be called from any goroutine, whatever the connection does. (P4,
//     P4.2, P9.4)
//  2. Every call of Remote.Submit before Close spends one number of its
//     producer, kept or dropped. So what a mux counts as received and as missing
//     adds up to the calls, even if the buffer overflowed before the handle was
//     first connected, or a cut lost what the connection had accepted. (P4.2,
//     P9.3)
//  3. The number of a dropped frame is spent at the end of the slice (at most
//     4096 frames) in which it was dropped.
//  4. Frames of one goroutine and one channel keep their order. Backlogs travel
//     as runs, cut in slices; a single frame travels at once. (P3.1)
//  5. Everything is bounded: the backlog by frames and bytes, a paced handle's
//     unanswered runs by its window; what a bound drops is counted by reason.
//     (P4.1)
//  6. A Paced handle says exactly how many of the frames it took were settled,
//     how many lost and how many are unknown, and says settled only of what was
//     committed. Package window has the details. (P4.3)
//
// Marks. A Remote publishes a mark, its next number without a frame, to the
// channel it last used ("mark" if none): before its first frame, and until the
// server has confirmed that one nothing else is sent; after every reconnect; one
// second after its last submission and three times more at intervals of 10 s,
// if nothing else is submitted; within a loss of more than 2^20 frames; at
// Close. A new handle has a new producer id.
//
// Goroutines and buffers. A Remote and a Paced have one goroutine each, ended by
// Close. Payloads are copied into chunks of 64 KiB; a Remote uses them again
// once they are published, a Paced leaves them to its runs.
//
// Failure. While the connection is away both keep what they hold and a full
// buffer drops the new frame (Remote) or lets Submit wait (Paced). A connection
// that is closed for good ends both: what they hold is counted as unsent or
// lost, and Submit takes nothing more. A frame that the connection refuses,
// because it exceeds the server's max_payload, is counted as refused. What a
// plain publish lost between a live connection and the mux only the mux sees.
package emit
