// Package intake is ingest's edge to NATS: frames and beats come in, commits,
// repair requests and settled announcements go out.
//
// It reads  <prefix>.frame.>    positioned frames, from every mux
//
//	<prefix>.beat.*.*   what the muxes say of themselves
//	its own inbox       answers to repair requests
//
// and writes <prefix>.repair.… (requests), <prefix>.settled.…, and through
// ingestd/store the stream of committed frames.
//
//	NATS ─chan─▶ relay ─▶ Inbox (64 MiB) ─▶ route loop ─────────────┐
//	                                        │ Ledger: what arrived  │
//	                                        │ Window: in order      │
//	     repair requests, settled ◀─────────┤ queue (64 MiB)        │
//	                                        └──▶ one commit at a time
//	                                               │        ▲
//	                                               ▼        │ outcome
//	                                             commit loop (store.Writer)
//
// Promises:
//
//  1. Every position is committed at most once; the first frame that arrives
//     at a position wins. (P7.2, P9.6)
//  2. Frames of a stream are committed in ascending positions, late ones
//     apart; each commit lies above the one before. (P7.3)
//  3. A commit goes out as soon as something waits and the commit before is
//     acknowledged: few messages as pipelined singles, more as one atomic
//     batch. Nothing is announced as settled before its fsync. (P7.3)
//  4. After an unclear result the store's tail is read before anything else
//     is written. While commits fail nothing is given up. (P7.4, P7.7)
//  5. Whatever a bound drops is counted and has not arrived: it is a hole,
//     and repair may still heal it. (P7.7)
//  6. A life that was forgotten to make room for others does not come back:
//     its frames and beats are refused and counted. (P7.2)
//
// The route loop owns ledger, windows and queue; the commit loop owns the
// writer while a job is out. They share nothing but jobs and outcomes. Frames
// are never copied on their way, but where small runs are joined.
//
// Stop order: unsubscribe, take in what has arrived, let windows go, commit
// under a deadline, announce, return.
package intake
