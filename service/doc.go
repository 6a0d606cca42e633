// Package service is what every daemon and command needs around its own work:
// settings, logs, connections to NATS, the micro service, health, metrics, and
// how a process starts and stops.
//
//	main ── Main ──► run(ctx, args, getenv, stdout, stderr)
//	                  │ Parse      flag > environment > NATS context > default
//	                  │ NewLogger  console on a terminal, JSON elsewhere
//	                  │ Connect    reconnects for ever; says why it cannot
//	                  │ Micro      $SRV on a connection of its own
//	                  │ HTTP       /healthz /readyz /metrics
//	                  └ Group      first to return stops the rest, in order
//
// Subjects: reads and answers $SRV.> (Micro); nothing else. What else a
// connection carries is its owner's.
//
// Promises:
//
//  1. A setting comes from the command line, else the environment, else the
//     NATS context, else its default. Names are those of the nats CLI; other
//     flags take DS_<FLAG>. A NATS context that nobody named is left alone as
//     soon as a server is named, so that no secret reaches a server it was
//     not written for.
//  2. No secret is printed: not by an error, a log line, --help or %v.
//  3. A connection reconnects for ever with jitter, bears its service's name
//     and version, and buffers nothing while disconnected. One that the
//     client library closes for good says so on Closed (P6).
//  4. Permission errors, which reach no caller, are logged once a subject (256
//     subjects at most) and counted always; slow consumers are counted and
//     handed to OnSlow.
//  5. The micro service has a connection and a user of its own (P2.4).
//  6. /readyz names each failing check and why; /healthz fails only when a
//     loop that should beat does not.
//  7. The first SIGINT or SIGTERM asks the process to stop, the second kills
//     it. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 on Ctrl-C and 143
//     on SIGTERM where the command was cut short. A closed standard output
//     is a clean end.
//  8. Actors of a Group are stopped one after another, in the order they were
//     added, under one deadline; one that is late is named.
//
// Goroutines: those of the NATS connections (ended by Conn.Stop or Close), of
// HTTP.Run and Group.Run (ended when these return). All types are safe for
// concurrent use once made, but for NATS and Group, which are set up first.
// When something fails it is returned; only what happens between calls is
// logged.
package service
