// Package view turns stored frames into the rows of an answer: one operator a
// file, chained in the order in which a query is executed (L11).
//
//	Frame ─▶ source ─▶ where ──▶ kept ──▶ where ──▶ group ──▶ sort ─▶ limit ─▶ project ─▶ Row
//	         scope     cheap     EVENTS   payload   COUNT     SORT    SKIP     SELECT
//	         pattern   fields    LOGS     paths     TOP               TAKE
//	         times  └▶ latest, channels ─▶ where ─▶ DISTINCT …
//	Account ─▶ STREAMS, GAPS, gap rows
//
// A Spec says which operators stand in a chain; package plan makes one of a
// query. Open makes a Run of it: whoever reads the store hands the Run first
// the accounts of streams, where the Spec asks for them, then frames in the
// commit order that the Spec names, and ends it with Finish.
//
// Promises:
//
//  1. Every record of the frames that belongs to the answer comes out exactly
//     once, in the order of L7, or an error: never a truncated answer. (L7,
//     L8.4)
//  2. The answer does not depend on frames outside the Spec's scope, pattern
//     and times being handed over or not: what the store can filter may be
//     pushed into the read. (L11)
//  3. Before a record matches it costs no allocation, and its payload is
//     decoded only if every condition on other fields holds.
//  4. What is held counts against Memory, with its overhead. With TAKE, a sort
//     holds only the best SKIP+TAKE. (L8.4)
//  5. A gap row stands right before the first frame of its stream beyond it,
//     is not counted by SKIP and TAKE, and is left out only where it cannot
//     concern the query. (L4.4)
//  6. Full reports that no further frame can change the answer, so that a
//     reader may stop. It is never true too early.
//  7. What has aged out is evicted and never lost; what a beat says was
//     drained is pending while the life lasts and lost after it; a gap is
//     called dropped only where the mux's count covers all that is absent.
//     (P8.3)
//
// # Ownership
//
// A Frame and its payload are the caller's and looked at during the call
// alone; what is held is copied. A Row, and every value in it, holds until
// the function that takes it returns. A Run belongs to one goroutine; a Spec
// never changes and may be opened any number of times at once. The package is
// pure: no clock, no goroutine, no NATS.
//
// # Failure
//
// No data makes a Run fail: what does not decode is raw, or no record. It
// fails with ErrMemory when what it must hold finds no room, and with what the
// taker of rows returned. A Run that failed is over, and gave no part of an answer that could be taken
// for the whole: its reader hears the error.
package view
