// Package run is muxd as a whole: its settings, and the daemon that main.go,
// stack and ds start.
//
//	settings ─▶ Daemon ─▶ connection ─▶ conflict check ─▶ bus
//	                   └▶ $SRV service, /healthz /readyz /metrics
//
// Subjects: those of muxd/bus, and $SRV.INFO.muxd, which it asks at start
// (P5.5).
//
// Stop order: stop intake, drain the muxes, wait for settled under a deadline,
// closing beats, drain the connection; the health page goes last. A second
// signal kills.
package run
