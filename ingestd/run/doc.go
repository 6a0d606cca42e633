// Package run is ingestd as a whole: its settings, and the daemon that
// main.go, stack and ds start.
//
//	settings ─▶ Daemon ─▶ connection ─▶ store ─▶ scan ─▶ intake
//	                   │                    └▶ gate
//	                   └▶ $SRV service, /healthz /readyz /metrics
//
// Subjects: those of ingestd/intake, ingestd/gate and ingestd/store.
//
// A store that is not there is reported, not ready and in the log, until
// somebody makes it: nothing is made anew without --init (P8.4). A store that
// was made anew under a running ingestd is read from its start.
//
// From when the store is open users can make consumers, whether or not commits
// work.
//
// Stop order: stop intake, let the windows go, commit under a deadline,
// announce, close the gate, drain the connection; the health page goes last. A
// second signal kills.
package run
