// Package store is the sole owner of the stored form: the JetStream stream
// that holds every committed frame, the one way to write it and the exact way
// to read it.
//
// Subjects it writes: ds.store.<node>.<life>.<channel…>, one message a run.
// Subjects it reads: the same, through an ephemeral consumer; answers come
// under the connection's inbox prefix; and it asks $JS.API for the stream's
// state, for single messages, for consumers and, with Config.Init, to make the
// stream.
//
// A commit of three messages onto a stream whose last sequence is 41:
//
//	     Writer                              JetStream, sync_interval: always
//	       │ Nats-Expected-Last-Sequence: 41       │
//	       │ Nats-Batch-Sequence: 1 ──────────────▶│ staged, unseen
//	       │ Nats-Batch-Sequence: 2 ──────────────▶│ staged, unseen
//	       │ Nats-Batch-Sequence: 3, Commit: 1 ───▶│ last still 41? store all
//	       │                                       │ three, fsync once
//	       │◀─────────────── ack seq 44, count 3 ──│ readers see 42, 43, 44
//
//	each of them:  subject  ds.store.n1.01JD….proc.trainer.stdout
//	               Ds-Pos: 7   Ds-Run: 5,2,3+4   Ds-Commit: 42/3/1764523094…
//	               body     payloads, a newline between two of them
//
// and the ways to read it, all of whole commits and in order but the last:
//
//	first                          from        to                  End
//	  │                             │           │                   │
//	──42────────────────────────────┼───────────┼───────────────────71─ 72 73 …
//	  gone │         Find(instant) ▲ └── Read ──┘                        half
//	       └ said by Commit.Gone             ReadBack ◀─────────────┘   visible
//	                                                       Follow ──────────▶
//	  Scan: single messages, up to wherever the stream ends
//
// Promises:
//
//  1. A commit is all or nothing, and fsynced before Commit returns nil,
//     provided that the server runs with sync_interval: always, which no
//     client can ask it about. (P7.3, P8)
//  2. Every commit is fenced by the sequence that its first message is to
//     get, which Ds-Commit names. So two writers can only alternate by
//     commits, and one that has missed another's commit is refused. (P7.4)
//  3. After any error, Resync tells from the stream's leader what landed and
//     moves the fence. A write of ours that was delayed past the Resync either
//     was reported by it or makes the next commit fail with ErrFence. So
//     whoever resyncs, and writes again only what was not reported, commits
//     every message exactly once. (P7.4)
//  4. The instant of a commit is never below that of any valid message the
//     Writer has seen in the stream; by promise 2 it has seen all before it.
//     (P8.1)
//  5. A Scan hands over every stored message from where it was told to the end
//     of the stream as it was at the call, in order and once, or returns an
//     error. What lacks is shown by the stream itself to be expired or deleted.
//  6. A message whose subject is not canonical, whose headers are no run, or
//     whose Ds-Commit does not hold its sequence is foreign: skipped and
//     counted. (P8.4)
//  7. A stream is only ever made with Config.Init; one that does not keep these
//     promises is refused with an error that names the field; one that was
//     deleted, made anew or rewound under a Writer or a Reader ends it with
//     ErrNoStream or ErrRecreated. (P8.4)
//  8. A Reader shows whole commits only: one that is visible in part is shown
//     once its last message is there, or once the next commit proves that the
//     rest will never come. (P8.2)
//  9. Read, ReadBack and Follow hand over every message of what they were
//     asked for once, or return an error; what the stream has let go of, Read
//     and Follow report in its place. (L3.2, S2.2)
//  10. A Follow outlives broken connections and restarts, without a hole or a
//     repeat, and FollowErr says what stops it. (S5.1)
//
// One limit of 2 and 4, of pipelined singles alone: their fences are
// consecutive, so one whose predecessors are refused passes if something else,
// of another writer or of ours and delayed, has just got the sequences before
// it. It is committed once and whole, but ahead of its predecessors, and may
// bear an earlier instant than the commit it follows. That takes two writers at
// work at once, which the lease of P7.4 is there to prevent, or a write that
// lands after a Resync and the next commit.
//
// Ownership. A Writer belongs to one goroutine, but for LastSeq and
// Foreign. It starts no goroutine. It reads the runs given to it until Commit
// returns and keeps nothing of them. A Stored belongs to whoever gets it; its
// payloads share one body that nobody else holds. A Reader is safe for
// concurrent use, starts no goroutine and holds nothing between calls; the
// slice of a Commit's messages is used again for the next.
//
// Failure. Every wait is bounded by Config.Timeout or the caller's context. A
// connection that breaks is seen at once and makes the commit ErrUnclear. A
// server that stops reading its socket is seen when the write times out: set
// nats.FlusherTimeout to no more than Config.Timeout. A server whose disk is
// full does not answer: ErrUnclear after Timeout. A batch that was begun and
// not finished is forgotten by the server after ten seconds; it keeps at most
// 50 of them, and more are refused as ErrFull. A Read that fails has handed on
// what it says, and can be taken up behind it; a Follow does so by itself.
//
// Bounded: the subjects remembered to save encoding them (32 768, then begun
// anew, nothing lost), the bytes a read has in flight (4 MiB, or the size of
// one message where that is larger), a commit that a reader gathers (64 MiB;
// a header that claims more is handed on in parts), a window of ReadBack (16
// MiB, or one commit).
package store
