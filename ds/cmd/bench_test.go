package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"datastream/ds/bench"
	"datastream/service"
)

// runBench is ds bench without the process.
func runBench(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out, log bytes.Buffer
	c := newBench(env{getenv: func(string) string { return "" }, stdout: &out, stderr: &log})
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	err = c.ExecuteContext(t.Context())
	return out.String(), err
}

func TestBenchRefusesWhatCannotBeMeant(t *testing.T) {
	for _, args := range [][]string{{"-o", "xml"}, {"--only", "cold"}, {"--pairs", "-1"}} {
		if out, err := runBench(t, args...); !errors.Is(err, service.ErrUsage) || out != "" {
			t.Errorf("%q: got %v, printed %q", args, err, out)
		}
	}
}

// The report is all that stands on stdout, and the profiles are written.
func TestBenchPrintsJSONAndWritesProfiles(t *testing.T) {
	dir := t.TempDir()
	cpu, mem := filepath.Join(dir, "cpu"), filepath.Join(dir, "mem")
	out, err := runBench(t, "--only", "micro", "--pairs", "1", "--frames", "1000", "-o", "json", "--dir", dir, "--cpuprofile", cpu, "--memprofile", mem)
	if err != nil {
		t.Fatal(err)
	}
	var r bench.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Results) != 3 {
		t.Errorf("printed %q: %v", out, err)
	}
	for _, name := range []string{cpu, mem} {
		if s, err := os.Stat(name); err != nil || s.Size() == 0 {
			t.Errorf("the profile %s: %v", filepath.Base(name), err)
		}
	}
}
