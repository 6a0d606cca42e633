//go:build race

package harness

// raceEnabled says that this test was built with the race detector.
const raceEnabled = true
