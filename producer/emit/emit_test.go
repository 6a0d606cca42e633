package emit

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// memorySink keeps what is submitted to it.
type memorySink struct {
	full bool
	runs []frame.Run
}

func (s *memorySink) Submit(_ subjects.Node, r frame.Run) bool {
	if s.full {
		return false
	}
	s.runs = append(s.runs, r)
	return true
}

type sample struct {
	Name  string  `json:"name"`
	Load  float64 `json:"load"`
	Note  string  `json:"note,omitempty"`
	Shown bool    `json:"-"`
}

func TestLocalCopiesAndCounts(t *testing.T) {
	s := &memorySink{}
	dropped := 0
	h := InProcess(s, node, WithMaxFrame(4), WithOnDrop(func(Reason) { dropped++ }))
	p := []byte("abcd")
	h.Submit("c", p)
	p[0] = 'X'
	h.Submit("c", nil)
	h.Submit("", nil)
	h.Submit("c", []byte("abcde"))
	s.full = true
	h.Submit("c", p)
	if len(s.runs) != 2 || string(s.runs[0].Payload(0)) != "abcd" || s.runs[1].Len() != 1 {
		t.Errorf("the sink has %v", s.runs)
	}
	want := Stats{Submitted: 5, Sent: 2, Messages: 2, Dropped: Drops{ReasonChannel: 1, ReasonSize: 1, ReasonRefused: 1}}
	if got := h.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if dropped != 3 {
		t.Errorf("the hook was told of %d drops, want 3", dropped)
	}
}

func TestEmit(t *testing.T) {
	s := &memorySink{}
	h := InProcess(s, node)
	if err := Emit(h, "c", sample{Name: "a<b>\n", Load: 0.5}); err != nil {
		t.Fatal(err)
	}
	if got, want := string(s.runs[0].Payload(0)), `{"name":"a<b>\n","load":0.5}`; got != want {
		t.Errorf("payload %s, want %s", got, want)
	}
	if err := EmitMsgpack(h, "c", &sample{Name: "a", Load: 2}); err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := msgpack.Unmarshal(s.runs[1].Payload(0), &back); err != nil {
		t.Fatal(err)
	}
	if len(back) != 2 || back["name"] != "a" || back["load"] != 2.0 {
		t.Errorf("payload %v", back)
	}
	for _, n := range []int{0, 15, 16, 65_535, 65_536} { // all three forms of a map
		big := make(map[string]int, n)
		for i := range n {
			big[strconv.Itoa(i)] = i
		}
		if _, err := Msgpack(big); err != nil {
			t.Errorf("a map of %d keys: %v", len(big), err)
		}
	}
}

func TestEmitRefusesWhatIsNoRecord(t *testing.T) {
	s := &memorySink{}
	h := InProcess(s, node)
	for _, v := range []any{nil, 7, "text", []int{1}, (*sample)(nil), func() {}, map[string]any{"f": func() {}}} {
		if err := Emit(h, "c", v); !errors.Is(err, ErrRecord) {
			t.Errorf("JSON of %T: error %v", v, err)
		}
		if err := EmitMsgpack(h, "c", v); !errors.Is(err, ErrRecord) {
			t.Errorf("MessagePack of %T: error %v", v, err)
		}
	}
	if len(s.runs) > 0 {
		t.Error("something was submitted")
	}
}

func TestReasonsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for r := range reasons {
		if s := r.String(); s == "" || seen[s] {
			t.Errorf("reason %d is called %q", int(r), s)
		} else {
			seen[s] = true
		}
	}
	if s := reasons.String(); !strings.Contains(s, "7") {
		t.Errorf("no reason is called %q", s)
	}
}
