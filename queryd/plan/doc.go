// Package plan makes of a parsed query what is to be read and what is to be
// done with it.
//
//	syntax.Query ──┐
//	catalog ───────┼─▶ New ─▶ Plan ─┬─ Read   which frames, in which order,
//	evaluation time┘                │         until when, with payloads or not
//	                                └─ Spec   the chain of view's operators
//
// Promises:
//
//  1. A Plan is a value: nothing in it changes, and any number of runs may be
//     opened of it at once.
//  2. What is read is never less than the answer needs; that it is no more
//     than scope, pattern and times let through is the reader's gain alone:
//     the answer is the same with and without. (L11)
//  3. A time is resolved once, against the evaluation time that New was given,
//     and serves the watch too. (L3.1)
//  4. Addresses (node, life, channel) compare byte for byte, everything else
//     folded. (L5.2)
//  5. A clause that is not there yet is refused by name and column, with
//     ErrAbsent, before anything is read; none is ever passed over.
//
// The package is pure: no clock, no goroutine, no NATS. Errors of the query's
// text are *syntax.Error, as the parser's.
package plan
