package subjects

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPositionIsOneDecimal: a position has one text, 0 … 2^64-2 (P1.2).
func TestPositionIsOneDecimal(t *testing.T) {
	for in, want := range map[string]Position{
		"0": 0, "7": 7, "10": 10, "9007199254740993": 9007199254740993, "18446744073709551614": MaxPosition,
	} {
		if p, err := ParsePosition(in); err != nil || p != want || p.String() != in {
			t.Errorf("%q: %d %v, want %d", in, p, err, want)
		}
	}
	for _, in := range []string{"", " ", "-1", "+1", "00", "01", "1 ", "1e3", "0x1", "١", "1_0",
		"18446744073709551615", "18446744073709551616", "18446744073709551620", "99999999999999999999", "100000000000000000000"} {
		if p, err := ParsePosition(in); !errors.Is(err, ErrPosition) {
			t.Errorf("%q: %d, %v; want ErrPosition", in, p, err)
		}
	}
}

// TestParseDecimalAgreesWithStrconv: it takes what strconv does, in the one
// form that strconv prints.
func TestParseDecimalAgreesWithStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(
			rapid.StringMatching(`[0-9]{1,21}`),
			rapid.StringMatching(`1844674407370955[0-9]{4,5}`),
			rapid.Map(rapid.Uint64(), func(n uint64) string { return strconv.FormatUint(n, 10) }),
			rapid.String(),
		).Draw(t, "text")
		n, err := strconv.ParseUint(s, 10, 64)
		canonical := err == nil && strconv.FormatUint(n, 10) == s
		got, err := ParseDecimal(s)
		if (err == nil) != canonical || (canonical && got != n) {
			t.Fatalf("%q: %d, %v; strconv gives %d, canonical %v", s, got, err, n, canonical)
		}
	})
	if n, err := ParseDecimal("18446744073709551615"); err != nil || n != math.MaxUint64 {
		t.Errorf("2^64-1: %d, %v", n, err)
	}
}

// TestLifeIsOneText: a life is read in upper case alone, and JSON carries it.
func TestLifeIsOneText(t *testing.T) {
	if aLife.String() != "01JDQ5T2M8XJ9GZ7T0V3R6B1CD" || aLife.IsZero() || !(Life{}).IsZero() {
		t.Fatalf("life %s, zero %v", aLife, aLife.IsZero())
	}
	for _, s := range []string{"", "01jdq5t2m8xj9gz7t0v3r6b1cd", "81JDQ5T2M8XJ9GZ7T0V3R6B1CD", "01JDQ5T2M8XJ9GZ7T0V3R6B1C",
		"01JDQ5T2M8XJ9GZ7T0V3R6B1CDA", "O1JDQ5T2M8XJ9GZ7T0V3R6B1CD", "01JDQ5T2M8XJ9GZ7T0V3R6B1C."} {
		if _, err := ParseLife(s); !errors.Is(err, ErrLife) {
			t.Errorf("%q: %v, want ErrLife", s, err)
		}
	}
	b, err := json.Marshal(aLife)
	if err != nil || string(b) != `"01JDQ5T2M8XJ9GZ7T0V3R6B1CD"` {
		t.Fatalf("JSON %s, %v", b, err)
	}
	var l Life
	if err := json.Unmarshal(b, &l); err != nil || l != aLife {
		t.Fatalf("from JSON %s: %v", l, err)
	}
	if err := json.Unmarshal([]byte(`"x"`), &l); !errors.Is(err, ErrLife) || l != aLife {
		t.Fatalf("a bad life: %v, left %s", err, l)
	}
}

// TestMintedLivesDiffer: lives minted at one instant differ, and those of
// different milliseconds sort by birth (P1.1).
func TestMintedLivesDiffer(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	seen := map[Life]bool{}
	for range 1000 {
		l := MintLife(now)
		if back, err := ParseLife(l.String()); err != nil || back != l || seen[l] {
			t.Fatalf("%s: read back %s, %v; seen before %v", l, back, err, seen[l])
		}
		seen[l] = true
	}
	if a, b := MintLife(now), MintLife(now.Add(time.Millisecond)); a.String() >= b.String() {
		t.Errorf("%s was born before %s and does not sort so", a, b)
	}
}

