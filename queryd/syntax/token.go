package syntax

import (
	"slices"
	"strings"
)

// A kind is what sort of token a token is (L2.1).
type kind uint8

const (
	end    kind = iota // the end of the query
	word               // the longest run of bytes that begin no other token
	text               // "…", decoded
	binary             // x"…", decoded

	lparen   // (
	rparen   // )
	lbracket // [
	rbracket // ]
	comma    // ,
	assign   // =
	equal    // ==
	unequal  // !=
	greater  // >
	atLeast  // >=
	less     // <
	atMost   // <=
	bang     // ! alone, which stands nowhere
)

// A token is one token of a query, with where it begins.
type token struct {
	Pos
	kind  kind
	raw   string // as written, a slice of the query
	value string // of a text or binary: what it stands for
}

// is reports whether the token is a keyword, ASCII case folded. A quoted
// string is never one (L2.1).
func (t token) is(keyword string) bool { return t.kind == word && folds(t.raw, keyword) }

// in reports whether the token is one of some keywords.
func (t token) in(keywords []string) bool {
	return slices.ContainsFunc(keywords, t.is)
}

// end is the offset right behind the token.
func (t token) end() int { return t.Offset + len(t.raw) }

// folds reports whether two words are equal but for the case of ASCII
// letters. strings.EqualFold would take the Kelvin sign for a k.
func folds(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if upperByte(a[i]) != upperByte(b[i]) {
			return false
		}
	}
	return true
}

// upper is a word with its ASCII letters in upper case.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}

func upperByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// What the bytes of bare words may be.
func isLetter(c byte) bool { return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// A slot is what may stand once in a query; clauses that exclude each other
// share one (L2.2). The empty slot is repeatable.
type slot string

const (
	repeatable    slot = ""
	slotTransform slot = "transform"
	slotTerminal  slot = "terminal"
	slotAggregate slot = "aggregate"
)

// A clauseWord is the first word of a clause: which modes have it, what it
// shares its place with, and how the whole clause begins in a message.
type clauseWord struct {
	word  string
	modes modeSet
	slot  slot
}

var (
	everyMode = modes(Events, Logs, Frames, Latest, Channels, Streams, Gaps, Metric)
	rowModes  = everyMode &^ modes(Metric)
	liveModes = modes(Events, Logs, Frames)
)

// clauseWords is the table of L2.2 in the order in which clauses are printed
// and named in messages.
var clauseWords = []clauseWord{
	{"FROM", modes(Logs), "FROM"},
	{"ERROR", modes(Logs), "ERROR"},
	{"CONTAINING", modes(Logs), "CONTAINING"},
	{"EXCLUDING", modes(Logs), "EXCLUDING"},
	{"PARSE", modes(Logs), "PARSE"},
	{"SINCE", everyMode, "SINCE"},
	{"UNTIL", everyMode, "UNTIL"},
	{"ZONE", everyMode, "ZONE"},
	{"WHERE", everyMode, repeatable},
	{"RATE", modes(Metric), slotTransform},
	{"DELTA", modes(Metric), slotTransform},
	{"P50", modes(Metric), slotTransform},
	{"P95", modes(Metric), slotTransform},
	{"P99", modes(Metric), slotTransform},
	{"AVG", modes(Metric), slotTerminal},
	{"MIN", modes(Metric), slotTerminal},
	{"MAX", modes(Metric), slotTerminal},
	{"SUM", modes(Metric), slotTerminal},
	{"AVG_OVER", modes(Metric), slotTerminal},
	{"MIN_OVER", modes(Metric), slotTerminal},
	{"MAX_OVER", modes(Metric), slotTerminal},
	{"SUM_OVER", modes(Metric), slotTerminal},
	{"COUNT", rowModes, slotAggregate},
	{"TOP", rowModes, slotAggregate},
	{"DISTINCT", rowModes, slotAggregate},
	{"GROUP", rowModes, slotAggregate},
	{"EVERY", rowModes, "EVERY"},
	{"SORT", everyMode, "SORT"},
	{"SKIP", everyMode, "SKIP"},
	{"TAKE", everyMode, "TAKE"},
	{"SELECT", rowModes, repeatable},
	{"WITH", liveModes, "WITH"},
	{"STREAM", liveModes, "STREAM"},
	{"AFTER", liveModes, "AFTER"},
}

// asClause is the clause that a token begins.
func asClause(t token) (clauseWord, bool) {
	i := slices.IndexFunc(clauseWords, func(c clauseWord) bool { return t.is(c.word) })
	if i < 0 {
		return clauseWord{}, false
	}
	return clauseWords[i], true
}

// clausesOf are the first words of a mode's clauses.
func clausesOf(m Mode) []string {
	var all []string
	for _, c := range clauseWords {
		if c.modes.has(m) {
			all = append(all, c.word)
		}
	}
	return all
}

// otherWords are the keywords that begin no clause. Names that are one of
// these or of clauseWords are printed in quotes (L2.11), and so are the words
// that are no literals.
var otherWords = []string{
	"EVENTS", "LOGS", "METRIC", "FRAMES", "LATEST", "CHANNELS", "STREAMS", "GAPS",
	"ONLY", "JSON", "LOGFMT", "PATTERN", "ASC", "DESC", "BY", "COUNT_DISTINCT",
	"EVENT", "LOG", "EXISTS", "PER", "NODE", "OR", "AND", "NOT",
	"STARTS_WITH", "ENDS_WITH", "CONTAINS", "HAS", "MATCHES",
	"NOT_STARTS_WITH", "NOT_ENDS_WITH", "NOT_CONTAINS", "NOT_HAS", "NOT_MATCHES",
	"IN", "NOT_IN", "IS", "NULL", "BEFORE", "NOT_BEFORE",
	"AGO", "HENCE", "TODAY", "YESTERDAY", "TRUE", "FALSE", "NAN", "INFINITY", "INF",
}

// keywords are clauseWords and otherWords by their upper-case spelling.
var keywords = func() map[string]bool {
	m := map[string]bool{}
	for _, c := range clauseWords {
		m[c.word] = true
	}
	for _, w := range otherWords {
		m[w] = true
	}
	return m
}()

// isKeyword reports whether a bare word could be read as a keyword somewhere.
func isKeyword(s string) bool { return len(s) <= len("NOT_STARTS_WITH") && keywords[upper(s)] }
