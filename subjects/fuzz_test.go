package subjects

import (
	"strings"
	"testing"
)

// aLife is a life for subjects that need one.
var aLife = mustLife("01JDQ5T2M8XJ9GZ7T0V3R6B1CD")

func mustLife(s string) Life {
	l, err := ParseLife(s)
	if err != nil {
		panic(err)
	}
	return l
}

// FuzzNode is promises 1 and 2 for nodes: any bytes within bounds have a
// canonical spelling that every parser gives back.
func FuzzNode(f *testing.F) {
	for _, s := range []string{"n1", ".", "%", "%41", "a b", "\x00\xff", "é\u0085", strings.Repeat("\xff", MaxNode), ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		n, err := ParseNode(name)
		if err != nil {
			if len(name) >= 1 && len(name) <= MaxNode {
				t.Fatalf("%q is within bounds: %v", name, err)
			}
			return
		}
		checkToken(t, name, EncodeNode(n), 1)
		roundTrip(t, Stream{Node: n, Life: aLife}, "a.b")
	})
}

// FuzzChannel is promises 1 and 2 for channels.
func FuzzChannel(f *testing.F) {
	for _, s := range []string{"proc.x", ".", "..", "%", "a.%.b", "%.", "%41.%", "*.>", "\x00\xff", "a\xc2.b", strings.Repeat(".", MaxChannel), ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		c, err := ParseChannel(name)
		if err != nil {
			if len(name) >= 1 && len(name) <= MaxChannel {
				t.Fatalf("%q is within bounds: %v", name, err)
			}
			return
		}
		checkToken(t, name, EncodeChannel(c), strings.Count(name, ".")+1)
		roundTrip(t, Stream{Node: "n.1", Life: aLife}, c)
	})
}

// roundTrip spells a stream and channel in every class and reads them back.
func roundTrip(t *testing.T, st Stream, c Channel) {
	t.Helper()
	s := Default()
	if n, ch, err := s.ParseSubmit(s.Submit(st.Node, c)); err != nil || n != st.Node || ch != c {
		t.Errorf("submit %q: %q %q, %v", s.Submit(st.Node, c), n, ch, err)
	}
	if got, ch, err := s.ParseFrame(s.Frame(st, c)); err != nil || got != st || ch != c {
		t.Errorf("frame %q: %v %q, %v", s.Frame(st, c), got, ch, err)
	}
	if got, ch, err := s.ParseStore(s.Store(st, c)); err != nil || got != st || ch != c {
		t.Errorf("store %q: %v %q, %v", s.Store(st, c), got, ch, err)
	}
	for class, f := range map[string]struct {
		make func(Stream) string
		read func(string) (Stream, error)
	}{
		"beat":    {s.Beat, s.ParseBeat},
		"repair":  {s.Repair, s.ParseRepair},
		"settled": {s.Settled, s.ParseSettled},
	} {
		if got, err := f.read(f.make(st)); err != nil || got != st {
			t.Errorf("%s %q: %v, %v", class, f.make(st), got, err)
		}
	}
}

// FuzzSubmitSubject is P2.2: whatever subject a submission came on, what is
// published of it is canonical and means the same.
func FuzzSubmitSubject(f *testing.F) {
	for _, s := range []string{"n1.a", "%.%", "n%2e.a%20b", "n..a", "n.a..", "*.>", "n.%4", "n.%zz.\x00\xff", "n.a.%", "%%.%%"} {
		f.Add("ds.submit." + s)
	}
	f.Fuzz(func(t *testing.T, subject string) {
		s := Default()
		n, c, err := s.ParseSubmit(subject)
		if err != nil {
			if n != "" || c != "" {
				t.Fatalf("%q: %q %q beside an error", subject, n, c)
			}
			return
		}
		checkToken(t, string(n), EncodeNode(n), 1)
		checkToken(t, string(c), EncodeChannel(c), strings.Count(string(c), ".")+1)
		roundTrip(t, Stream{Node: n, Life: aLife}, c)
	})
}

// FuzzStrictSubject is promise 3: a subject that a strict parser takes is
// spelled as this package spells it, to the byte.
func FuzzStrictSubject(f *testing.F) {
	for _, class := range []string{"frame", "store", "beat", "repair", "settled"} {
		for _, tail := range []string{"", ".", ".a", ".%", ".a..b", ".%41"} {
			f.Add("ds." + class + ".n1." + aLife.String() + tail)
		}
	}
	f.Fuzz(func(t *testing.T, subject string) {
		s := Default()
		same := func(err error, again func() string) {
			if err == nil && again() != subject {
				t.Errorf("%q was taken and is spelled %q", subject, again())
			}
		}
		st, c, err := s.ParseFrame(subject)
		same(err, func() string { return s.Frame(st, c) })
		st, c, err = s.ParseStore(subject)
		same(err, func() string { return s.Store(st, c) })
		st, err = s.ParseBeat(subject)
		same(err, func() string { return s.Beat(st) })
		st, err = s.ParseRepair(subject)
		same(err, func() string { return s.Repair(st) })
		st, err = s.ParseSettled(subject)
		same(err, func() string { return s.Settled(st) })
	})
}
