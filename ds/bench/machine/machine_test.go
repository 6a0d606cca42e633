package machine

import (
	"os"
	"runtime"
	"testing"
)

// Promise 2, and what every system tells.
func TestLookLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	m, err := Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Cores < 1 || m.Procs < 1 || m.Go != runtime.Version() || m.FsyncMs <= 0 {
		t.Errorf("got %+v", m)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestLookNamesTheFolderItCannotUse(t *testing.T) {
	if _, err := Look(t.TempDir() + "/absent"); err == nil {
		t.Error("no error")
	}
}

// Processor time grows while one works, and never falls.
func TestCPUGrowsWithWork(t *testing.T) {
	before := CPU()
	sum := uint64(0)
	for CPU() == before {
		for i := range uint64(1000) {
			sum += i * sum
		}
	}
	if CPU() < before {
		t.Errorf("fell from %v (%d)", before, sum)
	}
}
