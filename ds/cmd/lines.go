package cmd

import (
	"bufio"
	"errors"
	"io"
)

// lines reads lines of bounded length without their newline. A last line
// without one counts; an empty line is an empty payload.
type lines struct {
	r      *bufio.Reader
	limit  int
	line   []byte
	number int
	over   int   // length of a line over the limit
	err    error // what ended it, but for the end of input
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next reads a line; it is valid until the next call.
func (l *lines) next() bool {
	l.line, l.over = l.line[:0], 0
	length, got := 0, false
	for {
		part, err := l.r.ReadSlice('\n')
		got = got || len(part) > 0
		ended := err == nil
		if ended {
			part = part[:len(part)-1]
		}
		length += len(part)
		if length <= l.limit {
			l.line = append(l.line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			l.err = err
		}
		if !ended && !got {
			return false
		}
		break
	}
	l.number++
	if length > l.limit {
		l.over = length
	}
	return l.err == nil
}

// overlong is the length of a line over the limit, else 0.
func (l *lines) overlong() int { return l.over }
