package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Error says what is wrong with a query and where. Every error of Parse
// and of Time.Resolve is one; errors.As finds it.
//
//	column 8: "TAEK" is no clause; did you mean TAKE?
type Error struct {
	// Column is where the offending token begins, in characters from 1; at
	// the end of the query, one more than it has.
	Column int
	// Token is the offending token as written, empty at the end of the query.
	Token string
	// Text says what is wrong and, where that needs words, what to do.
	Text string
	// Expected is what may stand there instead, where it can be listed.
	Expected []string
	// Near is the one of them that was probably meant, or empty.
	Near string
}

// Error is the whole message in one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "column %d: %s", e.Column, e.Text)
	switch {
	case e.Near != "":
		fmt.Fprintf(&b, "; did you mean %s?", e.Near)
	case len(e.Expected) > 0:
		b.WriteString("; expected " + either(e.Expected))
	}
	return b.String()
}

// failAt is an error about a token.
func failAt(t token, format string, args ...any) *Error {
	return &Error{Column: t.Column, Token: t.raw, Text: fmt.Sprintf(format, args...)}
}

// expecting adds what may stand there, and the nearest of it.
func (e *Error) expecting(words ...string) *Error {
	e.Expected = words
	if e.Near == "" {
		e.Near = nearest(e.Token, words)
	}
	return e
}

// meaning adds what was probably meant.
func (e *Error) meaning(near string) *Error {
	e.Near = near
	return e
}

// shownRunes bounds how much of a token a message repeats.
const shownRunes = 40

// shown is the token for a message: what was written, in quotes, in one line
// and not too long.
func (t token) shown() string {
	switch t.kind {
	case end:
		return "the end of the query"
	case text, binary:
		return shorten(t.raw)
	}
	return `"` + shorten(t.raw) + `"`
}

// stands is the token as the beginning of "… where … is needed".
func (t token) stands() string {
	if t.kind == end {
		return "the query ends"
	}
	return t.shown() + " stands"
}

// shorten makes a text fit a message: its beginning, all of it printable.
func shorten(s string) string {
	if utf8.RuneCountInString(s) > shownRunes {
		s = string([]rune(s[:min(len(s), shownRunes*utf8.UTFMax)])[:shownRunes-1]) + "…"
	}
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// either lists words: "A", "A or B", "A, B or C".
func either(words []string) string { return list(words, "or") }

// list joins words with commas, and the last with another word.
func list(words []string, last string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
