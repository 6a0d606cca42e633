// Package source holds the real producers: what a machine does, what a process
// writes and how it ends, what is appended to files. It knows channels and
// payloads; how they travel is its handle's business (package emit).
//
//	Host ──────── a record a tick and device ───────────────▶ emit.Handle
//	Process ─┬ stdout ─ lines ─ records ─┐
//	         ├ stderr ─ lines ─ records ─┼─────────────────▶ Importer
//	         └ its end ── Exit ──────────┘                    (Observe(handle),
//	Follow ──── generations of a path ─ lines ─ records ──▶   or *emit.Paced)
//	   ▲            settled ◀───────────────────────────────── Report
//	   └─ state file
//
// Channels: host.cpu, host.cpu.core, host.memory, host.net, host.disk,
// host.load; proc.<label>.stdout, .stderr and .exit; and whatever a followed
// file is given. Typed records are JSON objects with the unit in each field's
// name; counters are left raw, since rates are the views' work (P9.10).
//
// Promises of Host:
//
//  1. The first records leave at once; then one of each kind a tick, and for
//     networks and disks one a device, with the field device.
//  2. What cannot be measured is counted, told once, and stops nothing else.
//
// Promises of text, for Process and Follow:
//
//  3. A frame is one whole line without its ending, or one record of several
//     lines joined by newlines. Nothing is joined over a loss: a frame holds
//     bytes that were one piece of the source. A frame lost on the way takes
//     its own lines with it and none of its neighbours'.
//  4. A record is at most Text.MaxRecord bytes. A longer line is submitted in
//     pieces, in order and each a frame of its own, cut between UTF-8
//     characters; no line beside it is joined to one. A longer record of
//     several lines is cut between lines. Both are counted as cut.
//  5. An empty line is an empty frame. An unterminated last line counts.
//
// Promises of Process:
//
//  6. All that the process wrote before its end is submitted, then its exit
//     record: last, once, also if it could not be started.
//  7. A signal reaches the process and its descendants, which form a group of
//     their own where the system has groups. When the context ends, the group
//     is told to end, and killed after the grace.
//  8. A descendant that keeps the output open cannot keep Run: once the process
//     has ended, a silent stream is left after the linger, and the exit record
//     says so.
//
// Promises of Follow:
//
//  9. At least once: a position is remembered only when everything before it is
//     settled, that is, committed (P4.3); after a crash, and after a loss on the
//     way, what follows it is read and submitted again.
//  10. The state file is replaced whole and synced: it is never half a state.
//  11. A file that is renamed, removed or truncated is read to its end first,
//     as far as its bytes still exist under its name or that name with a number
//     or a date (app.log.1, app.log-20240131). So rotations between two looks,
//     or between two runs, lose nothing either. A file is known by its bytes
//     and inode, not by its name.
//  12. What is gone before it was read is counted (Vanished, LostBytes), and a
//     record that is never taken is left out and counted (Refused) instead of
//     holding up the rest.
//
// Limits. The first run of all begins with the file that has the name then, not
// with older ones beside it. A copy of a file of which less than 1 KiB was read
// cannot be told from another file, and may be read twice. A truncation is not seen before anything was read of the file, nor if
// it is written anew to its old length within the resolution of the file
// system's times.
// What a writer appends to a file that was moved aside and quiet for RotateWait
// is not read before the next run. On Windows an open file cannot be renamed:
// let the rotation copy and truncate.
//
// Goroutines and buffers. Host.Run and Follow.Run use their caller's goroutine
// alone; Process.Run has two more for each stream and one that forwards
// signals, all ended when it returns, but for a read that the system cannot
// interrupt. Payloads are lent to the handle for the call. A stream or file
// holds at most one record and a chunk of 64 KiB.
//
// Failure. An observer's handle drops and counts (P4.2); a paced one makes
// Process and Follow wait, and through the pipe the process, too. While nothing
// can be settled a Follow stops after 32 768 records.
package source
