// Package window is the protocol of a paced submission handle (P4.3), without
// its connection: which run is sent when, what an answer means, and what has
// become of every frame.
//
//	            Next                  Answer                 Settled
//	Enqueue ──▶ due ──▶ in flight ──────────▶ taken (life) ──────────▶ settled
//	             ▲          │                    │                  └▶ lost
//	             └──────────┘ refused: go back   └ life over, silent ▶ unknown
//	               silence: send again
//
// Runs are numbered by Ds-Seq in the order of Enqueue; a mux takes only the run
// whose number it expects, whole. So within one life a run may be sent any
// number of times and is taken once.
//
// Promises:
//
//  1. Every enqueued frame ends as exactly one of settled, lost or unknown;
//     settled is only said of frames that were committed. (P4.3)
//  2. A run is sent again under another number only if every transmission of
//     it was refused, which proves that no mux took it. If a life ended and a
//     transmission was never answered, its frames are unknown, and are not sent
//     again.
//  3. Frames that the announcements cannot attribute are unknown, never
//     settled: the growth of lost must equal the positions listed as gone.
//  4. At most Config.Runs runs and Config.Bytes bytes are unanswered, and one
//     run alone while the mux refuses or does not answer.
//  5. Order is kept: no run is sent for the first time before every earlier one
//     was, and after a reset none before the fate of every earlier one is known.
//
// One case is at least once, not exactly once: if a life ends, or a mux forgets
// the producer, before it has answered the first run under a producer id, then
// that run and those sent with it may be committed twice. Nobody can tell the
// handle so.
//
// A reset gives the producer a new id and numbers from 0. It happens when a
// new life answers, when a life says that it is closed, when the mux has forgotten the producer, and when a run
// was rejected for good (the runs behind it bear numbers that no longer fit).
// Before it, everything sent must be resolved: answered, or, when the life is
// over, unanswered for Config.AnswerTimeout.
//
// The package is pure: no clock, no goroutine, no NATS. A Window belongs to one
// goroutine. Runs that go in must not be changed; a Window forgets a run as
// soon as it is taken or resolved.
package window
