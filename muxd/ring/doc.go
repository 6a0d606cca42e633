// Package ring keeps the frames that were published until ingest has settled
// them, so that they can be sent again.
//
//	               the runs of one stream, by first position
//	              ┌────┬────┬────┬────┬────┬────┬────┐
//	Settle ──▶    │ A1 │ B1 │ A2 │ p  │ B2 │ A3 │ …  │   ◀── Add
//	frees the low └────┴────┴────┴────┴────┴────┴────┘       one slice
//	                ▲    ▲    ▲         ▲    ▲
//	                └────┴────┴────┬────┴────┘
//	              the unpaced runs of all streams, by age:
//	              what a full ring pushes out, oldest first
//
// Promises:
//
//  1. Of every position that Find is asked for, it says exactly one thing:
//     sent (its run was just visited, unchanged), gone (dropped, pushed out, or
//     settled and freed), pending (not added yet), or nothing, when the answer
//     would pass its limit. Only what is gone is called gone. (P5.3)
//  2. A run is freed once every position of it is settled, and a life's runs
//     when it is closed; a run is never split.
//  3. The runs held cost no more than the budget, but for paced ones, whose
//     total the mux bounds where it admits them. What is pushed out before it
//     was settled is counted, frame by frame. (P5.1, P5.3)
//  4. A paced run is never pushed out, and Fits says beforehand whether one
//     would push out anything. (P4.3, P5.3)
//  5. A stream that holds more than a quarter of the budget pays before others
//     do: the one that adds, else another such stream; only then does the
//     oldest run of all go. (P5.3)
//  6. Add, Settle and the pushing out take amortised constant time a run,
//     whatever the number of streams; a Settle looks besides at the runs that
//     straddle its bound, which share one slice. Find takes a binary search a
//     range and then the runs it visits or passes over inside a slice.
//
// The package is pure and not safe for concurrent use: the bus guards a Ring
// with its lock. A Ring keeps the runs it is given, and hands the same runs to
// the visitor of Find: their bodies are shared and never written. It has no
// failures of its own; a slice that contradicts the ones before is not kept,
// and counted as pushed out.
package ring
