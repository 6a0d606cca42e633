package source

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"datastream/producer/emit"
	"datastream/subjects"
)

// Defaults of a FollowConfig.
const (
	DefaultLook       = 250 * time.Millisecond
	DefaultRotateWait = 5 * time.Second
)

const (
	readChunk   = 64 << 10
	saveEvery   = time.Second
	settleEvery = 5 * time.Millisecond
	maxPause    = 5 * time.Second
)

// limits are how many records may be unsettled, after no, one, two … vain
// attempts to have the same ones settled: at last one by one, to find the one
// that is never taken.
var limits = [...]int{32_768, 1024, 32, 1}

// skipAfter is how many vain attempts a single record is given.
const skipAfter = len(limits) + 2

// A Settler is an Importer that says what became of the frames: *emit.Paced is
// one.
type Settler interface {
	Importer
	Report() emit.Report
}

// A FollowFile is one file to follow.
type FollowFile struct {
	Path    string
	Channel subjects.Channel
}

// A FollowConfig is what a Follow may be told. Files and State are required.
type FollowConfig struct {
	Files []FollowFile
	State string // the file that remembers positions; its folder must exist
	Text  Text   // how the files' bytes become records
	// FromEnd begins a file that is there at the start and not remembered after
	// its last line, not at its beginning.
	FromEnd bool
	// Look is how often the names and sizes of files are looked at.
	Look time.Duration
	// RotateWait is how long a file that was moved aside must not have grown,
	// before its unterminated last line is submitted and it is let go.
	RotateWait time.Duration
	// Grace is how long the end waits for what is submitted to be settled.
	Grace time.Duration
	// OnNotice is told what a person may want to know. It must not block.
	OnNotice func(string)
}

func (c FollowConfig) check() (FollowConfig, error) {
	var err error
	if c.Text, err = c.Text.check(); err != nil {
		return c, err
	}
	for _, d := range []struct {
		name   string
		of     *time.Duration
		preset time.Duration
	}{{"look", &c.Look, DefaultLook}, {"rotate wait", &c.RotateWait, DefaultRotateWait}, {"grace", &c.Grace, DefaultGrace}} {
		if *d.of == 0 {
			*d.of = d.preset
		}
		if *d.of < 0 {
			return c, fmt.Errorf("%w: %s is %s", ErrConfig, d.name, *d.of)
		}
	}
	if c.OnNotice == nil {
		c.OnNotice = func(string) {}
	}
	if len(c.Files) == 0 || c.State == "" {
		return c, fmt.Errorf("%w: no files to follow, or no file to remember positions in", ErrConfig)
	}
	files, seen := make([]FollowFile, len(c.Files)), map[string]bool{}
	for i, f := range c.Files {
		if _, err := subjects.ParseChannel(string(f.Channel)); err != nil {
			return c, fmt.Errorf("%w: file %q: %w", ErrConfig, f.Path, err)
		}
		path, err := filepath.Abs(f.Path)
		if err != nil || f.Path == "" || seen[path] {
			return c, fmt.Errorf("%w: file %q is named twice, or no path", ErrConfig, f.Path)
		}
		seen[path] = true
		files[i] = FollowFile{Path: path, Channel: f.Channel}
	}
	c.Files = files
	return c, nil
}

// A Follow submits what is appended to files.
type Follow struct {
	to    Settler
	cfg   FollowConfig
	stats followCounters

	// The rest belongs to Run.
	ctx    context.Context
	state  state
	tails  []*tail
	buf    []byte
	base   emit.Report // what was lost or unknown before
	flying int         // submitted, not known to be settled
	again  bool        // something was lost: go back
	vain   int         // attempts since something was settled
	lost   bool        // the last attempt was lost for certain
	dirty  bool        // something was settled since the state was saved
	saved  time.Time
	err    error // what the handle said: the end
}

