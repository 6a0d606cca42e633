// Package harness starts real processes for tests: our own executable, built
// once, and the nats command line tool as a peer.
//
//	func TestMain(m *testing.M) { harness.Main(m) }
//
//	up := harness.Up(t)                      // ds up on a free port, ready
//	up.NATS(t, "pub", "ds.submit.n1.app.log", "hello")
//
//	parts := harness.NewParts(t)             // the same in parts: each can
//	mux, ingest := parts.Pipe(t)             // stop, die and start alone
//
// Promises: a process never outlives its test; its output is in the test's
// log when the test fails; a data race in it fails the test; every wait is for
// a state, with a deadline that is generous, and no test asserts how long
// anything took. What cannot be had (the nats tool, a port) fails the test.
package harness
