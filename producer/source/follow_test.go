package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A bench is a folder with one followed file.
type bench struct {
	t    *testing.T
	dir  string
	path string
	cfg  FollowConfig
}

func newBench(t *testing.T) *bench {
	dir := t.TempDir()
	path := filepath.Join(dir, "app.log")
	return &bench{t: t, dir: dir, path: path, cfg: FollowConfig{
		Files: []FollowFile{{Path: path, Channel: "app"}},
		State: filepath.Join(dir, "state.json"),
		Look:  2 * time.Millisecond, RotateWait: 20 * time.Millisecond, Grace: 10 * time.Second,
		OnNotice: func(s string) { t.Log(s) },
	}}
}

// start follows until stop is called, which gives Run's error.
func (b *bench) start(p Settler) (f *Follow, stop func() error) {
	b.t.Helper()
	f, err := NewFollow(p, b.cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := f.Run(ctx)
		if err != nil && ctx.Err() == nil {
			b.t.Errorf("ended by itself: %v", err)
		}
		done <- err
	}()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	b.t.Cleanup(func() { _ = stop() })
	return f, stop
}

// write appends to the file, which it may make.
func (b *bench) write(text string) {
	b.t.Helper()
	f, err := os.OpenFile(b.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	b.must(err)
}

// aside renames app.log.n to app.log.n+1, and app.log to app.log.1.
func (b *bench) aside() {
	for n := 60; n > 0; n-- {
		_ = os.Rename(fmt.Sprintf("%s.%d", b.path, n), fmt.Sprintf("%s.%d", b.path, n+1))
	}
	b.must(os.Rename(b.path, b.path+".1"))
}

// copied shifts the generations, copies the file, and truncates it.
func (b *bench) copied() {
	text, err := os.ReadFile(b.path)
	b.must(err)
	for n := 60; n > 0; n-- {
		_ = os.Rename(fmt.Sprintf("%s.%d", b.path, n), fmt.Sprintf("%s.%d", b.path, n+1))
	}
	b.must(os.WriteFile(b.path+".1", text, 0o600))
	b.must(os.Truncate(b.path, 0))
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// gets waits until just these frames were taken.
func (b *bench) gets(p *pipe, want ...string) {
	b.t.Helper()
	eventually(b.t, fmt.Sprintf("%d frames", len(want)), func() bool { return len(p.frames("app")) >= len(want) })
	if got := p.frames("app"); !slices.Equal(got, want) {
		b.t.Fatalf("got %q\nwant %q", got, want)
	}
}

// TestFollowSubmitsWhatIsAppended is promises 3 and 5: whole lines, whenever
// they are whole.
func TestFollowSubmitsWhatIsAppended(t *testing.T) {
	b, p := newBench(t), newPipe()
	_, stop := b.start(p)
	b.write("one\n\ntwo\r\nthr")
	b.gets(p, "one", "", "two")
	b.write("ee\nfour")
	b.gets(p, "one", "", "two", "three")
	b.must(stop())
	_, stop = b.start(p) // the half line was not submitted, and is not lost
	b.write("th\n")
	b.gets(p, "one", "", "two", "three", "fourth")
	b.must(stop())
}

// TestFollowJoinsRecords: a record of several lines is submitted when it is
// complete, or when nothing followed for its wait.
func TestFollowJoinsRecords(t *testing.T) {
	b, p := newBench(t), newPipe()
	b.cfg.Text = Text{Start: regexp.MustCompile(`^@`), Wait: time.Hour}
	_, stop := b.start(p)
	b.write("@a\n b\n")
	b.write(" c\n@d\n")
	b.gets(p, "@a\n b\n c")
	b.must(stop())
	b.cfg.Text.Wait = time.Millisecond
	_, stop = b.start(p)
	b.gets(p, "@a\n b\n c", "@d")
	b.must(stop())
}

// TestFollowFromEnd: only what comes after the start, from a line's beginning.
func TestFollowFromEnd(t *testing.T) {
	b, p := newBench(t), newPipe()
	b.cfg.FromEnd = true
	b.write("old\nha")
	f, stop := b.start(p)
	eventually(t, "the beginning is remembered", func() bool { return f.Stats().Saves > 0 })
	b.write("lf\n")
	b.gets(p, "half")
	b.must(stop())
	b.write("while away\n")
	_, stop = b.start(p)
	b.gets(p, "half", "while away")
	b.aside()
	b.write("new file\n") // one that comes later is read from its beginning
	b.gets(p, "half", "while away", "new file")
	b.must(stop())
}

// without is what is left of all, for each time that one of them is there.
func without(all, them []string) (left []string) {
	n := map[string]int{}
	for _, s := range them {
		n[s]++
	}
	for _, s := range all {
		if n[s]--; n[s] < 0 {
			left = append(left, s)
		}
	}
	return left
}

// rotations are the ways in which a file is rotated.
var rotations = map[string]func(*bench){"rename": (*bench).aside, "copy and truncate": (*bench).copied}

// TestFollowSurvivesRotationUnderWrites is promise 11: nothing is lost, however
// often the file is rotated between two looks, and of renamed files nothing is
// repeated.
func TestFollowSurvivesRotationUnderWrites(t *testing.T) {
	for name, rotate := range rotations {
		t.Run(name, func(t *testing.T) {
			b, p := newBench(t), newPipe()
			b.write("the first\n")
			f, stop := b.start(p)
			want := []string{"the first"}
			caughtUp := func() {
				eventually(t, "caught up", func() bool { return len(without(want, p.frames("app"))) == 0 })
			}
			caughtUp()
			for i := range 600 {
				line := fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%50))
				b.write(line + "\n")
				want = append(want, line)
				if i%50 == 49 {
					rotate(b)
				}
				// How many generations keep their names is bounded, and a truncation is
				// seen only once something of the file was read.
				if i%200 == 199 || (name != "rename" && i%50 == 0) {
					caughtUp()
				}
			}
			caughtUp()
			b.must(stop())
			if more := without(p.frames("app"), want); name == "rename" && len(more) > 0 {
				t.Errorf("%+v: repeated %.300q", f.Stats(), more)
			}
		})
	}
}

