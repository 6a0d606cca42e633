// Package subjects holds the words every stage shares: node, life, channel,
// position, stream; and how they are spelled in NATS subjects.
//
//	node "n1"   life 01JD…   channel "proc.trainer.stdout"   position 41
//	  └────── stream ──────┘
//
//	ds . store . n1 . 01JD… . proc . trainer . stdout
//	│      │      │     │      └───── one token a segment, so that a channel
//	│      │      │     │             prefix is a subject wildcard
//	│      │      │     └── a ULID: this incarnation of the node
//	│      │      └── one token, dots escaped
//	│      └── the subject class (Submit, Frame, Beat, …)
//	└── the prefix (Space)
//
// Promises:
//
//  1. Any node of 1…128 bytes and any channel of 1…512 bytes has exactly one
//     canonical spelling, and decode(encode(x)) = x. Ordinary names are
//     spelled as they are. (P1.3, P2.1)
//  2. A canonical subject holds no byte that a NATS server treats specially
//     or that makes JetStream rebuild its index: no control, space, *, >,
//     DEL, C1, no invalid UTF-8, no empty token. (P2.2)
//  3. Every parser but ParseSubmit refuses what is not canonical; ParseSubmit
//     takes what a person or another tool may have typed. (P2.2, P2.4)
//
// The package is pure: no clock, no goroutine, no NATS. All values are
// immutable and safe for concurrent use.
package subjects
