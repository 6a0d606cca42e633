package subjects

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"datastream/test/golden"
)

// TestTokens holds the spellings of names and subjects to testdata.
func TestTokens(t *testing.T) {
	golden.Run(t, "testdata/tokens.txt", func(t *testing.T, c golden.Case) string {
		var b strings.Builder
		for _, line := range c.Input {
			in, err := unquote(line)
			if err != nil {
				t.Fatalf("line after %d: %s: %v", c.Line, line, err)
			}
			fmt.Fprintf(&b, "%s\n", spell(t, c.Command, in))
		}
		return b.String()
	})
}

// unquote reads a Go string, with *N after it repeated.
func unquote(line string) (string, error) {
	text, times, repeated := strings.Cut(line, " * ")
	s, err := strconv.Unquote(text)
	if err != nil || !repeated {
		return s, err
	}
	n, err := strconv.Atoi(times)
	return strings.Repeat(s, max(n, 0)), err
}

func spell(t *testing.T, command, in string) string {
	switch command {
	case "node":
		n, err := ParseNode(in)
		if err != nil {
			return short(in) + " = error: " + err.Error()
		}
		checkToken(t, in, EncodeNode(n), 1)
		return short(in) + " = " + plain(EncodeNode(n))
	case "channel":
		c, err := ParseChannel(in)
		if err != nil {
			return short(in) + " = error: " + err.Error()
		}
		checkToken(t, in, EncodeChannel(c), strings.Count(in, ".")+1)
		return short(in) + " = " + plain(EncodeChannel(c))
	case "submit":
		n, c, err := Default().ParseSubmit(in)
		if err != nil {
			return "error: " + err.Error()
		}
		return fmt.Sprintf("%q %q %s", n, c, Default().Submit(n, c))
	case "parse":
		return parse(t, in)
	case "prefix":
		s, err := NewSpace(in)
		if err != nil {
			return "error: " + err.Error()
		}
		return s.StreamName()
	}
	t.Fatalf("unknown command %q", command)
	return ""
}

// short quotes a string, one of many equal pieces as in the input.
func short(s string) string {
	if len(s) <= 80 {
		return strconv.Quote(s)
	}
	for piece := 1; piece <= 2; piece++ {
		if n := len(s) / piece; strings.Repeat(s[:piece], n) == s {
			return fmt.Sprintf("%q * %d", s[:piece], n)
		}
	}
	return fmt.Sprintf("%.40q…", s)
}

// plain is a token as it is, a long one by its beginning and length.
func plain(token string) string {
	if len(token) <= 80 {
		return token
	}
	return fmt.Sprintf("%s… (%d bytes)", token[:12], len(token))
}

// parse reads a subject with the parser of its class, and checks that no other
// class's parser takes it.
func parse(t *testing.T, subject string) string {
	s := Default()
	st, ch, err := Stream{}, Channel(""), error(fmt.Errorf("%w: no class", ErrForeign))
	takers := 0
	try := func(class string, f func() (Stream, Channel, error)) {
		st2, ch2, err2 := f()
		if err2 == nil {
			takers++
		} else if st2 != (Stream{}) || ch2 != "" {
			t.Errorf("%q: a parser gave %v %q beside an error", subject, st2, ch2)
		}
		if strings.Contains(subject, class) {
			st, ch, err = st2, ch2, err2
		}
	}
	alone := func(f func(string) (Stream, error)) func() (Stream, Channel, error) {
		return func() (Stream, Channel, error) { st, err := f(subject); return st, "", err }
	}
	try(".frame.", func() (Stream, Channel, error) { return s.ParseFrame(subject) })
	try(".store.", func() (Stream, Channel, error) { return s.ParseStore(subject) })
	try(".beat.", alone(s.ParseBeat))
	try(".repair.", alone(s.ParseRepair))
	try(".settled.", alone(s.ParseSettled))
	if err != nil {
		if takers > 0 {
			t.Errorf("%q: refused by its own class and taken by another", subject)
		}
		return sentinel(t, err) + ": " + err.Error()
	}
	if takers != 1 {
		t.Errorf("%q: %d parsers take it, want 1", subject, takers)
	}
	return strings.TrimSpace(fmt.Sprintf("%q %s %q", st.Node, st.Life, ch))
}

func sentinel(t *testing.T, err error) string {
	for name, s := range map[string]error{"ErrName": ErrName, "ErrLife": ErrLife, "ErrForeign": ErrForeign, "ErrCanonical": ErrCanonical} {
		if errors.Is(err, s) {
			return name
		}
	}
	t.Errorf("no sentinel in %v", err)
	return "?"
}

// checkToken is promise 2 and the inverse of promise 1, for one name: the
// spelling is so many tokens of bytes that a server carries untouched, and
// decodes to the name.
func checkToken(t interface {
	Helper()
	Errorf(string, ...any)
}, name, spelled string, tokens int) {
	t.Helper()
	list := strings.Split(spelled, ".")
	if len(list) != tokens {
		t.Errorf("%q is spelled %q: %d tokens, want %d", name, spelled, len(list), tokens)
	}
	for _, token := range list {
		if token == "" {
			t.Errorf("%q is spelled %q: an empty token", name, spelled)
		}
	}
	if !utf8.ValidString(spelled) {
		t.Errorf("%q is spelled %q: invalid UTF-8", name, spelled)
	}
	for _, r := range spelled {
		if r <= ' ' || r == '*' || r == '>' || (r >= 0x7f && r <= 0x9f) {
			t.Errorf("%q is spelled %q: %q may not stand in a token", name, spelled, r)
		}
	}
	if ordinary(name) && spelled != name {
		t.Errorf("the ordinary name %q is spelled %q", name, spelled)
	}
	if decode(spelled) != name {
		t.Errorf("%q is spelled %q, which decodes to %q", name, spelled, decode(spelled))
	}
}

// ordinary reports whether a name needs no escape in either place.
func ordinary(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/:") == ""
}
