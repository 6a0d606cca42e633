package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"datastream/test/harness"
)

// runMark stands in front of each block that this test runs.
const runMark = "<!-- run -->"

// TestDocumentedCommandsWork runs the marked blocks of README.md and docs, a
// file's in order and against a stack of its own, as somebody who follows it
// would: a line that fails ends the block.
func TestDocumentedCommandsWork(t *testing.T) {
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents in docs (%v)", err)
	}
	for _, file := range append([]string{filepath.Join(root, "README.md")}, files...) {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := runBlocks(t, name, string(text))
		if name == "README.md" && len(blocks) == 0 {
			t.Errorf("README.md marks no block with %s", runMark)
		}
		if len(blocks) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) { follow(t, blocks) })
	}
}

// follow runs blocks in order in one shell.
func follow(t *testing.T, blocks []string) {
	up := harness.Up(t)
	p, code := harness.Command{
		Path: "/bin/sh", Args: []string{"-exc", strings.Join(blocks, "\n")}, Dir: t.TempDir(),
		Env: []string{"NATS_URL=" + up.URL},
	}.Run(t)
	if code != 0 {
		t.Errorf("the documented commands end with %d:\n%s%s", code, p.Stdout(), p.Stderr())
	}
	// The nats tool ends well when nobody answers.
	for _, bad := range []string{"No responders", "nats: error", `"error":`} {
		if strings.Contains(p.Stdout()+p.Stderr(), bad) {
			t.Errorf("the documented commands show %q:\n%s%s", bad, p.Stdout(), p.Stderr())
		}
	}
	if p.Stdout() == "" {
		t.Error("the documented commands show nothing")
	}
}

// runBlocks are the contents of the marked blocks.
func runBlocks(t *testing.T, name, text string) []string {
	t.Helper()
	var blocks []string
	for i, part := range strings.Split(text, "\n"+runMark+"\n") {
		if i == 0 {
			continue
		}
		body, fenced := strings.CutPrefix(strings.TrimLeft(part, "\n"), "```sh\n")
		block, _, closed := strings.Cut(body, "\n```")
		if !fenced || !closed {
			t.Errorf("%s: mark %d does not stand in front of a block of sh", name, i)
			continue
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// TestRunBlocks holds the reader of marks to what it promises.
func TestRunBlocks(t *testing.T) {
	got := runBlocks(t, "x", "# A\n\n```sh\nnot me\n```\n"+runMark+"\n```sh\na 1\nb\n```\ntext\n"+runMark+"\n\n```sh\nc\n```\n")
	if strings.Join(got, "|") != "a 1\nb|c" {
		t.Errorf("blocks: %q", got)
	}
}
