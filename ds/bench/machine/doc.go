// Package machine says where a measurement was made, and what it cost there.
//
//	Look(dir) ─▶ Machine   cores, processor, Go, load, what an fsync in dir takes
//	CPU()     ─▶ how much processor time this process has used
//
// Promises:
//
//  1. What the system does not tell is empty or 0, never guessed.
//  2. Look leaves nothing behind in dir.
package machine
