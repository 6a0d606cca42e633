package source

import (
	"bytes"
	"unicode/utf8"
)

// A line is one line of a text without its ending, or a piece of one that is
// longer than a line may be.
type line struct {
	text []byte // valid until the function that was given the line returns
	end  int64  // the offset in the text after the line and its ending
	cut  bool   // a piece of a longer line
}

// lines cuts a stream of bytes into lines of at most max bytes. A line ends
// with LF, and a CR before it is no part of it. A longer line becomes pieces,
// none of them cut inside a UTF-8 character. It is pure; offsets count the
// bytes fed.
type lines struct {
	max  int
	held []byte // fed and not given yet: no LF in it, at most max+1 bytes
	pos  int64  // the offset after held
	long bool   // pieces of the line in held were given
}

func newLines(max int, at int64) *lines { return &lines{max: max, pos: at} }

// feed takes the next bytes and gives each line that they complete. It keeps no
// reference to b.
func (l *lines) feed(b []byte, give func(line)) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			l.hold(b, give)
			return
		}
		if len(l.held) == 0 && !l.long && end <= l.max {
			l.pos += int64(end) + 1
			give(line{text: trimCR(b[:end]), end: l.pos})
		} else {
			l.hold(b[:end], give)
			l.last(1, give)
		}
		b = b[end+1:]
	}
}

// hold keeps bytes without LF, and gives pieces of what is surely too long. A
// line of max bytes and a CR may still become one of max.
func (l *lines) hold(b []byte, give func(line)) {
	for len(b) > 0 {
		n := min(len(b), l.max+2-len(l.held))
		l.held = append(l.held, b[:n]...)
		l.pos += int64(n)
		b = b[n:]
		if len(l.held) < l.max+2 {
			return
		}
		l.piece(give)
	}
}

// piece gives the first part of held.
func (l *lines) piece(give func(line)) {
	n := cutPlace(l.held, l.max)
	l.long = true
	give(line{text: l.held[:n], end: l.pos - int64(len(l.held)-n), cut: true})
	l.held = l.held[:copy(l.held, l.held[n:])]
}

// last gives what is left of a line, with an ending of LF or none.
func (l *lines) last(ending int, give func(line)) {
	if n := len(l.held); n > l.max && (ending == 0 || len(trimCR(l.held)) > l.max) {
		l.piece(give)
	}
	text := l.held
	if ending > 0 {
		text = trimCR(text)
	}
	l.pos += int64(ending)
	give(line{text: text, end: l.pos, cut: l.long})
	l.held, l.long = l.held[:0], false
}

// flush gives an unterminated line: no more will come of it.
func (l *lines) flush(give func(line)) {
	if len(l.held) > 0 {
		l.last(0, give)
	}
	l.long = false
}

// cutPlace is where to cut b, which is longer than max: at max, or up to three
// bytes before if a UTF-8 character would be cut.
func cutPlace(b []byte, max int) int {
	for n := max; n > 0 && n > max-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) {
			return n
		}
	}
	return max // no UTF-8
}

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}
