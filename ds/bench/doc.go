// Package bench measures how fast the pipe is on this machine, beside what
// plain NATS does with the same bytes in the same run: ds bench.
//
//	            ┌ core     publish → subscribe, nothing stored
//	the same    ├ bare     atomic batches, fsynced, no headers of ours
//	bytes ──────┤ commit   the same through ingestd/store: Ds-* and the fence
//	            └ whole    producer → muxd → ingestd → fsynced commit, settled
//
// Subjects: those of stack and producer/emit, and, as the server's operator,
// bench.> with a stream of its own for everything that is compared.
//
// Groups. micro: pure code, no NATS. hot: 128-byte lines over 10 channels, in
// runs of up to 16 KiB. wide: the same lines over 5 000 channels, a message a
// frame. single: plain clients that publish frame by frame to 10 channels.
// latency: 2 000 frames/s over 50 channels.
//
// Promises:
//
//  1. What is compared is measured in turn, A B A B, in one run: a round of
//     each first, uncounted, then at least as many rounds as asked for. A
//     ratio is the median of the rounds' ratios, with its quartiles; a bound
//     that lies between them is not resolved, and said so. (package
//     spread)
//  2. A rate ends when every frame is where it was to go: received, or
//     acknowledged after its fsync, or settled. A measurement in which a frame
//     was lost is an error, never a number.
//  3. Clients and server share one process, as in ds up, so that allocations
//     are those of all of them, the server included. Garbage of one
//     measurement is collected before the next begins.
//  4. Latency is measured with submissions that never wait for what came
//     before them, from the call of Submit, or of the plain publish.
//  5. Whatever it stores lies in a temporary folder, which it removes; the
//     streams that are compared are made anew for each round.
//
// Run owns every goroutine; all have ended when it returns. A context that
// ends makes it stop and return what ended it.
package bench
