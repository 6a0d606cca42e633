package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// read is every line, those over the limit as their length.
func read(t testing.TB, r io.Reader, limit int) (got []string, over []int, err error) {
	l := newLines(r, limit)
	for l.next() {
		if n := l.overlong(); n > 0 {
			over = append(over, n)
			continue
		}
		got = append(got, string(l.line))
	}
	if l.number != len(got)+len(over) && l.err == nil {
		t.Errorf("%d lines were counted, %d seen", l.number, len(got)+len(over))
	}
	return got, over, l.err
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 100_000) // more than the reader's buffer
	for in, want := range map[string][]string{
		"":               nil,
		"\n":             {""},
		"a":              {"a"},
		"a\n":            {"a"},
		"a\n\nb":         {"a", "", "b"},
		"\n\n":           {"", ""},
		"a\r\nb\x00\xff": {"a\r", "b\x00\xff"}, // bytes as they are
		long + "\nb\n":   {long, "b"},
		long:             {long},
	} {
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)),
			"with its end": iotest.DataErrReader(strings.NewReader(in)),
		} {
			if got, over, err := read(t, r, 1<<20); err != nil || len(over) > 0 || !slices.Equal(got, want) {
				t.Errorf("%.20q %s: %.60q, over %v, %v", in, name, got, over, err)
			}
		}
	}
}

// TestLinesOverTheLimit: a line over the limit is named by its length and
// left out; those around it are whole.
func TestLinesOverTheLimit(t *testing.T) {
	in := "aaa\n" + strings.Repeat("b", 200_000) + "\nccc\ndddd\nee\n" + strings.Repeat("f", 4)
	got, over, err := read(t, strings.NewReader(in), 3)
	if err != nil || !slices.Equal(got, []string{"aaa", "ccc", "ee"}) || !slices.Equal(over, []int{200_000, 4, 4}) {
		t.Errorf("%q, over %v, %v", got, over, err)
	}
}

// TestLinesSayWhyTheyEnd: an error of the input ends them and is kept; what
// came of a line before it is no line.
func TestLinesSayWhyTheyEnd(t *testing.T) {
	broken := errors.New("broken")
	got, _, err := read(t, io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(broken)), 100)
	if !errors.Is(err, broken) || !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzLines: as bufio's own reader of lines, but for the carriage returns
// that it strips, whatever the bytes and the limit.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "\n", "a\nb", "a\n\nb\n", "\r\n", "long line\nx"} {
		f.Add([]byte(s), 5)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = 1 + min(max(limit, 0), 1<<16)
		var want []string
		var wantOver []int
		s := bufio.NewScanner(bytes.NewReader(in))
		s.Buffer(nil, len(in)+2)
		s.Split(func(data []byte, end bool) (int, []byte, error) {
			if i := bytes.IndexByte(data, '\n'); i >= 0 {
				return i + 1, data[:i], nil
			}
			if end && len(data) > 0 {
				return len(data), data, nil
			}
			return 0, nil, nil
		})
		for s.Scan() {
			if n := len(s.Bytes()); n > limit {
				wantOver = append(wantOver, n)
			} else {
				want = append(want, s.Text())
			}
		}
		got, over, err := read(t, bytes.NewReader(in), limit)
		if err != nil || !slices.Equal(got, want) || !slices.Equal(over, wantOver) {
			t.Errorf("%q, limit %d: %q over %v, %v; want %q over %v", in, limit, got, over, err, want, wantOver)
		}
	})
}
