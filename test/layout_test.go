// Package test holds the whole project to its rules. This file is the table
// of the house: which folder may import which, what is pure, what may speak
// NATS, how long a file and a function may be. layout_check_test.go reads the
// source and compares; testdata/planted breaks each rule once, to show that
// the comparison sees it.
package test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// theHouse is the project's own set of rules. A folder written dir/... is the
// folder and all below it.
var theHouse = house{
	module: "datastream",

	// What the packages of a folder may import of the project. Data walks one
	// way and stages meet on the wire alone, but for queryd, which reads the
	// stored form through its one owner. That nothing but queryd may import
	// queryd/catalog is P9.10: semantics only in views.
	mayImport: map[string][]string{
		"subjects/...": {"subjects/..."},
		"service/...":  {"subjects/...", "service/..."},
		"producer/...": {"subjects/...", "service/...", "producer/..."},
		"muxd/...":     {"subjects/...", "service/...", "muxd/..."},
		"ingestd/...":  {"subjects/...", "service/...", "ingestd/..."},
		"queryd/...":   {"subjects/...", "service/...", "queryd/...", "ingestd/store"},
		"stack/...":    {"..."},
		"ds/...":       {"..."},
		"test/...":     {"..."},
	},

	// No clock, no goroutine, no NATS: time is an argument, output a value.
	pure: []string{
		"subjects/...",
		"producer/emit/window",
		"muxd/mux", "muxd/ring",
		"ingestd/reorder", "ingestd/ledger",
		"queryd/syntax", "queryd/plan", "queryd/value", "queryd/catalog", "queryd/view", "queryd/access",
	},

	// The only packages, besides mains and tests, that may import NATS.
	edge: []string{
		"service/...",
		"producer/emit", "producer/run",
		"muxd/bus", "muxd/run",
		"ingestd/gate", "ingestd/intake", "ingestd/store", "ingestd/run",
		"queryd/serve", "queryd/client", "queryd/run",
		"stack/...", "ds/...", "test/...",
	},

	// The only packages, besides tests, that may embed a NATS server.
	embed: []string{"stack/...", "ds/...", "test/..."},

	// Names that say nothing of what is inside.
	vague: []string{"util", "utils", "common", "helper", "helpers", "manager", "misc"},

	fileLines: 400, // a longer file is argued in longFiles
	fileLimit: 600, // and one longer than this is split
	funcLines: 80,  // a longer function is argued in longFuncs

	// Why a file is longer than fileLines: "folder/file.go": "reason".
	longFiles: map[string]string{},

	// Why a function is longer than funcLines: "folder/file.go Name": "reason".
	longFuncs: map[string]string{},
}

// TestLayout holds the source to the house.
func TestLayout(t *testing.T) {
	files, err := load("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d Go files found: this is not the project's root", len(files))
	}
	for _, v := range theHouse.check(files) {
		t.Error(v)
	}
}

// TestLayoutSeesViolations runs the same checks over a tree in which each rule
// is broken, under budgets small enough to break, and expects just the reports
// that the tree's want.txt lists.
func TestLayoutSeesViolations(t *testing.T) {
	root := filepath.Join("testdata", "planted")
	planted := house{
		module: "planted",
		mayImport: map[string][]string{
			"words/...": {"words/..."},
			"one/...":   {"words/...", "one/..."},
			"two/...":   {"words/...", "two/...", "one/store"},
		},
		pure:      []string{"words/...", "one/absent", "one/pure"},
		edge:      []string{"one/store"},
		vague:     []string{"util", "helpers"},
		fileLines: 24,
		fileLimit: 40,
		funcLines: 8,
		longFiles: map[string]string{
			"two/long/argued.go":    "it is a table",
			"two/long/endless.go":   "no argument makes a file this long",
			"two/long/shortened.go": "it was long once",
		},
		longFuncs: map[string]string{
			"two/long/argued.go argued": "one thing after another",
			"two/long/argued.go gone":   "it was here once",
		},
	}
	files, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(root, "want.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got := planted.check(files)
	expected := strings.Split(strings.TrimSpace(string(want)), "\n")
	for _, v := range got {
		if !slices.Contains(expected, v) {
			t.Errorf("unexpected: %s", v)
		}
	}
	for _, v := range expected {
		if !slices.Contains(got, v) {
			t.Errorf("not seen: %s", v)
		}
	}
}
