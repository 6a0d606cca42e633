package ring

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
	"datastream/test/golden"
)

var life = subjects.MintLife(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

func stream(node string) subjects.Stream {
	return subjects.Stream{Node: subjects.Node(node), Life: life}
}

// run makes a run of frames of the given size at the given positions.
func run(c string, size int, at ...subjects.Position) frame.Run {
	var cutter frame.Cutter
	for _, p := range at {
		cutter.Add(frame.Single(subjects.Channel(c), p, []byte(strings.Repeat("x", size))), false)
	}
	return cutter.Runs(nil)[0].Run
}

// positions reads 1,4-6.
func positions(t *testing.T, s string) (list []subjects.Position) {
	t.Helper()
	for _, r := range ranges(t, s) {
		for p := r.From; p <= r.To; p++ {
			list = append(list, p)
		}
	}
	return list
}

// ranges reads 1,4-6.
func ranges(t *testing.T, s string) (list []control.Range) {
	t.Helper()
	for item := range strings.SplitSeq(s, ",") {
		from, to, ok := strings.Cut(item, "-")
		if !ok {
			to = from
		}
		a, err1 := strconv.ParseUint(from, 10, 64)
		b, err2 := strconv.ParseUint(to, 10, 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("script: %q is no range", item)
		}
		list = append(list, control.Range{From: subjects.Position(a), To: subjects.Position(b)})
	}
	return list
}

func printRanges(list []control.Range) string {
	s := make([]string, len(list))
	for i, r := range list {
		if s[i] = r.From.String(); r.To != r.From {
			s[i] += "-" + r.To.String()
		}
	}
	return strings.Join(s, ",")
}

func printAnswer(visited []frame.Run, a control.RepairAnswer) string {
	var b strings.Builder
	for _, r := range visited {
		fmt.Fprintf(&b, "visit %s", r.Channel)
		for i := range r.Len() {
			fmt.Fprintf(&b, " %d", r.Pos(i))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "sent %s; gone %s; pending %s", printRanges(a.Sent), printRanges(a.Gone), printRanges(a.Pending))
	return b.String()
}

func TestScript(t *testing.T) {
	var r *Ring
	golden.Script(t, "testdata/ring.txt", func(t *testing.T, words []string) string {
		cmd, args := words[0], words[1:]
		switch cmd {
		case "new": // [bytes]
			n := 0
			if len(args) > 0 {
				n = number(t, args[0])
			}
			r = New(Config{Bytes: n})
		case "add": // NODE FROM TO CHANNEL:POSITIONS[:SIZE] …; a channel p… is paced
			var cuts []frame.Cut
			for _, a := range args[3:] {
				f := strings.Split(a+":0", ":")
				c := frame.Cut{Run: run(f[0], number(t, f[2]), positions(t, f[1])...), Paced: f[0][0] == 'p'}
				cuts = append(cuts, c)
			}
			r.Add(stream(args[0]), positions(t, args[1])[0], positions(t, args[2])[0], cuts)
		case "settle":
			r.Settle(stream(args[0]), positions(t, args[1])[0])
		case "find": // NODE RANGES [limit=n]
			limit := option(t, args, "limit")
			if limit == 0 {
				limit = 1 << 20
			}
			var visited []frame.Run
			a := r.Find(stream(args[0]), ranges(t, args[1]), limit, func(r frame.Run) { visited = append(visited, r) })
			return printAnswer(visited, a)
		case "oldest":
			return r.Oldest(stream(args[0])).String()
		case "close":
			r.Close(stream(args[0]))
		case "fits":
			return fmt.Sprint(r.Fits(number(t, args[0])))
		case "state":
			return fmt.Sprintf("%d bytes, %d paced, %d evicted", r.Bytes(), r.Paced(), r.Evicted())
		default:
			t.Fatalf("no command %s", cmd)
		}
		return ""
	})
}
