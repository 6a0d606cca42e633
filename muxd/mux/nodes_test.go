package mux

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/test/golden"
)

// life makes a life with a short name: L1 … are minted here, R1 … elsewhere.
func life(name string) (l subjects.Life) {
	copy(l[:], name)
	return l
}

func lifeName(l subjects.Life) string { return strings.TrimRight(string(l[:]), "\x00") }

func TestNodesScript(t *testing.T) { // promise 8
	var (
		n         *Nodes
		now       time.Time
		minted    int
		unsettled map[subjects.Node]bool
	)
	name := func(m *Mux) string {
		if m == nil {
			return "none"
		}
		s := fmt.Sprintf("%s/%s", m.Stream().Node, lifeName(m.Stream().Life))
		if m.Closed() {
			s += " closed"
		}
		return s
	}
	value := func(args []string, name string) string {
		for _, a := range args {
			if v, ok := strings.CutPrefix(a, name+"="); ok {
				return v
			}
		}
		return ""
	}
	has := func(args []string, word string) bool {
		return strings.Contains(strings.Join(args, " ")+" ", " "+word+" ")
	}
	golden.Script(t, "testdata/nodes.txt", func(t *testing.T, words []string) string {
		cmd, args := words[0], words[1:]
		var st subjects.Stream
		if len(args) > 0 {
			st.Node = subjects.Node(args[0])
		}
		if len(args) > 1 {
			st.Life = life(args[1])
		}
		switch cmd {
		case "new":
			now, minted, unsettled = birth, 0, make(map[subjects.Node]bool)
			n = NewNodes(NodesConfig{
				Only: subjects.Node(value(args, "only")), Instance: value(args, "instance"), Streams: option(t, args, "streams"),
				Mint: func(time.Time) subjects.Life { minted++; return life(fmt.Sprint("L", minted)) },
			})
		case "mux":
			m, born, err := n.Mux(st.Node, now)
			switch {
			case err != nil:
				return err.Error()
			case born:
				return name(m) + " born"
			}
			return name(m)
		case "find":
			return name(n.Find(st))
		case "submit":
			m, _, _ := n.Mux(st.Node, now)
			m.Submit(submission("a", ""), false)
		case "settled", "unsettled":
			unsettled[st.Node] = cmd == "unsettled"
		case "beat":
			b := control.Beat{Gateway: has(args, "gateway"), Closed: has(args, "closed"), Leaving: has(args, "leaving"), Instance: value(args, "instance")}
			if m := n.Beat(st, b, now); m != nil {
				return "yielded " + name(m)
			}
		case "expire":
			var lines []string
			for _, m := range n.Expire(now, func(m *Mux) bool { return !unsettled[m.Stream().Node] }) {
				lines = append(lines, "expired "+name(m))
			}
			return strings.Join(lines, "\n")
		case "reborn":
			return name(n.Reborn(n.Find(st), now))
		case "remove":
			n.Remove(st)
		case "advance":
			d, err := time.ParseDuration(args[0])
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
		case "conflicts":
			return fmt.Sprint(n.Conflicts())
		case "streams":
			seen := 0
			n.Each(func(*Mux) { seen++ })
			return fmt.Sprintf("%d, %d visited", n.Len(), seen)
		default:
			t.Fatalf("no command %s", cmd)
		}
		return ""
	})
}

func TestASubmissionBeatsExpiry(t *testing.T) { // promise 8
	n := NewNodes(NodesConfig{Idle: time.Second})
	m, _, err := n.Mux("n1", birth)
	if err != nil {
		t.Fatal(err)
	}
	// It comes in after Expire has found the mux idle.
	late := func(m *Mux) bool { m.Submit(submission("a", ""), false); return true }
	if got := n.Expire(birth.Add(time.Hour), late); len(got) != 0 || m.Closed() {
		t.Error("a mux expired although something was just submitted")
	}
}

func TestHeardSpendsWhatIsMissing(t *testing.T) { // promise 6
	type heard struct {
		producer string
		n        uint64
		frames   int
		missing  uint64
	}
	const most = 1<<64 - 1
	for name, script := range map[string][]heard{
		"in order":           {{"p", 0, 3, 0}, {"p", 3, 1, 0}, {"p", 4, 0, 0}, {"p", 4, 2, 0}},
		"a hole":             {{"p", 0, 1, 0}, {"p", 5, 1, 4}, {"p", 6, 1, 0}},
		"a mark shows it":    {{"p", 0, 1, 0}, {"p", 2, 0, 1}, {"p", 2, 1, 0}},
		"starts late":        {{"p", 7, 1, 1}, {"p", 8, 1, 0}},
		"starts with a mark": {{"p", 0, 0, 0}, {"p", 0, 1, 0}},
		"the largest step":   {{"p", 0, 1, 0}, {"p", 1 + MaxStep, 1, MaxStep}},
		"past it":            {{"p", 0, 1, 0}, {"p", 2 + MaxStep, 1, 1}, {"p", 3 + MaxStep, 1, 0}},
		"a step back":        {{"p", 0, 9, 0}, {"p", 0, 1, 1}, {"p", 1, 1, 0}},
		"two producers":      {{"p", 0, 1, 0}, {"q", 0, 2, 0}, {"p", 1, 1, 0}, {"q", 3, 1, 1}},
		"the last number":    {{"p", 0, 1, 0}, {"p", most - 1, 5, 1}, {"p", most, 0, 0}, {"p", 3, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewProducers(0)
			for i, h := range script {
				if got := p.Heard(n1, seq(h.producer, h.n), h.frames); got != h.missing {
					t.Errorf("step %d: %d missing, want %d", i+1, got, h.missing)
				}
			}
		})
	}
}

func TestProducersLastHeardAreRemembered(t *testing.T) { // promise 6; P4.2
	other := subjects.Stream{Node: "n2", Life: n1.Life}
	p := NewProducers(2)
	p.Heard(n1, seq("a", 0), 1)
	p.Heard(other, seq("a", 0), 5)
	p.Heard(n1, seq("a", 1), 1)
	p.Heard(n1, seq("b", 0), 1) // forgets the one of the other stream
	if got := p.Heard(n1, seq("a", 2), 1); got != 0 {
		t.Errorf("a recent producer was forgotten: %d missing", got)
	}
	if got := p.Heard(other, seq("a", 5), 1); got != 1 {
		t.Errorf("the eldest producer was not forgotten: %d missing", got)
	}
	p.Forget(n1)
	if p.heard.size != 1 || len(p.heard.groups) != 1 {
		t.Errorf("%d producers of %d streams are left, want 1 of 1", p.heard.size, len(p.heard.groups))
	}
	if got := p.Heard(n1, seq("a", 3), 1); got != 1 {
		t.Errorf("a producer of a life that is over was remembered: %d missing", got)
	}
}
