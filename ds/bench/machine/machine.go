package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"datastream/ds/bench/spread"
)

// A Machine is where the numbers come from. What cannot be known is empty.
type Machine struct {
	CPU     string  `json:"cpu,omitempty"`
	Cores   int     `json:"cores"`
	Procs   int     `json:"gomaxprocs"`
	Go      string  `json:"go"`
	System  string  `json:"system"`
	Load    string  `json:"load_at_start,omitempty"`
	FsyncMs float64 `json:"fsync_p50_ms"` // of an append of 4 KiB in the data folder
}

// String is the machine on one line.
func (m Machine) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cores", m.Cores)
	if m.CPU != "" {
		fmt.Fprintf(&b, " (%s)", m.CPU)
	}
	fmt.Fprintf(&b, ", GOMAXPROCS %d, %s, %s, append and fsync %.2f ms", m.Procs, m.Go, m.System, m.FsyncMs)
	if m.Load != "" {
		fmt.Fprintf(&b, ", load at start %s", m.Load)
	}
	return b.String()
}

// Look describes this machine and the disk under dir.
func Look(dir string) (Machine, error) {
	m := Machine{
		CPU: cpu(), Cores: runtime.NumCPU(), Procs: runtime.GOMAXPROCS(0),
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Load: loadAverage(),
	}
	var err error
	m.FsyncMs, err = fsync(dir)
	return m, err
}

// cpu is the processor's name, where the system says it in a file.
func cpu() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), "model name")
	name, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(strings.TrimLeft(name, " \t:"))
}

// loadAverage is that of the last minute, where the system says it in a file.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}

// fsync appends to a file in dir and syncs it, and is the median time of that
// in milliseconds: most of what a small commit costs.
func fsync(dir string) (float64, error) {
	f, err := os.CreateTemp(dir, "fsync-*")
	if err != nil {
		return 0, fmt.Errorf("measure fsync: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 4096)
	var took []float64
	for range 101 {
		start := time.Now()
		if _, err := f.Write(block); err != nil {
			return 0, fmt.Errorf("measure fsync: %w", err)
		}
		if err := f.Sync(); err != nil {
			return 0, fmt.Errorf("measure fsync: %w", err)
		}
		took = append(took, float64(time.Since(start))/float64(time.Millisecond))
	}
	return spread.Of(took).Median, nil
}
