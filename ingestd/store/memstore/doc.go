// Package memstore is the store in memory: what store.Reader reads of
// JetStream, this reads of a slice, for tests of whoever reads the store.
//
//	s := memstore.New()
//	s.Commit(msgs, instant)            s.AddPart, s.AddForeign, s.Evict
//	   │
//	   ▼   first                                      last
//	 ┌─────────┬────┬────┬────┬─────────┬────┬────┬────┐
//	 │ evicted │ 42 │ 43 │ 44 │ foreign │ 46 │ 47 │ 48 │   one entry a sequence
//	 └─────────┴────┴────┴────┴─────────┴────┴────┴────┘
//	   s.End, s.Find, s.Read, s.ReadBack, s.Follow
//
// Promises:
//
//  1. Its methods have the names, signatures and answers of store.Reader's:
//     storetest holds both to one suite. It is written plainly and on its own,
//     so that each also checks the other.
//  2. It never fails but for what its caller does.
//  3. Two stores differ in their creation time, as two streams do.
//
// It has no clock and no goroutine, and speaks no NATS. A Store is safe for
// concurrent use; functions that are called back are called without its lock,
// on what was stored when the read began. It copies the runs it is given. It
// grows until Evict is called.
package memstore
