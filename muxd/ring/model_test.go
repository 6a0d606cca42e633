package ring

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/subjects/frame"
)

// naive is a ring in one list, oldest first, searched from end to end.
type naive struct {
	budget  int
	runs    []naiveRun
	added   map[string]subjects.Position
	below   map[string]subjects.Position
	heavy   []string // in the order in which they became so
	evicted uint64
}

type naiveRun struct {
	node string
	cut  frame.Cut
}

func (n *naive) bytes(node string) (sum int) {
	for _, r := range n.runs {
		if node == "" || r.node == node {
			sum += r.cut.Run.Cost()
		}
	}
	return sum
}

// weigh renews the list of heavy streams.
func (n *naive) weigh() {
	n.heavy = slices.DeleteFunc(n.heavy, func(node string) bool { return n.bytes(node) <= n.budget/4 })
	for _, r := range n.runs {
		if !slices.Contains(n.heavy, r.node) && n.bytes(r.node) > n.budget/4 {
			n.heavy = append(n.heavy, r.node)
		}
	}
}

// oldest is the index of the first unpaced run, of a node or of all; or -1.
func (n *naive) oldest(node string) int {
	return slices.IndexFunc(n.runs, func(r naiveRun) bool { return !r.cut.Paced && (node == "" || r.node == node) })
}

func (n *naive) victim(node string) int {
	if i := n.oldest(node); i >= 0 && n.bytes(node) > n.budget/4 {
		return i
	}
	best, most := -1, 0
	for _, h := range n.heavy {
		if i := n.oldest(h); i >= 0 && n.bytes(h) > most {
			best, most = i, n.bytes(h)
		}
	}
	if best >= 0 {
		return best
	}
	return n.oldest("")
}

func (n *naive) add(node string, to subjects.Position, cuts []frame.Cut) {
	n.added[node] = to
	for _, c := range cuts {
		n.runs = append(n.runs, naiveRun{node, c})
		n.weigh()
		for n.bytes("") > n.budget && n.oldest("") >= 0 {
			i := n.victim(node)
			v := n.runs[i]
			for k := range v.cut.Run.Len() {
				if v.cut.Run.Pos(k) >= n.below[v.node] {
					n.evicted++
				}
			}
			n.runs = slices.Delete(n.runs, i, i+1)
			n.weigh()
		}
	}
}

func (n *naive) settle(node string, below subjects.Position) {
	n.below[node] = max(n.below[node], min(below, n.added[node]))
	n.runs = slices.DeleteFunc(n.runs, func(r naiveRun) bool { return r.node == node && r.cut.Run.Last() < n.below[node] })
	n.weigh()
}

// slice draws the next slice of a node: positions in order, some dropped, the
// others spread over channels.
func (n *naive) slice(t *rapid.T, node string) (from, to subjects.Position, cuts []frame.Cut) {
	from = n.added[node]
	var c frame.Cutter
	for to = from; to < from+subjects.Position(rapid.IntRange(1, 12).Draw(t, "positions")); to++ {
		channel := rapid.SampledFrom([]string{"", "a", "b", "p"}).Draw(t, "channel")
		if channel == "" {
			continue // dropped
		}
		body := fmt.Sprintf("%s/%d%0*d", node, to, rapid.IntRange(0, 60).Draw(t, "size"), 0)
		c.Add(frame.Single(subjects.Channel(channel), to, []byte(body)), channel == "p")
	}
	return from, to, c.Runs(nil)
}

