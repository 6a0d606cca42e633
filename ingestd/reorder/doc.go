// Package reorder puts the runs of one stream in order of position, without a
// clock: time goes in, runs come out.
//
//	 pushed, as they come        Window                        Ready
//	┌───────────────────┐   ┌─────────────────────────┐   ┌──────────────────┐
//	│ a: 0 2 4 │ b: 1 5 │──▶│ next=3   wait: a4 b5     │──▶│ a0 b1 a2         │
//	└───────────────────┘   │          └ 3 is a hole  │   └──────────────────┘
//	                        └─────────────────────────┘
//
// Next is the position up to which everything has gone on. A frame at Next goes
// on at once, and takes along whatever it was missing for; a frame above waits
// behind the hole; one below is late and goes on beside the others.
//
// Promises:
//
//  1. What is pushed goes on, each frame once: in ascending positions, or as
//     late. Nothing is refused. (P7.1, P9.7)
//  2. A frame in order never waits. (P7.1)
//  3. A frame waits at most Wait; then it takes everything below it along, and
//     Next passes the holes. (P7.1)
//  4. Frames that wait cost at most Bytes. When a push would pass that, the
//     lowest go on until the rest fits, and Next passes their holes: these stay
//     open, and their frames are late if they come. So the traffic behind one
//     lost frame goes on in order, whatever its rate. (P7.1, P7.2)
//  5. A slice that was cut for P3.1 and arrives in order leaves nothing waiting
//     behind it, however its channels were interleaved.
//  6. The cost is by runs and by consecutive stretches of them, never by
//     positions; single-frame runs in order cost O(1) and allocate nothing once
//     the buffers have grown.
//
// # Ownership
//
// A Window belongs to one goroutine. It keeps the runs pushed until they go on,
// and hands out slices of them: no payload is copied, none is kept after. The
// caller owns the slices of runs that it passes to Ready and Force. Frames that
// are ready or late, those that Bytes made go on among them, are not bounded
// here: call Ready after a Push, and before much is pushed.
//
// # When things fail
//
// Nothing here can fail. The caller removes duplicates (ledger.Account.Arrive);
// a position pushed twice would go on twice, the second time as late.
package reorder
