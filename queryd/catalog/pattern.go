package catalog

import (
	"fmt"
	"strings"

	"datastream/queryd/value"
	"datastream/subjects"
)

// maxParameters bounds the parameters of a pattern.
const maxParameters = 8

// A pattern is a family's channel: literal text, parameters and *.
type pattern struct {
	pieces []piece
	names  []string // of the parameters, in order
	// rank orders patterns, the one that wins first: a byte for each literal
	// byte, for the end, for a parameter and for *, in this order.
	rank string
	// form is the pattern without its parameters' names: two patterns of one
	// form match the same channels.
	form string
}

type piece struct {
	kind pieceKind
	text string // of a literal
}

type pieceKind uint8

const (
	literal pieceKind = iota
	parameter
	anyRun
)

// parsePattern reads a channel pattern; the error says what is wrong with it.
func parsePattern(s string) (p pattern, err error) {
	switch {
	case s == "":
		return p, fmt.Errorf("the channel is empty")
	case len(s) > subjects.MaxChannel:
		return p, fmt.Errorf("the channel has %d bytes, more than any channel's %d", len(s), subjects.MaxChannel)
	case strings.Contains(s, "**"):
		return p, fmt.Errorf("channel %q has ** in it; one * is any run already", s)
	}
	for i, segment := range strings.Split(s, ".") {
		if i > 0 {
			p.literal(".")
		}
		if !strings.ContainsAny(segment, "{}") {
			p.plain(segment)
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(segment, "{"), "}")
		if segment != "{"+name+"}" || !value.IsPath(name) {
			return p, fmt.Errorf("channel %q: a parameter is a whole segment {name}, its name letters, digits, _ and -, not %q", s, segment)
		}
		p.pieces = append(p.pieces, piece{kind: parameter})
		p.names = append(p.names, name)
		p.rank += "2"
		p.form += "{}"
	}
	p.rank += "1"
	return p, p.checkNames(s)
}

func (p *pattern) checkNames(s string) error {
	if len(p.names) > maxParameters {
		return fmt.Errorf("channel %q has %d parameters; at most %d are allowed", s, len(p.names), maxParameters)
	}
	for i, n := range p.names {
		for _, m := range p.names[:i] {
			if n == m {
				return fmt.Errorf("channel %q has two parameters called %s", s, n)
			}
		}
		if reserved(n) {
			return fmt.Errorf("channel %q: a parameter is a label, and %s is a field of METRIC already", s, n)
		}
	}
	return nil
}

// plain adds a segment without parameters.
func (p *pattern) plain(segment string) {
	for i, text := range strings.Split(segment, "*") {
		if i > 0 {
			p.pieces = append(p.pieces, piece{kind: anyRun})
			p.rank += "3"
			p.form += "*"
		}
		p.literal(text)
	}
}

func (p *pattern) literal(text string) {
	if text == "" {
		return
	}
	p.rank += strings.Repeat("0", len(text))
	p.form += text
	if n := len(p.pieces); n > 0 && p.pieces[n-1].kind == literal {
		p.pieces[n-1].text += text
		return
	}
	p.pieces = append(p.pieces, piece{kind: literal, text: text})
}

// A match is what the parameters of a pattern stood for: places in the channel.
type match [maxParameters]struct{ from, to int }

// match reports whether the whole channel fits. Where * leaves a choice it
// takes the shortest run: pieces between two * fit at their leftmost place, and
// since each piece's end moves on with its beginning, no other place could fit
// more.
func (p *pattern) match(s string, m *match) bool {
	at, pi, param := 0, 0, 0
	star, mark, starParam := -1, 0, 0
	for {
		next, ok := p.fit(s, at, pi)
		switch {
		case pi == len(p.pieces) && at == len(s):
			return true
		case pi < len(p.pieces) && p.pieces[pi].kind == anyRun:
			star, mark, starParam = pi, at, param
			pi++
		case ok:
			if p.pieces[pi].kind == parameter {
				m[param].from, m[param].to = at, next
				param++
			}
			at, pi = next, pi+1
		case star >= 0 && mark < len(s):
			mark++ // the last * takes one byte more
			at, pi, param = mark, star+1, starParam
		default:
			return false
		}
	}
}

// fit is the place behind the literal or parameter pi, if it stands at a place.
func (p *pattern) fit(s string, at, pi int) (next int, ok bool) {
	if pi == len(p.pieces) {
		return 0, false
	}
	if x := p.pieces[pi]; x.kind == literal {
		return at + len(x.text), strings.HasPrefix(s[at:], x.text)
	}
	next = len(s) // a parameter is a whole segment: a dot or the start is behind it
	if dot := strings.IndexByte(s[at:], '.'); dot >= 0 {
		next = at + dot
	}
	return next, next > at
}
