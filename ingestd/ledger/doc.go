// Package ledger keeps, for each stream, what arrived, what is committed and
// what is given up, as intervals of positions; it decides what to ask for
// again and when a position is settled.
//
//	position    0      4   7          20        31        40
//	arrived     ███████───██████████████████████───────────   frames taken
//	committed   ███████───████████████────────────────────   fsynced
//	gone        ·······▒▒▒·································   given up
//	                              ▲                       ▲
//	                            Below                  horizon
//
// A hole is a stretch below the horizon that has not arrived. The horizon is
// one past the highest position that arrived or that a beat called drained.
// Not every hole is a loss: the runs of a slice interleave, and while it comes
// in, positions are missing that are on their way. But a mux sends runs in
// ascending first positions. So once a run has arrived, everything below its
// first position was sent before it, and so was everything below Drained of a
// beat: only holes there are asked for. (P3.1, P7.6)
//
// Below is the first position that is neither committed nor given up. Every
// operation costs by intervals, never by positions: one frame at 0 and one at
// 2^64-2 make one hole.
//
// Promises:
//
//  1. The first frame of a position is taken, any other is a duplicate,
//     whatever its bytes, through any number of commits and repeats of them.
//     (P7.2, P9.6)
//  2. Lives never merge: each stream has an Account of its own, and a life
//     that neither a beat nor the store made known has none. One that was
//     forgotten does not come back: neither its beats nor its stored frames
//     make it known again. (P7.2, P9.5)
//  3. For every life assigned = committed + gaps once it is over, and pending
//     is what lies between before that. (P8.3, P9.3)
//  4. A hole is asked for when it has been sure to be one for AskAfter, one request of a
//     stream at a time, then once each AskAgain while it may be healed. (P7.1)
//  5. A position is given up only when its mux says that it is gone, when it
//     lies below the oldest repairable, after Resends resends in vain, when
//     its life is over, or when a bound closes its hole. What is given up
//     stays so in Lost, but its frame is still committed when it comes. (P7.1,
//     P7.2)
//  6. Below and Lost never fall, and every position below Below is committed or
//     given up. An announcement's Gone is all by which Lost grew since the one
//     before, and if that was not heard, since the one that the mux knows, as
//     far back as 256 ranges reach.
//  7. While the ledger is held, because commits fail, nothing is given up; and
//     neither such a time nor one without a connection counts as a mux's
//     silence. (P7.7)
//  8. Memory is bounded: a stream with more than StreamHoles holes, or all
//     with more than Holes, have the lowest closed for good: its positions
//     count as given up, and a frame of one is refused and counted apart. A
//     hole counts once it is AskAfter old, since interleaved runs make and
//     fill many in between; younger ones have an allowance of one slice.
//     (P7.2, P3.1)
//  9. At most Streams lives are known. A new one takes the place of the one
//     that is over, or of which no beat was ever heard, and that has shown no
//     sign for longest; a living one is never forgotten, nor one whose frames
//     wait for their commit. The names of four times as many forgotten lives
//     are kept, those forgotten last. (P7.2)
//
// # Use
//
// The order of calls for a frame message, a commit and a moment:
//
//	ledger.Restore(stream, now), Beat(…)        then drop what Forgot names
//	account := ledger.Find(stream)              nil: refuse the message
//	fresh, dup := account.Arrive(run, fresh)    → reorder.Window.Push
//	account.Drop(refused)                       what a buffer refused
//	account.Commit(run)                         after the fsync, or when read back
//	account.Ask(now), Answer(…)                 when Due, or every millisecond or so
//	account.Tick(now)                           every second or so, while connected
//	account.TakeGone()                          → Window.Pass, after any of these
//	account.Settled()                           → announce when changed
//
// # Ownership
//
// Everything belongs to one goroutine; nothing is safe for concurrent use. No
// clock is read: the latest instant that any call was told is the time, and it
// never falls. Runs are looked at, never kept. Slices that are returned are the
// caller's.
//
// # When things fail
//
// Nothing here can fail but Beat, when the life was forgotten (ErrForgotten) or
// has no room (ErrStreams). A frame dropped after it arrived is a
// hole again (Drop), rests for AskAgain, and is asked for like any other. A
// request without an answer rests as long. After an unclear commit, calling
// Commit for whatever the store holds sets things right: it is idempotent.
package ledger
