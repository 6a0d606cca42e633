package source

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var epoch = time.Unix(1000, 0)

type wantLine struct {
	text string
	end  int64
	cut  bool
}

// naiveLines is what lines does, on the whole text at once.
func naiveLines(text string, limit int) (all []wantLine) {
	at := int64(0)
	for text != "" {
		body, rest, ended := strings.Cut(text, "\n")
		length := len(body)
		if ended {
			length++
			body = strings.TrimSuffix(body, "\r")
		}
		end, from, cut := at+int64(length), at, false
		for len(body) > limit {
			n := limit
			for n > limit-4 && !utf8.RuneStart(body[n]) {
				n--
			}
			if n == limit-4 {
				n = limit
			}
			from += int64(n)
			all = append(all, wantLine{body[:n], from, true})
			body, cut = body[n:], true
		}
		all = append(all, wantLine{body, end, cut})
		text, at = rest, end
	}
	return all
}

// chunks cuts a text at random places.
func chunks(t *rapid.T, text string) (all []string) {
	for text != "" {
		n := rapid.IntRange(1, len(text)).Draw(t, "chunk")
		all = append(all, text[:n])
		text = text[n:]
	}
	return all
}

// TestLinesAreWhole is promises 3 to 5 for single lines: however the bytes
// arrive, the lines and their offsets are those of the whole text.
func TestLinesAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(
			[]string{"\n", "\n", "\r\n", "\r", "a", "bcd", "é", "漢", "😀", "\xff", "\x80\x80\x80\x80\x80", "0123456789abcdef"}), 0, 40).Draw(t, "text"), "")
		limit := rapid.IntRange(8, 24).Draw(t, "limit")
		var got []wantLine
		give := func(l line) { got = append(got, wantLine{string(l.text), l.end, l.cut}) }
		l := newLines(limit, 0)
		for _, c := range chunks(t, text) {
			b := []byte(c)
			l.feed(b, give)
			clear(b) // the caller uses its buffer again
		}
		l.flush(give)
		if want := naiveLines(text, limit); !slices.Equal(got, want) {
			t.Fatalf("lines of %q, at most %d bytes:\n got %+v\nwant %+v", text, limit, got, want)
		}
	})
}

// TestRecordsJoinLines is promises 3 and 4 for records of several lines.
func TestRecordsJoinLines(t *testing.T) {
	rule, err := Text{Start: regexp.MustCompile(`^@`), MaxRecord: 20}.check()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 25)
	for _, c := range []struct {
		name, text string
		want       []wantLine
	}{
		{"joined", "@a\n b\n c\n@d\n", []wantLine{{"@a\n b\n c", 9, false}, {"@d", 12, false}}},
		{"no start", "b\nc\n@d\n", []wantLine{{"b\nc", 4, false}, {"@d", 7, false}}},
		{"empty lines", "@a\n\n\n@b\n", []wantLine{{"@a\n\n", 5, false}, {"@b", 8, false}}},
		{"unterminated", "@a\n b", []wantLine{{"@a\n b", 5, false}}},
		{"too long together", "@23456789\n 23456789\n 2\n@b\n",
			[]wantLine{{"@23456789\n 23456789", 20, true}, {" 2", 23, true}, {"@b", 26, false}}},
		{"a long line stands alone", "@a\n" + long + "\n b\n",
			[]wantLine{{"@a", 3, false}, {long[:20], 23, true}, {long[20:], 29, true}, {" b", 32, false}}},
	} {
		var got []wantLine
		give := func(r record) { got = append(got, wantLine{string(r.text), r.end, r.cut}) }
		r := newRecords(rule, 0)
		r.feed([]byte(c.text), epoch, give)
		r.flush(epoch, give)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// TestRecordsKeepEveryLine: with any text and any bound, the records hold every
// line, in order, none of them longer than allowed, and nothing is joined over
// a flush.
func TestRecordsKeepEveryLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(16, 40).Draw(t, "limit")
		rule := Text{Start: regexp.MustCompile(`^@`), MaxRecord: limit}
		var got, want []string
		give := func(r record) {
			if len(r.text) > limit {
				t.Fatalf("a record of %d bytes, at most %d", len(r.text), limit)
			}
			got = append(got, strings.Split(string(r.text), "\n")...)
		}
		r := newRecords(rule, 0)
		for part := range rapid.IntRange(1, 3).Draw(t, "parts") {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(
				[]string{"\n", "@", "\n@", "abc", "0123456789"}), 0, 30).Draw(t, fmt.Sprint("text", part)), "")
			for _, l := range naiveLines(text, limit) {
				want = append(want, l.text)
			}
			for _, c := range chunks(t, text) {
				r.feed([]byte(c), epoch, give)
			}
			r.flush(epoch, give)
			if len(got) != len(want) {
				t.Fatalf("after a flush %d of %d lines were given", len(got), len(want))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q\nwant %q", got, want)
		}
	})
}

// TestRecordWaitsForMore: a record of several lines is due only after its wait,
// counted from its last line.
func TestRecordWaitsForMore(t *testing.T) {
	rule, _ := Text{Start: regexp.MustCompile(`^@`), Wait: time.Second}.check()
	r := newRecords(rule, 0)
	none := func(r record) { t.Errorf("%q was given too early", r.text) }
	if _, open := r.due(); open {
		t.Error("due without a record")
	}
	r.feed([]byte("@a\n"), epoch, none)
	r.feed([]byte(" b\n"), epoch.Add(900*time.Millisecond), none)
	if at, open := r.due(); !open || !at.Equal(epoch.Add(1900*time.Millisecond)) {
		t.Errorf("due at %v, %v", at, open)
	}
	given := ""
	r.close(func(r record) { given = string(r.text) })
	if _, open := r.due(); open || given != "@a\n b" {
		t.Errorf("closed: %q, still open: %v", given, open)
	}
}

func TestTextIsChecked(t *testing.T) {
	for _, bad := range []Text{{MaxRecord: -1}, {MaxRecord: 15}, {MaxRecord: 8 << 20}, {Wait: -1}} {
		if _, err := bad.check(); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	buf := []byte(strings.Repeat(strings.Repeat("x", 100)+"\n", 600))
	l := newLines(DefaultMaxRecord, 0)
	n := 0
	give := func(line) { n++ }
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		l.feed(buf, give)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "lines/s")
}
