package source

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestEdgesAreThoseOfTheFile: the ends kept while reading are the ends read from
// the file, however it was read.
func TestEdgesAreThoseOfTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, 3*edge).Draw(t, "text")
		var e edges
		for _, c := range chunks(t, string(text)) {
			e.add([]byte(c))
		}
		read, err := edgesAt(bytes.NewReader(text), int64(len(text)))
		if err != nil || read.sum() != e.sum() || read.at != e.at {
			t.Fatalf("%d bytes: kept %d…%d, read %d…%d, %v", len(text), len(e.head), len(e.tail), len(read.head), len(read.tail), err)
		}
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		m := mark{Offset: int64(len(text)), Sum: e.sum()}
		if cut < len(text) && m.fits(bytes.NewReader(text[:cut])) {
			t.Fatal("a shorter file fits")
		}
		other := bytes.Clone(text)
		if at := cut; at < len(other) && (at < edge || at >= len(other)-edge) {
			other[at]++
			if m.fits(bytes.NewReader(other)) {
				t.Fatalf("a file with another byte %d fits", at)
			}
		}
	})
}

// TestStateIsReplacedWhole is promise 10.
func TestStateIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	s, err := loadState(path)
	if err != nil || len(s.Files) != 0 {
		t.Fatalf("no file: %+v, %v", s, err)
	}
	for i := range 3 {
		s.Files["/a"] = memory{Since: epoch.UTC(), Marks: append(s.Files["/a"].Marks, mark{Offset: int64(i), Sum: "x", Inode: "1:2", Mod: epoch.UTC(), Past: i < 2})}
		if err := s.save(path); err != nil {
			t.Fatal(err)
		}
		got, err := loadState(path)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(s) {
			t.Fatalf("saved %+v, loaded %+v, %v", s, got, err)
		}
	}
	if all, _ := os.ReadDir(dir); len(all) != 1 {
		t.Errorf("left in the folder: %v", all)
	}
	if err := s.save(filepath.Join(dir, "no", "folder")); !errors.Is(err, ErrState) {
		t.Error(err)
	}
	for _, bad := range []string{"", "{", `{"version":2,"files":{}}`, `{"version":1}`, "[]"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if bad == `{"version":1}` { // fields that are missing default (P9.9)
			continue
		}
		if _, err := loadState(path); !errors.Is(err, ErrState) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestSiblingsAreGenerations: only what rotation makes, the oldest first.
func TestSiblingsAreGenerations(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a.log", "a.log.3", "a.log.2", "a.log-20240131", "a.log.1", "a.log.1.gz", "a.log.err", "a.log.", "b.log.1", "a.log.2024-01-31T10:00:00"} {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, epoch, epoch.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, s := range siblings(filepath.Join(dir, "a.log"), epoch.Add(2*time.Second)) {
		got = append(got, strings.TrimPrefix(s.path, dir+string(filepath.Separator)+"a.log"))
	}
	if s := strings.Join(got, " "); s != ".2 -20240131 .1 .2024-01-31T10:00:00" {
		t.Error(s)
	}
}
