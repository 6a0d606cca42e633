// Package syntax is the query language's grammar: text in, tree out, and back.
//
//	LOGS FROM trainer CONTAINING "cuda" SINCE 1h ago TAKE 20 STREAM
//	 │        │            │                 │          │      │
//	 Mode    From        Text              Time       Count   Flag
//	 └──────────────── one Query, clauses in any order ────────┘
//
//	text ─ lexer ─> tokens ─ parser ─> Query ─ check ─> Query ─ String ─> text
//
// What a query means is for others: nothing here knows the catalog, the data
// or the clock. What the text alone decides is decided here, so that a query
// is refused before anything is read.
//
// Promises:
//
//  1. Parse takes what the grammar takes (L2) and refuses all else: clauses
//     that do not stand together or not in the mode (L2.2, L2.10, L4.4, L4.5,
//     L8.5, L9.6, L9.7, L10, S2.1), fields that a mode does not have (L4),
//     comparisons that cannot hold (L6.4, L9.1), SORT of what is no output
//     (L8.1), times that do not exist (L2.7, L3.2).
//  2. A query prints as canonical text, which parses to the same query, of
//     which it is the canonical text (L2.11).
//  3. An error is an *Error: its column lies in the text or right behind it,
//     it says what was wrong, and what was probably meant where that is near.
//  4. Integers are exact, floats the nearest, strings what was written; a
//     value is never turned into another (L2.5, L2.6).
//  5. Parse never panics, and takes memory in proportion to the text, which
//     is at most MaxQuery; depth, lists and expressions are bounded (L2.9).
//     What is over a bound is refused, never cut.
//  6. A time is resolved against an evaluation time and a zone that the
//     caller gives (L3.1). The names of zones are the same on every machine,
//     and the binary holds the zones for machines that have none (L2.7).
//
// The package is pure: no clock, no goroutine, no NATS. A Query owns no
// buffer: its strings share the text that was parsed. Parse is safe for
// concurrent use, and so is a Query that nobody changes.
package syntax