// TestFollowSurvivesRotationWhileAway is promise 11 between two runs.
func TestFollowSurvivesRotationWhileAway(t *testing.T) {
	for name, rotate := range rotations {
		t.Run(name, func(t *testing.T) {
			b, p := newBench(t), newPipe()
			filler := strings.Repeat("y", 2*edge) // enough to know a copy by
			b.write(filler + "\n")
			_, stop := b.start(p)
			b.gets(p, filler)
			b.must(stop())
			b.write("a\n")
			rotate(b)
			b.write("b\n")
			rotate(b)
			b.write("c\n")
			f, stop := b.start(p)
			eventually(t, "three more", func() bool { return len(p.frames("app")) >= 4 })
			b.must(stop())
			got := p.frames("app")
			slices.Sort(got)
			if !slices.Equal(got, []string{"a", "b", "c", filler}) {
				t.Errorf("%d frames, %+v", len(got), f.Stats())
			}
		})
	}
}

// TestFollowReadsARenamedFileOn: a writer that still has the old file open is
// heard until the file is quiet, and its last line needs no end.
func TestFollowReadsARenamedFileOn(t *testing.T) {
	b, p := newBench(t), newPipe()
	b.cfg.RotateWait = 500 * time.Millisecond
	w, err := os.Create(b.path)
	b.must(err)
	defer w.Close()
	_, stop := b.start(p)
	write := func(s string) { _, err := w.WriteString(s); b.must(err) }
	write("one\n")
	b.gets(p, "one")
	b.aside()
	write("two\n")
	b.gets(p, "one", "two")
	b.write("new\n")
	b.gets(p, "one", "two", "new")
	write("three")
	b.gets(p, "one", "two", "new", "three")
	b.must(stop())
}

// TestFollowNeverGluesOverATruncation is promise 3: what was cut off by a
// truncation stays a frame of its own.
func TestFollowNeverGluesOverATruncation(t *testing.T) {
	b, p := newBench(t), newPipe()
	f, stop := b.start(p)
	b.write("one\nhalf a li")
	b.gets(p, "one")
	b.must(os.Truncate(b.path, 0))
	eventually(t, "the truncation is seen", func() bool { return f.Stats().Truncations == 1 })
	b.write("two\n")
	b.gets(p, "one", "half a li", "two")
	b.must(os.WriteFile(b.path, []byte("three, longer than two\n"), 0o600)) // grown past what was read
	b.gets(p, "one", "half a li", "two", "three, longer than two")
	b.must(stop())
}

// TestFollowReappearingFile: removed, and made anew.
func TestFollowReappearingFile(t *testing.T) {
	b, p := newBench(t), newPipe()
	_, stop := b.start(p)
	b.write("one\nunfinished")
	b.gets(p, "one")
	b.must(os.Remove(b.path))
	b.gets(p, "one", "unfinished") // its name stays away: no more will come
	b.write("two\n")
	b.gets(p, "one", "unfinished", "two")
	b.must(stop())
	b.must(os.Remove(b.path))
	b.write("three\n")
	f, stop := b.start(p)
	b.gets(p, "one", "unfinished", "two", "three")
	b.must(stop())
	if n := f.Stats().Vanished; n != 1 {
		t.Errorf("%d files vanished; it cannot know that it had read all of it", n)
	}
}

// TestFollowSeveralFiles: each to its own channel, with its own position.
func TestFollowSeveralFiles(t *testing.T) {
	b, p := newBench(t), newPipe()
	other := filepath.Join(b.dir, "other.log")
	b.cfg.Files = append(b.cfg.Files, FollowFile{Path: other, Channel: "other"})
	b.write("a\n")
	b.must(os.WriteFile(other, []byte("b\nc\n"), 0o600))
	for range 2 { // the second time nothing is new
		_, stop := b.start(p)
		b.gets(p, "a")
		eventually(t, "the other", func() bool { return slices.Equal(p.frames("other"), []string{"b", "c"}) })
		b.must(stop())
	}
}

func TestFollowIsChecked(t *testing.T) {
	a := FollowFile{Path: "a", Channel: "c"}
	for _, c := range []FollowConfig{
		{}, {State: "s"}, {Files: []FollowFile{a}}, {Files: []FollowFile{a, a}, State: "s"},
		{Files: []FollowFile{{Path: "a"}}, State: "s"}, {Files: []FollowFile{{Channel: "c"}}, State: "s"},
		{Files: []FollowFile{a}, State: "s", Look: -1}, {Files: []FollowFile{a}, State: "s", Text: Text{Wait: -1}},
	} {
		if _, err := NewFollow(newPipe(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	b := newBench(t)
	b.cfg.State = filepath.Join(b.dir, "no", "state")
	f, err := NewFollow(newPipe(), b.cfg)
	b.must(err)
	if err := f.Run(context.Background()); !errors.Is(err, ErrState) {
		t.Errorf("a state that cannot be kept: %v", err)
	}
}
