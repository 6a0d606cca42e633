// Package mux gives positions: it is the only place that does. A Mux stamps
// the frames of one stream and buffers them; around it stands what decides,
// without clock or network, which stream a submission belongs to and what is
// missing before it.
//
//	submission ─▶ Nodes ── which mux? ───────────▶ Mux          Slice
//	                │ foreign, yielded,      position, buffer ─▶ Drain ─▶ bus,
//	                │ no room: refused        one critical       cuts     ring
//	                ▼                           section
//	             Producers ── what is missing? ─▶ Skip
//	             Paced ────── in turn? room? ───▶ whole or not at all
//
// Promises:
//
//  1. Position and buffer are one critical section: what Drain hands out is in
//     position order, and no two frames bear one position, whoever submits.
//     (P1.2, P5.1, P9.2)
//  2. Submit never waits for room. A frame that finds none is dropped; its
//     position stays spent and is given to nobody. (P5, P9.4)
//  3. Drops are detectable: at every look, the positions assigned are those
//     Drain handed out in cuts, plus those buffered, plus those counted as
//     dropped, by reason. Slices follow each other without a hole. (P9.3)
//  4. Buffers are bounded by frames, by bytes and, over all muxes of a
//     process, by Shared; a frame counts from Submit until the slice that
//     holds it is handed out. A stream bears a bounded number of channels.
//     (P5.1, P5.4)
//  5. After the last position, and after Close, nothing is taken. (P1.2)
//  6. A numbered producer's loss spends one position a number missing; a new
//     start spends one. (P4.2)
//  7. A paced run is taken in its producer's order, whole, at consecutive
//     positions, and at most once as long as it is remembered; or it is
//     refused and has spent nothing. A run that waits is not overtaken by
//     later ones of other producers, and waits no longer than Hold. (P4.3)
//  8. A node has one open mux here, or none; two lives never share a Mux. An
//     overlap with another process's mux is counted. (P1.1, P5.5)
//
// Ownership: a run belongs to the mux once it was submitted and taken; nobody
// may read its positions from then on, until Drain hands it out. The list in a
// Slice belongs to the caller; the runs in it are shared by all sinks and the
// ring, and never written again.
//
// Concurrency: Mux and Shared are safe from any goroutine, but one goroutine
// at a time drains a mux. Nodes, Producers and Paced are not safe: the bus
// calls them from its intake, or under its lock. The package starts no
// goroutine and reads no clock, and has no failures of its own: what is refused
// is said in what it returns, what is dropped is counted.
package mux
