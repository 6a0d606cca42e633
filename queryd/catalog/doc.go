// Package catalog says what a channel means: whether its frames are records,
// text, samples or opaque bytes, whose text it is, which numbers are counters.
// Views alone use it; the pipe carries every frame without (P9.10).
//
//	channel  proc.trainer.stderr
//	              │
//	families      │   proc.{label}.stdout    a literal beats a parameter,
//	              ├─▶ proc.{label}.stderr    a parameter beats *, decided
//	              │   host.*                 at the leftmost difference
//	              ▼
//	Class    text, origin "trainer", is_error, parameters label=trainer
//
// Promises:
//
//  1. Every channel has a class: the family whose pattern matches it and is
//     the most literal from the left, or unknown. A parameter is one segment
//     that is not empty, * any run of characters. (L12)
//  2. An unknown channel is opaque and never an error; if the catalog sniffs,
//     a payload that is a JSON or MessagePack map is a record as well, and
//     UTF-8 is text as well, JSON included. What a family declares opaque is
//     never sniffed. (L12.1)
//  3. A file's family comes before a built-in one of equal form; a text
//     channel without an origin has its own name for one. (L5.3)
//  4. A wrong file is refused whole, every fault with its line, what was
//     wrong and what to do; keys that the catalog does not know are faults.
//  5. Classes are remembered for the last channels asked for, in bounded
//     memory;
//     forgotten ones are counted and made again.
//
// # Ownership
//
// A Catalog is read once and never changes but for what it remembers, under a
// lock of its own: it is safe for concurrent use, and so are the Classes it
// gives, which nobody may change. The package is pure: no clock, no goroutine,
// no NATS, and no file: Read takes the document as a tree, so that the form it
// was written in is its caller's matter.
package catalog
