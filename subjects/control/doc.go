// Package control is what the stages tell each other about frames, in JSON:
// a mux's beats, ingest's settled announcements, repair requests and their
// answers, and the answers to submissions.
//
//	muxd ── Beat ─────────────▶ ingestd      I am alive, drained up to …
//	muxd ◀─ RepairRequest ───── ingestd      send these ranges again
//	muxd ── RepairAnswer ─────▶ ingestd      sent …, gone …
//	muxd ◀─ Settled ─────────── ingestd      all below n is committed or given up
//	client ◀─ Answer ────────── muxd         your frames have these positions
//
// Ranges are closed: [2,5] is the positions 2, 3, 4 and 5. Missing fields are
// zero and unknown ones ignored, so that versions may differ (P9.9). Every
// Decode bounds what it takes and refuses what contradicts itself, wrapping
// ErrMessage. The package is pure.
package control
