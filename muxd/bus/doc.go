// Package bus is the mux's edge to NATS: submissions come in, positioned
// frames, beats and repairs go out.
//
// It reads  <prefix>.submit.<node>.>   submissions (P4)
//
//	<prefix>.beat.*.*          other muxes, to find conflicts (P5.5)
//	<prefix>.settled.<node>.*  how far ingest is (P5.3)
//	<prefix>.repair.<node>.*   requests to send frames again (P5.3)
//
// and writes <prefix>.frame.…, <prefix>.beat.… and answers under _INBOX., to
// repair requests also under the prefix of the connection's own inboxes.
//
//	              ┌────────────── intake loop ───────────────┐
//	NATS ──chan──▶│ submissions ─▶ Mux.Submit ─┐             │
//	              │ settled ─▶ Ring.Settle     │ wake        │
//	in-process ───┼──────────▶ Mux.Submit ─────┤             │
//	              │ ticks ─▶ beats, timeouts   ▼             │
//	              └─────────────────────── drain loop ───────┘
//	                                  Mux.Drain ─▶ Ring.Add ─▶ NATS
//	              repair requests ─▶ repair loop ─▶ NATS, 16 MiB/s
//
// Promises:
//
//  1. Nothing here makes a submitter wait: a full buffer drops the new frame
//     and its position stays spent. (P5, P9.4)
//  2. All subscriptions feed one channel, so that a beat, a submission and a
//     settled announcement are handled in the order in which the server sent
//     them: a gateway yields exactly at the other mux's beat. (P5.5)
//  3. A beat says that positions were drained only after their frames were
//     handed to the connection: who hears it has nothing to ask for. (P7.6)
//  4. A message whose own subject is not of the class its subscription serves
//     is refused and counted, whatever it holds. (P2.4)
//  5. Answers to submissions go only under _INBOX. (P2.4)
//  6. A stream that is yielded, idle or of a process that was suspended stays
//     to be repaired until it is settled; only the end of the process has a
//     deadline. (P5.3)
//  7. A node's own mux that stops hands the node to a gateway first, with a
//     leaving beat: what both take is two lives, nothing falls between. (P5.5)
//
// One mutex guards nodes, ring, streams and outbox; nothing waits for the
// connection while it is held. While disconnected the bus goes on draining
// into the ring. Stop order: leave, stop intake, drain the muxes, wait for
// settled under a deadline, closing beats, flush.
package bus
