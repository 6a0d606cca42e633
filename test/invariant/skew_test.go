package invariant

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"datastream/stack/server"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/harness"
)

// TestP9_9_VersionSkew: in every message between the stages missing fields
// default and extra ones are ignored; the same for headers.
func TestP9_9_VersionSkew(t *testing.T) {
	p := open(t, nil)
	nc := p.dial(t, server.Anonymous)

	t.Run("a mux of another version", func(t *testing.T) {
		f := p.forge(t, p.invent(t, node(t)).st)
		space := p.Space()
		f.raw(space.Beat(f.st), `{}`)
		f.raw(space.Frame(f.st, "c"), "0", frame.HeaderPos, "0", "Ds-New", "1", "X-Other", "x")
		f.raw(space.Frame(f.st, "c"), "1\n2", frame.HeaderPos, "1", frame.HeaderRun, "1,1", "ds-pos", "7")
		f.raw(space.Beat(f.st), object(t, map[string]any{"assigned": 3, "drained": 3, "mood": "good", "nested": map[string]any{"a": []int{1}}}))
		if got := p.stored(t, f.st, 3).payloads("c"); !slices.Equal(got, texts(0, 3)) {
			t.Errorf("stored: %q", got)
		}
		harness.Until(t, "all is settled", func() bool { _, s := p.watcher.account(f.st); return s.Below == 3 })
		f.raw(space.Beat(f.st), object(t, map[string]any{"assigned": 3, "closed": true, "v": 2}))
		harness.Until(t, "the life is over", func() bool { _, s := p.watcher.account(f.st); return s.Closed && s.Lost == 0 })
	})

	t.Run("an ingest of another version", func(t *testing.T) {
		n := node(t)
		st, _ := p.submit(t, nc, n, "c", []byte("0"))
		p.settled(t)
		ingest := p.dial(t, server.Ingestd)
		ranges := `{"ranges":[[0,0]],"priority":"high"}`
		r, err := ingest.RequestMsg(&nats.Msg{Subject: p.Space().Repair(st), Data: []byte(ranges)}, harness.Patience)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := control.DecodeRepairAnswer(r.Data); err != nil || sum(a.Gone)+sum(a.Sent)+sum(a.Pending) != 1 {
			t.Errorf("the answer is %s, %v", r.Data, err)
		}
		publish(t, ingest, &nats.Msg{Subject: p.Space().Settled(st), Data: []byte(`{"below":1,"why":"so"}`)})
		publish(t, ingest, &nats.Msg{Subject: p.Space().Settled(st), Data: []byte(`{}`)})
		flush(t, ingest)
		p.submit(t, nc, n, "c", []byte("1"))
		p.stored(t, st, 2)
		p.settled(t)
	})

	t.Run("a producer of another version", func(t *testing.T) {
		n := node(t)
		a := ask(t, nc, p.message(n, "c", []byte("0"), "Ds-New", "1", "Ds-Pos", "99", "Traceparent", "00-1"))
		if a.Error != "" || a.Position != 0 {
			t.Fatalf("%+v", a)
		}
		st, _ := p.submit(t, nc, n, "c", []byte("1")) // the archive looks for headers that are not ours
		if got := p.stored(t, st, 2).payloads("c"); !slices.Equal(got, texts(0, 2)) {
			t.Errorf("stored: %q", got)
		}
	})
}

// TestP9_10_SemanticsOnlyInViews: with no view running everything is carried
// and stored, whatever its channel claims to be; and no package of the pipe
// imports one of the views', so it cannot know what a channel means.
func TestP9_10_SemanticsOnlyInViews(t *testing.T) {
	p, n := shared(t), node(t)
	nc := p.dial(t, server.Anonymous)
	channels := []string{"logs.app", "events.kacs.x", "metrics.counter.requests", "proc.trainer.stdout", "text.lines", "opaque", "host.cpu"}
	st, _ := p.submit(t, nc, n, "first", nil)
	for i, c := range channels {
		for range 10 {
			publish(t, nc, p.message(n, "x", nil, "Ds-New", c))
			m := p.message(n, "x", []byte{byte(i), 0xff, '{'})
			m.Subject = "ds.submit." + string(n) + "." + c
			publish(t, nc, m)
		}
	}
	flush(t, nc)
	l := p.stored(t, st, 1+20*len(channels))
	gapsAre(t, l)

	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, dir := range []string{"subjects", "service", "producer", "muxd", "ingestd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			looked++
			for _, i := range f.Imports {
				if name, _ := strconv.Unquote(i.Path.Value); strings.HasPrefix(name, "datastream/queryd") {
					t.Errorf("%s imports %s", path, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 50 {
		t.Errorf("only %d files were found", looked)
	}
}
