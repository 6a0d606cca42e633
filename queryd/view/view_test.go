package view

import (
	"testing"

	"datastream/queryd/catalog"
	"datastream/queryd/value"
	"datastream/subjects"
)

// TestPositionsThatConcern: a test on position holds for a range exactly if
// it holds for one position of it, however long the range (L4.4).
func TestPositionsThatConcern(t *testing.T) {
	numbers := []value.Value{value.OfInt(0), value.OfInt(-1), value.OfInt(5), value.OfFloat(5.5), value.OfFloat(5), value.OfUint(1<<64 - 2), value.OfString("5")}
	ops := []value.Op{value.Eq, value.Lt, value.Le, value.Gt, value.Ge, value.In, value.StartsWith, value.IsNull, value.Before}
	for _, op := range ops {
		for _, n := range numbers {
			for _, not := range []bool{false, true} {
				literals := []value.Value{n}
				if op == value.IsNull {
					literals = nil
				}
				test, err := value.NewTest(value.Predicate{Op: op, Not: not, Literals: literals})
				if err != nil {
					continue // the operator takes no such literal
				}
				c := IfPosition(test, literals)
				for from := uint64(0); from < 9; from++ {
					for to := from; to < 9; to++ {
						want := false
						for p := from; p <= to; p++ {
							want = want || test.Match(value.OfUint(p))
						}
						if got := c.within(from, to); got != want {
							t.Errorf("position %v %v (not: %v) in %d..%d: %v, want %v", op, n, not, from, to, got, want)
						}
					}
				}
			}
		}
	}
	test, _ := value.NewTest(value.Predicate{Op: value.Eq, Literals: []value.Value{value.OfInt(1 << 40)}})
	if !IfPosition(test, []value.Value{value.OfInt(1 << 40)}).within(1, 1<<63) {
		t.Error("a position inside a long gap was not found")
	}
}

// TestInstantsInsideAGap: BEFORE reads a number's unit from its size, so that
// it can hold in the middle of a range alone (L3.3, L4.4).
func TestInstantsInsideAGap(t *testing.T) {
	ns := value.OfTime(2e18) // 2e9 s, 2e12 ms, 2e15 µs, 2e18 ns
	test, err := value.NewTest(value.Predicate{Op: value.Before, Literals: []value.Value{ns}})
	if err != nil {
		t.Fatal(err)
	}
	c := IfPosition(test, []value.Value{ns})
	for _, r := range [][3]uint64{{3e9, 9e10, 0}, {3e9, 9e12, 1}, {3e12, 9e13, 0}, {3e12, 9e15, 1}, {1, 3e18, 1}, {3e18, 9e18, 0}} {
		if got := c.within(r[0], r[1]); got != (r[2] == 1) {
			t.Errorf("a position of %d..%d before 2e18 ns: %v", r[0], r[1], got)
		}
	}
}

// TestBorrowedFramesMayChange: a Run keeps nothing of a frame that it was lent
// but copies.
func TestBorrowedFramesMayChange(t *testing.T) {
	c, err := catalog.Read(catalog.Node{})
	if err != nil {
		t.Fatal(err)
	}
	s := &Spec{Mode: Frames, Catalog: c, Selector: subjects.Selector{Pattern: "*"}, Sort: []SortKey{{Ref: Fixed("payload")}}}
	bound := Bound(1 << 20)
	var got []string
	run, err := s.Open(&bound, func(r *Row) error { got = append(got, r.Fields[len(r.Fields)-1].Value.Text()); return nil })
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte("b")
	for i, text := range []string{"b", "a", "c"} {
		copy(payload, text)
		if err := run.Frame(&Frame{Channel: "x", Sequence: uint64(i), Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	copy(payload, "z")
	if err := run.Finish(); err != nil || len(got) != 3 || got[0] != "a" || got[1] != "b" || got[2] != "c" {
		t.Errorf("got %q, %v", got, err)
	}
	if run.Close(); bound != 1<<20 {
		t.Errorf("%d bytes were not given back", 1<<20-bound)
	}
}

func BenchmarkNoMatch(b *testing.B) {
	c, _ := catalog.Read(catalog.Node{})
	test, _ := value.NewTest(value.Predicate{Op: value.Eq, Literals: []value.Value{value.OfInt(2)}})
	s := &Spec{Mode: Events, Catalog: c, Selector: subjects.Selector{Pattern: "*"}, Wants: []value.Want{{Path: "a"}}, Where: []*Cond{If(Path(0), test)}}
	bound := Bound(1 << 20)
	run, err := s.Open(&bound, func(*Row) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	f := Frame{Channel: "app", Payload: []byte(`{"a":1,"s":"some text of usual length","b":{"c":true,"d":1.5}}`)}
	b.ReportAllocs()
	for b.Loop() {
		_ = run.Frame(&f)
	}
}