// NewFollow makes a Follow. Its handle should be its own: what others lose over
// it is read again here. It wraps ErrConfig.
func NewFollow(to Settler, c FollowConfig) (*Follow, error) {
	c, err := c.check()
	if err == nil && to == nil {
		err = fmt.Errorf("%w: no handle", ErrConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("make follow source: %w", err)
	}
	return &Follow{to: to, cfg: c}, nil
}

// Run follows until ctx ends, then waits for what it submitted to be settled,
// and remembers how far. The handle must stay open until Run has returned; Run
// must not be called twice at once, nor with a state file that another Follow
// uses. The error wraps ErrState, ErrUnsettled or what the handle said.
func (f *Follow) Run(ctx context.Context) error {
	if err := f.begin(ctx); err != nil {
		return fmt.Errorf("follow files: %w", err)
	}
	defer f.closeFiles()
	var err error
	for looked := (time.Time{}); ctx.Err() == nil && f.err == nil && err == nil; {
		now := time.Now()
		if now.Sub(looked) >= f.cfg.Look {
			looked = now
			f.look(now)
		}
		busy := f.read(ctx, now)
		f.settle()
		switch {
		case f.again:
			f.rewind(ctx)
		case busy:
		case f.flying > 0:
			pause(ctx, min(settleEvery, f.cfg.Look))
		default:
			pause(ctx, f.cfg.Look)
		}
		if now.Sub(f.saved) >= saveEvery {
			err = f.save(now)
		}
	}
	if err == nil {
		err = f.finish(ctx)
	}
	if err != nil {
		return fmt.Errorf("follow files: %w", err)
	}
	return nil
}

func (f *Follow) begin(ctx context.Context) error {
	s, err := loadState(f.cfg.State)
	if err != nil {
		return err
	}
	now := time.Now()
	// Even the first line is not submitted if its position could not be kept.
	if err := s.save(f.cfg.State); err != nil {
		return err
	}
	f.state, f.saved, f.base = s, time.Time{}, f.to.Report()
	f.ctx, f.buf = ctx, make([]byte, readChunk)
	f.tails, f.flying, f.again, f.vain, f.dirty, f.err = nil, 0, false, 0, false, nil
	for _, file := range f.cfg.Files {
		t := &tail{path: file.Path, channel: file.Channel, f: f}
		t.resume(s.Files[file.Path], now)
		f.tails = append(f.tails, t)
	}
	return nil
}

func (f *Follow) look(now time.Time) {
	for _, t := range f.tails {
		t.look(now)
		if t.retire(now) {
			f.dirty = true
		}
	}
}

// read takes one chunk of each file, so that none waits for another's end.
func (f *Follow) read(ctx context.Context, now time.Time) (busy bool) {
	for _, t := range f.tails {
		for _, g := range t.gens {
			if ctx.Err() != nil || f.err != nil || f.again {
				return false
			}
			give := f.giver(t, g)
			n, err := g.read(f.buf, now, give)
			if err != nil {
				t.tell(err)
			}
			busy = busy || n == len(f.buf)
			if at, open := g.records.due(); open && !now.Before(at) {
				g.records.close(give)
			}
		}
	}
	return busy
}

// finish waits for what is submitted, and saves.
func (f *Follow) finish(ctx context.Context) error {
	if ctx.Err() != nil {
		f.err = nil // the handle only said that ctx had ended
	}
	wait, stop := context.WithTimeout(context.WithoutCancel(ctx), f.cfg.Grace)
	defer stop()
	f.await(wait)
	err := f.err
	if f.flying > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %d records will be submitted again", ErrUnsettled, f.flying))
	}
	return errors.Join(err, f.save(time.Now()))
}

// save writes the state if it changed. What it does not find any more, because
// it was just truncated, it leaves as it was.
func (f *Follow) save(now time.Time) error {
	f.saved = now
	if !f.dirty {
		return nil
	}
	for _, t := range f.tails {
		if m := t.memory(); len(m.Marks) > 0 {
			f.state.Files[t.path] = m
		}
	}
	if err := f.state.save(f.cfg.State); err != nil {
		return err
	}
	f.dirty = false
	f.stats.saves.Add(1)
	return nil
}

func (f *Follow) closeFiles() {
	for _, t := range f.tails {
		for _, g := range t.gens {
			g.close()
		}
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
