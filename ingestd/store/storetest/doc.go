// Package storetest is the one suite that every reader of the stored form
// passes: store.Reader on a real server, and memstore.
//
//	                   storetest.Run(t, open)
//	                      │             │
//	Writer, server ── store.Reader   memstore.Store ── its own Commit
//	                      │             │
//	               the same answers, the same calls of fn
//
// What it holds them to (each a test that says so):
//
//  1. Commits come whole, in the order of the store, with every payload, from
//     any range; ranges that are read at once add up to the whole. (P8.2)
//  2. A commit that is visible in part is shown to nobody; it is shown once
//     it is whole, or once the next commit proves that it never will be. (P8.2)
//  3. Foreign messages are skipped and counted, wherever they lie. (P8.4)
//  4. Find gives the first commit that is not too early. (L3.2)
//  5. What was evicted is reported in its place, and nothing else lacks. (P8.3)
//  6. A follower gets every commit once, in order, while others write and
//     while its connection and its server come and go. (S2.2, S5.1)
//
// Random tests log their seed. Each test has a store of its own; goroutines
// end with their test.
package storetest