// TestNamesFitAProtocolLine: the longest subject of the longest names stays
// under half of the 4096 bytes at which a server cuts off (P1.3).
func TestNamesFitAProtocolLine(t *testing.T) {
	s, err := NewSpace(strings.Repeat("p", MaxPrefix))
	if err != nil {
		t.Fatal(err)
	}
	n, c := Node(strings.Repeat("\xff", MaxNode)), Channel(strings.Repeat("\xff", MaxChannel))
	st := Stream{Node: n, Life: aLife}
	long := Pattern(strings.Repeat("a\xff.", 4000))
	wide, _ := s.Filter(Selector{Node: &n, Pattern: long + "*"})
	exact, _ := s.Filter(Selector{Node: &n, Pattern: long})
	for _, subject := range []string{s.Submit(n, c), s.Frame(st, c), s.Store(st, c), s.Repair(st), wide, exact} {
		if len(subject) > 2048 {
			t.Errorf("%d bytes: %.60q…", len(subject), subject)
		}
	}
}

// TestStreamNamesDoNotCollide: different prefixes give different stream names
// (P2).
func TestStreamNamesDoNotCollide(t *testing.T) {
	prefix := rapid.StringMatching(`[a-c0-1\-]{1,3}(\.[a-c0-1\-]{1,3}){0,2}|ds|datastream|ds\.ds`)
	rapid.Check(t, func(t *rapid.T) {
		p, q := prefix.Draw(t, "one"), prefix.Draw(t, "other")
		a, err1 := NewSpace(p)
		b, err2 := NewSpace(q)
		if err1 != nil || err2 != nil || a.Prefix() != p {
			t.Fatalf("%q %q: %v, %v; prefix %q", p, q, err1, err2, a.Prefix())
		}
		if (a.StreamName() == b.StreamName()) != (p == q) {
			t.Fatalf("%q is %q, %q is %q", p, a.StreamName(), q, b.StreamName())
		}
		if strings.ContainsAny(a.StreamName(), " .*>/\\") {
			t.Fatalf("%q is no name for a stream", a.StreamName())
		}
	})
}

// TestFiltersSelectTheirClass: each filter takes the subjects that it is for,
// and those of no other class or node.
func TestFiltersSelectTheirClass(t *testing.T) {
	s := Default()
	st, other := Stream{Node: "a.b", Life: aLife}, Stream{Node: "a", Life: aLife}
	all := []string{
		s.Submit(st.Node, "c"), s.Submit(other.Node, "b.c"), s.Frame(st, "c"), s.Store(st, "c"),
		s.Beat(st), s.Repair(st), s.Repair(other), s.Settled(st), s.Settled(other),
	}
	for filter, want := range map[string][]string{
		s.AllSubmits():          {s.Submit(st.Node, "c"), s.Submit(other.Node, "b.c")},
		s.NodeSubmits(st.Node):  {s.Submit(st.Node, "c")},
		s.AllFrames():           {s.Frame(st, "c")},
		s.AllStored():           {s.Store(st, "c")},
		s.AllBeats():            {s.Beat(st)},
		s.AllRepairs():          {s.Repair(st), s.Repair(other)},
		s.NodeRepairs(st.Node):  {s.Repair(st)},
		s.AllSettled():          {s.Settled(st), s.Settled(other)},
		s.NodeSettled(st.Node):  {s.Settled(st)},
		s.NodeSubmits("absent"): nil,
	} {
		var got []string
		for _, subject := range all {
			if matches(filter, subject) {
				got = append(got, subject)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s takes %q, want %q", filter, got, want)
		}
	}
}