// find checks an answer position by position.
func (n *naive) find(t *rapid.T, node string, ask []control.Range, limit int, visited []frame.Run, a control.RepairAnswer) {
	var asked []subjects.Position
	for _, r := range ask {
		for p := r.From; p <= r.To; p++ {
			asked = append(asked, p)
		}
	}
	var want []frame.Run
	held, sent := map[subjects.Position]bool{}, map[subjects.Position]bool{}
	for _, r := range n.runs {
		hit := false
		for i := 0; r.node == node && i < r.cut.Run.Len(); i++ {
			held[r.cut.Run.Pos(i)] = true
			hit = hit || slices.Contains(asked, r.cut.Run.Pos(i))
		}
		if hit {
			want = append(want, r.cut.Run)
		}
	}
	end, bytes := n.added[node], 0
	for i, r := range want {
		if bytes += len(r.Body()); i > 0 && bytes > limit {
			want, end = want[:i], r.First()
			break
		}
		for k := range r.Len() {
			sent[r.Pos(k)] = true
		}
	}
	if len(visited) != len(want) {
		t.Fatalf("visited %d runs, want %d", len(visited), len(want))
	}
	for i, r := range want {
		if visited[i].First() != r.First() || visited[i].Channel != r.Channel || string(visited[i].Body()) != string(r.Body()) {
			t.Fatalf("visit %d is of %s at %d, want %s at %d", i, visited[i].Channel, visited[i].First(), r.Channel, r.First())
		}
	}
	for _, p := range asked {
		said, expect := where(a, p), ""
		switch {
		case sent[p]:
			expect = "sent"
		case p >= n.added[node]:
			expect = "pending"
		case !held[p] && p < end:
			expect = "gone"
		}
		if said != expect {
			t.Fatalf("position %d is %q, want %q (held %v, end %d, added %d)", p, said, expect, held[p], end, n.added[node])
		}
	}
	for _, list := range [][]control.Range{a.Sent, a.Gone, a.Pending} {
		for _, r := range list {
			for p := r.From; p <= r.To; p++ {
				if !slices.Contains(asked, p) {
					t.Fatalf("position %d is answered and was not asked for", p)
				}
			}
		}
	}
	if _, err := control.DecodeRepairAnswer(a.Encode()); err != nil {
		t.Fatal(err)
	}
}

// where is the list an answer has a position in.
func where(a control.RepairAnswer, p subjects.Position) (list string) {
	for name, ranges := range map[string][]control.Range{"sent": a.Sent, "gone": a.Gone, "pending": a.Pending} {
		if slices.ContainsFunc(ranges, func(r control.Range) bool { return r.From <= p && p <= r.To }) {
			list += name
		}
	}
	return list
}

func TestRingAgainstModel(t *testing.T) { // promises 1 to 5
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(500, 5000).Draw(t, "budget")
		r := New(Config{Bytes: budget})
		n := &naive{budget: budget, added: map[string]subjects.Position{}, below: map[string]subjects.Position{}}
		nodes := rapid.SampledFrom([]string{"m", "n", "o", "p"})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				node := nodes.Draw(t, "node")
				from, to, cuts := n.slice(t, node)
				n.add(node, to, cuts)
				r.Add(stream(node), from, to, cuts)
			},
			"settle": func(t *rapid.T) {
				node := nodes.Draw(t, "node")
				below := n.below[node] + subjects.Position(rapid.IntRange(-3, 25).Draw(t, "ahead"))
				if below > 1<<60 {
					below = 0
				}
				n.settle(node, below)
				r.Settle(stream(node), below)
			},
			"find": func(t *rapid.T) {
				node := nodes.Draw(t, "node")
				var ask []control.Range
				at := n.below[node]
				for range rapid.IntRange(0, 5).Draw(t, "ranges") {
					from := at + subjects.Position(rapid.IntRange(0, 9).Draw(t, "gap"))
					to := from + subjects.Position(rapid.IntRange(0, 15).Draw(t, "length"))
					ask, at = append(ask, control.Range{From: from, To: to}), to+1
				}
				limit := rapid.IntRange(0, 500).Draw(t, "limit")
				var visited []frame.Run
				a := r.Find(stream(node), ask, limit, func(r frame.Run) { visited = append(visited, r) })
				n.find(t, node, ask, limit, visited, a)
			},
			"close": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
					return
				}
				node := nodes.Draw(t, "node")
				r.Close(stream(node))
				n.settle(node, n.added[node])
				delete(n.added, node)
				delete(n.below, node)
			},
			"": func(t *rapid.T) { n.check(t, r) },
		})
	})
}

func (n *naive) check(t *rapid.T, r *Ring) {
	paced := 0
	for _, x := range n.runs {
		if x.cut.Paced {
			paced += x.cut.Run.Cost()
		}
	}
	if r.Bytes() != n.bytes("") || r.Paced() != paced || r.Evicted() != n.evicted {
		t.Fatalf("%d bytes, %d paced, %d evicted; want %d, %d, %d", r.Bytes(), r.Paced(), r.Evicted(), n.bytes(""), paced, n.evicted)
	}
	if r.Bytes() > n.budget && r.Bytes() != r.Paced() {
		t.Fatalf("%d bytes of %d, of which %d paced", r.Bytes(), n.budget, r.Paced())
	}
	for node, want := range n.added {
		if i := slices.IndexFunc(n.runs, func(r naiveRun) bool { return r.node == node }); i >= 0 {
			want = n.runs[i].cut.Run.First()
		}
		if got := r.Oldest(stream(node)); got != want {
			t.Fatalf("oldest of %s is %d, want %d", node, got, want)
		}
	}
}
