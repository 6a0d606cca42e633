package plan

import (
	"encoding/hex"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"datastream/queryd/catalog"
	"datastream/queryd/syntax"
	"datastream/queryd/view"
	"datastream/subjects"
)

// lives are what a script calls A, B and C; they sort so.
var lives = map[string]subjects.Life{"A": {1}, "B": {2}, "C": {3}}

// now is the evaluation time of all tests.
const now = 1000e9

// a shelf is a store for tests: frames in commit order, and what is known of
// their streams.
type shelf struct {
	frames []view.Frame
	more   map[subjects.Stream]*view.Account // evicted intervals and beats
}

// load reads a script's lines:
//
//	@10                    what follows was committed at second 10
//	n1/A chan 0 payload    a frame, a message of its own
//	+ n1/A chan 1 payload  a frame of the same message
//	beat n1/A heard assigned drained dropped [over]
//	evicted n1/A from to
//
// A payload may be x"00ff" or a Go string in quotes.
func load(lines []string) (*shelf, error) {
	s := &shelf{more: map[subjects.Stream]*view.Account{}}
	var at int64
	var seq uint64
	place := 0
	for _, line := range lines {
		words := strings.SplitN(line, " ", 4)
		switch {
		case strings.HasPrefix(line, "@"):
			n, err := strconv.ParseInt(line[1:], 10, 64)
			if err != nil {
				return nil, err
			}
			at = n * 1e9
			continue
		case words[0] == "beat" || words[0] == "evicted":
			s.tell(strings.Fields(line))
			continue
		case words[0] == "+":
			place++
			words = strings.SplitN(line[2:], " ", 4)
		default:
			seq, place = seq+1, 0
		}
		position, err := strconv.ParseUint(words[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		payload := ""
		if len(words) == 4 {
			payload = payloadOf(words[3])
		}
		s.frames = append(s.frames, view.Frame{Stream: streamOf(words[0]), Channel: subjects.Channel(words[1]),
			Position: subjects.Position(position), Sequence: seq, Place: place, Instant: at, Payload: []byte(payload)})
	}
	return s, nil
}

func (s *shelf) tell(words []string) {
	st := streamOf(words[1])
	a := s.more[st]
	if a == nil {
		a = &view.Account{Stream: st}
		s.more[st] = a
	}
	var n [4]uint64
	for i := range min(len(words)-2, 4) {
		n[i], _ = strconv.ParseUint(words[2+i], 10, 64)
	}
	if words[0] == "evicted" {
		a.Evicted = append(a.Evicted, view.Interval{From: subjects.Position(n[0]), To: subjects.Position(n[1])})
		return
	}
	a.Beat = &view.Beat{Heard: int64(n[0]) * 1e9, Assigned: subjects.Position(n[1]), Drained: subjects.Position(n[2]),
		Dropped: n[3], Over: len(words) == 7}
}

func streamOf(s string) subjects.Stream {
	node, life, _ := strings.Cut(s, "/")
	return subjects.Stream{Node: subjects.Node(node), Life: lives[life]}
}

func payloadOf(s string) string {
	if h, ok := strings.CutPrefix(s, `x"`); ok {
		b, _ := hex.DecodeString(strings.TrimSuffix(h, `"`))
		return string(b)
	}
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}

// accounts are those of all streams.
func (s *shelf) accounts() []*view.Account {
	all := map[subjects.Stream]*view.Account{}
	for st, a := range s.more {
		c := *a
		all[st] = &c
	}
	sorted := append([]view.Frame(nil), s.frames...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Position < sorted[j].Position })
	for _, f := range sorted {
		a := all[f.Stream]
		if a == nil {
			a = &view.Account{Stream: f.Stream}
			all[f.Stream] = a
		}
		a.Last = max(a.Last, f.Instant)
		if n := len(a.Stored); n > 0 && a.Stored[n-1].To+1 == f.Position {
			a.Stored[n-1].To = f.Position
			continue
		}
		a.Stored = append(a.Stored, view.Interval{From: f.Position, To: f.Position, Instant: f.Instant, Sequence: f.Sequence, FramePlace: f.Place})
	}
	var out []*view.Account
	for _, a := range all {
		out = append(out, a)
	}
	return out
}

// ask runs a query over the shelf as a reader of the store would. An eager
// reader hands over every frame; another leaves out what the Read does not
// want and stops when the run is full.
func (s *shelf) ask(query string, eager bool, memory view.Memory) (rows []string, err error) {
	q, err := syntax.Parse(query)
	if err != nil {
		return nil, err
	}
	p, err := New(q, testCatalog, now)
	if err != nil {
		return nil, err
	}
	run, err := p.Spec.Open(memory, func(r *view.Row) error {
		rows = append(rows, string(r.AppendJSON(nil)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer run.Close()
	if p.Read.Accounts {
		for _, a := range s.accounts() {
			if err := run.Account(a); err != nil {
				return nil, err
			}
		}
	}
	for i := range s.frames {
		f := s.frames[i]
		if p.Read.Order == view.NewestFirst {
			f = s.frames[len(s.frames)-1-i]
		}
		if !eager && (!p.Read.wants(&f) || run.Full()) {
			continue
		}
		if !p.Read.Payloads {
			f.Payload = nil
		}
		if err := run.Frame(&f); err != nil {
			return nil, err
		}
	}
	return rows, run.Finish()
}

func (r *Read) wants(f *view.Frame) bool {
	return r.Frames && !r.None && r.Selector.Match(f.Stream, f.Channel) && f.Instant >= r.Since && (!r.HasUntil || f.Instant < r.Until)
}

func plenty() view.Memory {
	b := view.Bound(math.MaxInt64)
	return &b
}

var testCatalog = func() *catalog.Catalog {
	c, err := catalog.Read(catalog.Node{})
	if err != nil {
		panic(err)
	}
	return c
}()
