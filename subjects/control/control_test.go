package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"datastream/subjects"
	"datastream/test/golden"
)

// decoders are all messages by name: each reads and writes again.
var decoders = map[string]func([]byte) (message, error){
	"beat":           func(b []byte) (message, error) { return as(DecodeBeat(b)) },
	"settled":        func(b []byte) (message, error) { return as(DecodeSettled(b)) },
	"repair-request": func(b []byte) (message, error) { return as(DecodeRepairRequest(b)) },
	"repair-answer":  func(b []byte) (message, error) { return as(DecodeRepairAnswer(b)) },
	"answer":         func(b []byte) (message, error) { return as(DecodeAnswer(b)) },
}

type message interface{ Encode() []byte }

func as[M message](m M, err error) (message, error) { return m, err }

// TestMessages holds what is read, refused and written to testdata.
func TestMessages(t *testing.T) {
	golden.Run(t, "testdata/messages.txt", func(t *testing.T, c golden.Case) string {
		decode := decoders[c.Command]
		if decode == nil {
			t.Fatalf("line %d: unknown message %q", c.Line, c.Command)
		}
		var b strings.Builder
		for _, line := range c.Input {
			m, err := decode([]byte(line))
			if err != nil {
				if !errors.Is(err, ErrMessage) {
					t.Errorf("%s: %v, want ErrMessage", line, err)
				}
				if !reflect.ValueOf(m).IsZero() {
					t.Errorf("%s: %+v beside an error", line, m)
				}
				fmt.Fprintf(&b, "error: %s\n", ours(err))
				continue
			}
			fmt.Fprintf(&b, "%s\n", m.Encode())
		}
		return b.String()
	})
}

// ours is an error's text without encoding/json's own words, which another
// release of Go may choose anew.
func ours(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return strings.TrimSuffix(text, e.Error()) + "(syntax)"
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return strings.TrimSuffix(text, e.Error()) + "(type of " + e.Field + ")"
	}
	return text
}

// TestEncodeGivesBackWhatWasSet: every field travels.
func TestEncodeGivesBackWhatWasSet(t *testing.T) {
	life, err := subjects.ParseLife("01JDQ5T2M8XJ9GZ7T0V3R6B1CD")
	if err != nil {
		t.Fatal(err)
	}
	ranges := []Range{{From: 1, To: 2}, {From: 4, To: 4}}
	for name, want := range map[string]message{
		"beat":           Beat{Assigned: 9, Drained: 8, Dropped: 2, Oldest: 3, Below: 4, Closed: true, Leaving: true, Gateway: true, Instance: "i"},
		"settled":        Settled{Below: 9, Lost: 3, Gone: ranges, Closed: true, Silent: true},
		"repair-request": RepairRequest{Ranges: ranges},
		"repair-answer":  RepairAnswer{Sent: ranges, Gone: ranges, Pending: ranges},
		"answer":         Answer{Node: "n1", Life: life, Position: 7, Count: 3},
	} {
		got, err := decoders[name](want.Encode())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
		if name != "answer" {
			everyFieldIsSet(t, want)
		}
	}
}

// everyFieldIsSet keeps the test above honest when a field is added.
func everyFieldIsSet(t *testing.T, m message) {
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%T.%s is not set by the test", m, v.Type().Field(i).Name)
		}
	}
}

// TestRefusalsCarryNextAlways: a paced handle goes back to next, and that may
// be 0 (P4.3); other refusals have no next, and none has a position.
func TestRefusalsCarryNextAlways(t *testing.T) {
	for reason, want := range map[string]string{
		ErrorOrder: `{"error":"order","next":0}`,
		ErrorRoom:  `{"error":"room","next":0}`,
		ErrorLost:  `{"error":"lost"}`,
	} {
		if got := string((Answer{Error: reason, Position: 7, Count: 1}).Encode()); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
}

// TestMessagesAreBounded: the longest message that is taken has MaxMessage
// bytes, the longest list MaxRanges ranges.
func TestMessagesAreBounded(t *testing.T) {
	for name, decode := range decoders {
		pad := func(n int) []byte { return []byte(`{"x":"` + strings.Repeat("x", n-8) + `"}`) }
		if _, err := decode(pad(MaxMessage)); err != nil {
			t.Errorf("%s of MaxMessage bytes: %v", name, err)
		}
		if _, err := decode(pad(MaxMessage + 1)); !errors.Is(err, ErrMessage) {
			t.Errorf("%s of MaxMessage + 1 bytes: %v, want ErrMessage", name, err)
		}
	}
	list := make([]Range, MaxRanges+1)
	for i := range list {
		list[i] = Range{From: subjects.Position(2 * i), To: subjects.Position(2 * i)}
	}
	if _, err := DecodeRepairRequest(RepairRequest{Ranges: list[1:]}.Encode()); err != nil {
		t.Errorf("MaxRanges ranges: %v", err)
	}
	if _, err := DecodeRepairRequest(RepairRequest{Ranges: list}.Encode()); !errors.Is(err, ErrMessage) {
		t.Errorf("MaxRanges + 1 ranges: %v, want ErrMessage", err)
	}
	if _, err := DecodeBeat(Beat{Instance: strings.Repeat("i", 129)}.Encode()); !errors.Is(err, ErrMessage) {
		t.Errorf("an instance of 129 bytes: %v, want ErrMessage", err)
	}
}

// TestRangeLen: both ends are counted, up to all positions there are.
func TestRangeLen(t *testing.T) {
	for r, want := range map[Range]uint64{
		{From: 0, To: 0}:                    1,
		{From: 2, To: 5}:                    4,
		{From: 0, To: subjects.MaxPosition}: 1<<64 - 1,
	} {
		if got := r.Len(); got != want {
			t.Errorf("%v: %d positions, want %d", r, got, want)
		}
	}
	var r Range
	if err := r.UnmarshalJSON([]byte(`{}`)); !errors.Is(err, ErrMessage) {
		t.Errorf("an object for a range: %v, want ErrMessage", err)
	}
}

// FuzzControl: no decoder panics on any bytes, each refuses with ErrMessage
// and nothing beside it, and what one takes means the same written again.
func FuzzControl(f *testing.F) {
	for _, s := range []string{
		`{"assigned":10,"drained":8,"dropped":1,"oldest":3,"below":5,"instance":"\ud800"}`,
		`{"below":9,"lost":3,"gone":[[2,3],[5,5]]}`, `{"sent":[[2,3]],"gone":[],"pending":null}`, `{"ranges":[[0,18446744073709551614]]}`,
		`{"node":"n1","life":"01JDQ5T2M8XJ9GZ7T0V3R6B1CD","count":3}`, `{"error":"order","next":7}`, `{"error":"\u0000","next":7}`, `null`, `[`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, decode := range decoders {
			m, err := decode(body)
			if err != nil {
				if !errors.Is(err, ErrMessage) || !reflect.ValueOf(m).IsZero() {
					t.Errorf("%s: %+v, %v", name, m, err)
				}
				continue
			}
			first := m.Encode()
			again, err := decode(first)
			if err != nil {
				t.Errorf("%s: %s was taken and %s is not: %v", name, body, first, err)
				continue
			}
			if second := again.Encode(); string(second) != string(first) {
				t.Errorf("%s: %s, then %s", name, first, second)
			}
		}
	})
}
