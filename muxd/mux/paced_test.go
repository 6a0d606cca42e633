package mux

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/frame"
	"datastream/test/golden"
)

func TestPacedScript(t *testing.T) { // promise 7
	var (
		m    *Mux
		p    *Paced
		now  time.Time
		free int
	)
	room := func(cost int) bool { return cost <= free }
	show := func(out []Verdict) string {
		lines := make([]string, len(out))
		for i, v := range out {
			lines[i] = printVerdict(v)
			if v.Taken {
				free -= v.Offer.Run.Cost()
			}
		}
		return strings.Join(lines, "\n")
	}
	golden.Script(t, "testdata/paced.txt", func(t *testing.T, words []string) string {
		cmd, args := words[0], words[1:]
		switch cmd {
		case "new":
			m = New(n1, Config{
				BufferFrames: option(t, args, "frames"), Channels: option(t, args, "channels"), MaxFrame: option(t, args, "max"),
			}, nil)
			p = NewPaced(PacedConfig{
				Room: option(t, args, "room"), Held: option(t, args, "held"),
				Producers: option(t, args, "producers"), Memory: option(t, args, "memory"),
			})
			now, free = birth, 1<<20
		case "room":
			free = number(t, args[0])
		case "offer": // PRODUCER N COUNT [size=0] [channel=a] [reply=…]
			return show(p.Offer(m, offer(t, args), room, now, nil))
		case "submit":
			m.Submit(submission("a", ""), false)
		case "drain":
			drainAll(t, m)
		case "retry":
			return show(p.Retry(room, now, nil))
		case "advance":
			d, err := time.ParseDuration(args[0])
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
		case "waiting":
			return fmt.Sprintf("%d waiting, %d bytes", p.Waiting(), p.Held())
		case "close":
			m.Close()
		case "forget":
			return show(p.Forget(m, nil))
		default:
			t.Fatalf("no command %s", cmd)
		}
		return ""
	})
}

func offer(t *testing.T, args []string) Offer {
	n, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	o := Offer{Seq: frame.Seq{Producer: args[0], N: n}, Reply: args[0] + args[1]}
	channel := subjects.Channel("a")
	for _, a := range args[3:] {
		if v, ok := strings.CutPrefix(a, "reply="); ok {
			o.Reply = v
		}
		if v, ok := strings.CutPrefix(a, "channel="); ok {
			channel = subjects.Channel(v)
		}
	}
	o.Run = sized(channel, number(t, args[2]), option(t, args, "size"))
	return o
}

func printVerdict(v Verdict) string {
	a := v.Answer
	if a.Node != "n1" || a.Life != n1.Life {
		return fmt.Sprintf("%s: of %s/%s", v.Offer.Reply, a.Node, a.Life)
	}
	how := "again"
	switch {
	case a.Error != "" && v.Taken:
		return v.Offer.Reply + ": taken and refused"
	case a.Error == "order" || a.Error == "room":
		return fmt.Sprintf("%s: %s, next %d", v.Offer.Reply, a.Error, a.Next)
	case a.Error != "":
		word, _, _ := strings.Cut(a.Error, ":")
		if word == "refused" {
			word = a.Error
		}
		return v.Offer.Reply + ": " + word
	case v.Taken:
		how = "taken"
	}
	return fmt.Sprintf("%s: %s, position %d, count %d", v.Offer.Reply, how, a.Position, a.Count)
}

// handle is a naive paced producer: it has numbers 0 … total-1 to send, keeps
// a window of unanswered runs, and goes back when it is told to.
type handle struct {
	name   string
	next   uint64 // the next number to send
	total  uint64
	sizes  map[uint64]int // runs are always cut the same way
	placed map[uint64]subjects.Position
}

