package mux

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// naive is a mux in one list: a frame a position.
type naive struct {
	cfg      Config
	frames   []naiveFrame
	channels map[subjects.Channel]bool
	drained  int
	buffered int
	bytes    int
	dropped  [Reasons]uint64
}

type naiveFrame struct {
	channel subjects.Channel
	payload string
	paced   bool
	kept    bool
}

func (n *naive) submit(c subjects.Channel, payloads []string, paced bool) (kept int) {
	known := n.channels[c] || len(n.channels) < n.cfg.Channels
	n.channels[c] = n.channels[c] || known
	if !known {
		delete(n.channels, c)
	}
	cut := false // the first frame that finds no room takes the rest with it …
	for _, p := range payloads {
		cost, f := len(p)+len(c)+frame.Overhead, naiveFrame{channel: c, payload: p, paced: paced}
		switch {
		case !known:
			n.dropped[ReasonChannels]++
		case len(p) > n.cfg.MaxFrame:
			n.dropped[ReasonTooBig]++
			cut = false // … up to one that is refused for itself
		case cut || n.buffered == n.cfg.BufferFrames || n.bytes+cost > n.cfg.BufferBytes:
			n.dropped[ReasonBuffer]++
			cut = true
		default:
			f.kept = true
			kept++
			n.buffered++
			n.bytes += cost
		}
		n.frames = append(n.frames, f)
	}
	return kept
}

// drain takes what a slice covers off the model and compares.
func (n *naive) drain(t *rapid.T, s Slice, ok bool) {
	if !ok {
		if n.drained != len(n.frames) {
			t.Fatalf("nothing to drain, want positions %d to %d", n.drained, len(n.frames)-1)
		}
		return
	}
	if int(s.From) != n.drained || int(s.To) > len(n.frames) || s.To <= s.From {
		t.Fatalf("slice [%d,%d) after %d of %d", s.From, s.To, n.drained, len(n.frames))
	}
	for _, c := range s.Cuts {
		for i := range c.Run.Len() {
			f := &n.frames[c.Run.Pos(i)]
			if !f.kept || f.channel != c.Run.Channel || f.paced != c.Paced || f.payload != string(c.Run.Payload(i)) {
				t.Fatalf("position %d is %s %q, want %+v", c.Run.Pos(i), c.Run.Channel, c.Run.Payload(i), *f)
			}
			f.kept = false // seen
			n.buffered--
			n.bytes -= len(f.payload) + len(f.channel) + frame.Overhead
		}
	}
	for ; n.drained < int(s.To); n.drained++ {
		if n.frames[n.drained].kept {
			t.Fatalf("slice [%d,%d) leaves out position %d", s.From, s.To, n.drained)
		}
	}
}

func TestMuxAgainstModel(t *testing.T) { // promises 1 to 4
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{MaxFrame: 40, BufferFrames: 20, BufferBytes: 1500, Channels: 3}
		m, n := New(n1, cfg, nil), &naive{cfg: cfg, channels: make(map[subjects.Channel]bool)}
		t.Repeat(map[string]func(*rapid.T){
			"submit": func(t *rapid.T) {
				c := subjects.Channel(rapid.StringMatching(`[a-e]`).Draw(t, "channel"))
				paced := rapid.Bool().Draw(t, "paced")
				list := make([]string, rapid.IntRange(0, 6).Draw(t, "frames"))
				for i := range list {
					p := fmt.Sprintf("%s%d.%d", c, len(n.frames), i)
					list[i] = p + strings.Repeat(".", rapid.IntRange(0, 44-len(p)).Draw(t, "size"))
				}
				want := len(n.frames)
				if len(list) == 0 {
					return
				}
				kept := n.submit(c, list, paced)
				got, ok := m.Submit(submission(c, list...), paced)
				if !ok || int(got.First) != want || got.Frames != len(list) || got.Kept != kept {
					t.Fatalf("submitted %d: %+v, want %d of them kept", len(list), got, kept)
				}
			},
			"skip": func(t *rapid.T) {
				k := rapid.IntRange(0, 3).Draw(t, "n")
				m.Skip(uint64(k), ReasonRefused)
				n.frames = append(n.frames, make([]naiveFrame, k)...)
				n.dropped[ReasonRefused] += uint64(k)
			},
			"drain": func(t *rapid.T) {
				s, ok := m.Drain()
				n.drain(t, s, ok)
			},
			"": func(t *rapid.T) {
				c := m.Counts()
				if int(c.Assigned) != len(n.frames) || int(c.Drained) != n.drained || c.Dropped != n.dropped ||
					c.Frames != n.buffered || c.Bytes != n.bytes || c.Channels != len(n.channels) {
					t.Fatalf("counts %+v, want %d assigned, %d drained, %d frames, %d bytes, dropped %v",
						c, len(n.frames), n.drained, n.buffered, n.bytes, n.dropped)
				}
			},
		})
	})
}
