// Package value holds the values of the query language: how they are read out
// of payloads, compared, ordered, grouped and written into answers.
//
//	payload ──Decoder──▶ Fields ──▶ Value ──▶ Test        WHERE        (L6)
//	JSON or   bounded    path ▸     32 bytes  Compare     SORT         (L7)
//	MessagePack walk     value                AppendKey   GROUP        (L8)
//	                                          AppendJSON  the answer   (L4.6)
//
// Promises:
//
//  1. Decoding any bytes ends in fields or in the one field raw, never in a
//     panic, and believes no length that the bytes present do not bear out:
//     depth ≤ 64, ≤ 4096 fields, ≤ 1 MiB of paths a record. Work is linear in
//     the payload, and memory a small multiple of it. (L4.1, L4.2)
//  2. A Decoder that wants some paths gives the same values as one that wants
//     all. Of two equal paths the first wins; a coordinate's name is found
//     under payload. (L4.1)
//  3. Numbers compare by exact value across integers and floats; strings fold
//     ASCII letters and nothing else; different types are never equal; NaN
//     equals NaN and has no order; null satisfies nothing but IS NULL. (L6)
//  4. Compare is a total order: null < boolean < number < string < binary <
//     array. (L7)
//  5. Two values have the same key exactly if they are equal, and what stands
//     for a group depends on its members, never on their order. (L8)
//  6. What AppendJSON writes is one line of valid JSON in which no byte moves
//     a terminal or a line: C0, DEL, C1, the marks of bidirectional text and
//     U+2028/9 are escaped. (L4.6)
//  7. A Needle is found in time linear in the text, whatever both hold, and
//     without allocation. (L6.1)
//  8. Reading numbers and unescaped strings allocates nothing once a Fields
//     has been used.
//
// # Ownership
//
// A decoded Value refers to the payload it was read from, and strings that had
// to be unescaped, like collected paths, lie in the Fields. So a Value holds
// until the payload's bytes change or the Fields is decoded into again; Clone
// makes one that holds for ever. An array is not entered at decoding: it is
// its encoded bytes, already checked, and read where an operator asks.
//
// Decoder, Test and Needle are immutable and safe for concurrent use; a Fields
// belongs to one goroutine. The package is pure: no clock, no goroutine, no
// NATS.
//
// # Failure
//
// Nothing fails on data. Decode returns why a payload became raw, so that a
// caller may count it; only Compile and NewTest, which see what a query wrote,
// refuse.
package value