// TestPacedTakesEachNumberOnce lets handles send, lose answers, send again and
// go back at random, beside observers, and looks at what was drained.
func TestPacedTakesEachNumberOnce(t *testing.T) { // promise 7
	rapid.Check(t, func(t *rapid.T) {
		m := New(n1, Config{BufferFrames: 12}, nil)
		p := NewPaced(PacedConfig{Held: 700, Hold: 5 * time.Second})
		now, free := birth, 500
		room := func(cost int) bool { return cost <= free }
		handles := []*handle{}
		for _, name := range []string{"p", "q", "r"} {
			handles = append(handles, &handle{name: name, total: 25, sizes: map[uint64]int{}, placed: map[uint64]subjects.Position{}})
		}
		var cuts []frame.Cut
		hear := func(out []Verdict) {
			for _, v := range out {
				if v.Taken {
					free -= v.Offer.Run.Cost()
				}
				h := handles[slices.IndexFunc(handles, func(h *handle) bool { return h.name == v.Offer.Seq.Producer })]
				h.hear(t, v, rapid.IntRange(0, 9).Draw(t, "answer lost") == 0)
			}
		}
		step := func(liveness bool) {
			switch k := rapid.IntRange(0, 9).Draw(t, "do"); {
			case k < 5:
				h := handles[rapid.IntRange(0, 2).Draw(t, "handle")]
				if k == 0 && !liveness && h.next > 0 { // no answer for long: from some run on, again
					h.back(rapid.Uint64Range(0, h.next).Draw(t, "back to"))
				}
				if h.next < h.total {
					hear(p.Offer(m, h.send(t), room, now, nil))
				}
			case k == 5:
				m.Submit(submission("o", "x"), false)
			case k == 6:
				cuts = append(cuts, drainAll(t, m)...)
				free = 500
			case k == 7:
				now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
				hear(p.Retry(room, now, nil))
			default:
				hear(p.Retry(room, now, nil))
			}
		}
		for range 150 {
			step(false)
		}
		// Whatever happened: with room and patience everything gets through.
		for round := 0; slices.ContainsFunc(handles, func(h *handle) bool { return uint64(len(h.placed)) < h.total }); round++ {
			if round > 2000 {
				t.Fatal("a handle makes no progress")
			}
			cuts = append(cuts, drainAll(t, m)...)
			free = 500
			now = now.Add(time.Second)
			hear(p.Retry(room, now, nil))
			for _, h := range handles {
				if h.next >= h.total {
					h.back(0) // answers were lost: all of it again
				}
				hear(p.Offer(m, h.send(t), room, now, nil))
			}
		}
		checkOnce(t, handles, payloads(t, append(cuts, drainAll(t, m)...)))
	})
}

// send is the next run.
func (h *handle) send(t *rapid.T) Offer {
	n := h.next
	if h.sizes[n] == 0 {
		h.sizes[n] = int(min(rapid.Uint64Range(1, 3).Draw(t, "size"), h.total-n))
	}
	list := make([]string, h.sizes[n])
	for i := range list {
		list[i] = fmt.Sprintf("%s%d", h.name, n+uint64(i))
	}
	h.next += uint64(len(list))
	return Offer{Seq: frame.Seq{Producer: h.name, N: n}, Run: submission(subjects.Channel(h.name), list...)}
}

// back goes to the first run that begins at n or after.
func (h *handle) back(n uint64) {
	at := uint64(0)
	for at < n && h.sizes[at] > 0 {
		at += uint64(h.sizes[at])
	}
	h.next = at
}

func (h *handle) hear(t *rapid.T, v Verdict, lost bool) {
	a := v.Answer
	switch {
	case lost:
	case a.Error == "order" || a.Error == "room":
		if a.Next > v.Offer.Seq.N && a.Error == "room" {
			t.Fatalf("%s: sent on from %d to %d", h.name, v.Offer.Seq.N, a.Next)
		}
		h.back(a.Next)
		if h.next != a.Next {
			t.Fatalf("%s: next %d is no number a run begins with", h.name, a.Next)
		}
	case a.Error != "":
		t.Fatalf("%s at %d: %s", h.name, v.Offer.Seq.N, a.Error)
	default:
		for i := range a.Count {
			n, at := v.Offer.Seq.N+uint64(i), a.Position+subjects.Position(i)
			if was, ok := h.placed[n]; ok && was != at {
				t.Fatalf("%s: number %d was at %d and is at %d", h.name, n, was, at)
			}
			h.placed[n] = at
		}
	}
}

// checkOnce checks that each number is in the pipe once, in order, where the
// answers said.
func checkOnce(t *rapid.T, handles []*handle, got map[subjects.Position]string) {
	counts := make(map[string]int)
	for _, payload := range got {
		counts[payload]++
	}
	for _, h := range handles {
		for n := range h.total {
			payload, at := fmt.Sprintf("%s%d", h.name, n), h.placed[n]
			if counts[payload] != 1 || got[at] != payload {
				t.Fatalf("%s is there %d times; position %d holds %q", payload, counts[payload], at, got[at])
			}
			if n > 0 && at <= h.placed[n-1] {
				t.Fatalf("%s is at %d, the one before at %d", payload, at, h.placed[n-1])
			}
		}
	}
}
