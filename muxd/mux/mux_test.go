package mux

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/frame"
	"datastream/test/golden"
)

var (
	birth = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	n1    = subjects.Stream{Node: "n1", Life: subjects.MintLife(birth)}
)

// submission makes a run as a client would: positions from 0.
func submission(c subjects.Channel, payloads ...string) frame.Run {
	lengths := make([]string, len(payloads))
	for i, p := range payloads {
		lengths[i] = fmt.Sprint(len(p))
	}
	h := map[string][]string{}
	if len(payloads) != 1 {
		h[frame.HeaderRun] = []string{strings.Join(lengths, ",")}
	}
	r, err := frame.DecodeSubmission(c, h, []byte(strings.Join(payloads, "\n")))
	if err != nil {
		panic(err)
	}
	return r
}

// sized makes a submission of n frames of so many bytes.
func sized(c subjects.Channel, n, size int) frame.Run {
	payloads := make([]string, n)
	for i := range payloads {
		payloads[i] = strings.Repeat("x", size)
	}
	return submission(c, payloads...)
}

// drainAll drains until there is nothing, and checks that slices follow each
// other and keep their bounds.
func drainAll(t rapid.TB, m *Mux) (cuts []frame.Cut) {
	t.Helper()
	at := m.Counts().Drained
	for s, ok := m.Drain(); ok; s, ok = m.Drain() {
		if s.From != at || s.To <= s.From {
			t.Fatalf("slice [%d,%d) follows %d", s.From, s.To, at)
		}
		at = s.To
		frames, bytes := 0, 0
		for i, c := range s.Cuts {
			frames += c.Run.Len()
			bytes += c.Run.Bytes()
			if c.Run.First() < s.From || c.Run.Last() >= s.To {
				t.Fatalf("run %d … %d is outside its slice [%d,%d)", c.Run.First(), c.Run.Last(), s.From, s.To)
			}
			if i > 0 && c.Run.First() <= s.Cuts[i-1].Run.First() {
				t.Fatal("the runs of a slice do not ascend")
			}
		}
		if frames > frame.SliceFrames || bytes > frame.SliceBytes && frames > 1 {
			t.Fatalf("a slice of %d frames and %d bytes", frames, bytes)
		}
		cuts = append(cuts, s.Cuts...)
	}
	return cuts
}

// payloads are the drained frames by position.
func payloads(t rapid.TB, cuts []frame.Cut) map[subjects.Position]string {
	t.Helper()
	got := make(map[subjects.Position]string)
	for _, c := range cuts {
		for i := range c.Run.Len() {
			if _, twice := got[c.Run.Pos(i)]; twice {
				t.Fatalf("position %d twice", c.Run.Pos(i))
			}
			got[c.Run.Pos(i)] = string(c.Run.Payload(i))
		}
	}
	return got
}

func TestScript(t *testing.T) {
	var m *Mux
	golden.Script(t, "testdata/mux.txt", func(t *testing.T, words []string) string {
		cmd, args := words[0], words[1:]
		switch cmd {
		case "new":
			var shared *Shared
			if n := option(t, args, "shared"); n > 0 {
				shared = NewShared(n)
			}
			m = New(n1, Config{
				MaxFrame: option(t, args, "max"), BufferFrames: option(t, args, "frames"),
				BufferBytes: option(t, args, "bytes"), Channels: option(t, args, "channels"),
			}, shared)
		case "at": // as if so many positions had been given and drained
			p, err := subjects.ParsePosition(args[0])
			if err != nil {
				t.Fatal(err)
			}
			m.next, m.drained, m.drain.at = p, p, p
		case "submit": // CHANNEL [frames=1] [size=0] [paced=1]
			r := sized(subjects.Channel(args[0]), max(1, option(t, args, "frames")), option(t, args, "size"))
			got, ok := m.Submit(r, option(t, args, "paced") > 0)
			if !ok {
				return "refused"
			}
			return fmt.Sprintf("first %d, kept %d of %d", got.First, got.Kept, got.Frames)
		case "skip":
			if !m.Skip(uint64(number(t, args[0])), ReasonProducer) {
				return "refused"
			}
		case "fits":
			r := sized(subjects.Channel(args[0]), max(1, option(t, args, "frames")), option(t, args, "size"))
			return fmt.Sprint(m.fit(r, hash(r.Channel)) == fits)
		case "drain":
			return printSlice(m.Drain())
		case "counts":
			return printCounts(m.Counts())
		case "close":
			m.Close()
		default:
			t.Fatalf("no command %s", cmd)
		}
		return ""
	})
}

func printSlice(s Slice, ok bool) string {
	if !ok {
		return "nothing"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%d,%d)", s.From, s.To)
	for _, c := range s.Cuts {
		fmt.Fprintf(&b, " %s", c.Run.Channel)
		if c.Paced {
			b.WriteString("(paced)")
		}
		for i := 0; i < c.Run.Len(); {
			n := c.Run.Consecutive(i)
			fmt.Fprintf(&b, ":%d", c.Run.Pos(i))
			if n > 1 {
				fmt.Fprintf(&b, "-%d", c.Run.Pos(i+n-1))
			}
			i += n
		}
	}
	return b.String()
}

func printCounts(c Counts) string {
	s := fmt.Sprintf("assigned %d, drained %d, buffered %d (%d bytes), channels %d", c.Assigned, c.Drained, c.Frames, c.Bytes, c.Channels)
	for r, n := range c.Dropped {
		if n > 0 {
			s += fmt.Sprintf(", dropped %s %d", Reason(r), n)
		}
	}
	return s
}

func seq(producer string, n uint64) frame.Seq { return frame.Seq{Producer: producer, N: n} }
