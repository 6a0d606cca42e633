package source

import (
	"fmt"
	"regexp"
	"time"

	"datastream/subjects/frame"
)

// Defaults of a Text.
const (
	// DefaultMaxRecord leaves a margin under the largest payload (P1.4), for a
	// mux whose bound is a little lower.
	DefaultMaxRecord = frame.MaxPayload - 4<<10
	// DefaultWait is how long a record of several lines waits for more.
	DefaultWait = 500 * time.Millisecond
)

// A Text says how bytes become records. The zero Text makes each line one.
type Text struct {
	// MaxRecord bounds a record, in bytes. A longer line is submitted in
	// pieces, each a record by itself.
	MaxRecord int
	// Start, if set, matches the lines that begin a record; a line that does
	// not match is joined to the record before with a newline.
	Start *regexp.Regexp
	// Wait is how long after its last line a record is submitted if nothing
	// follows. It matters only with Start.
	Wait time.Duration
}

func (t Text) check() (Text, error) {
	if t.MaxRecord == 0 {
		t.MaxRecord = DefaultMaxRecord
	}
	if t.Wait == 0 {
		t.Wait = DefaultWait
	}
	switch {
	case t.MaxRecord < 16 || t.MaxRecord > frame.MaxBody:
		return t, fmt.Errorf("%w: a record of at most %d bytes; it must be 16 to %d", ErrConfig, t.MaxRecord, frame.MaxBody)
	case t.Wait < 0:
		return t, fmt.Errorf("%w: a record that waits %s", ErrConfig, t.Wait)
	}
	return t, nil
}

// A record is what becomes one frame.
type record struct {
	text []byte // valid until the function that was given the record returns
	end  int64  // the offset in the text after the record
	cut  bool   // cut from a line, or a record of several, that was too long
}

// records makes records of a stream of bytes. It is pure: time is an argument.
type records struct {
	rule  Text
	lines *lines
	held  []byte // the lines of a record that may go on
	open  bool   // held is one, perhaps an empty one
	cut   bool   // held goes on a record that became too long
	end   int64  // after held
	since time.Time
}

func newRecords(t Text, at int64) *records {
	return &records{rule: t, lines: newLines(t.MaxRecord, at), end: at}
}

// feed takes the next bytes and gives the records that they complete.
func (r *records) feed(b []byte, now time.Time, give func(record)) {
	r.lines.feed(b, func(l line) { r.add(l, now, give) })
}

func (r *records) add(l line, now time.Time, give func(record)) {
	if r.rule.Start == nil || l.cut {
		r.close(give)
		give(record(l))
		return
	}
	switch starts := r.rule.Start.Match(l.text); {
	case starts || !r.open:
		r.close(give)
		r.begin(l, false)
	case len(r.held)+1+len(l.text) > r.rule.MaxRecord:
		r.cut = true
		r.close(give)
		r.begin(l, true)
	default:
		r.held = append(append(r.held, '\n'), l.text...)
	}
	r.end, r.since = l.end, now
}

func (r *records) begin(l line, cut bool) {
	r.held = append(r.held[:0], l.text...)
	r.open, r.cut = true, cut
}

// due is when the held record is to be closed, if there is one.
func (r *records) due() (time.Time, bool) { return r.since.Add(r.rule.Wait), r.open }

// close gives the held record: it will not go on.
func (r *records) close(give func(record)) {
	if !r.open {
		return
	}
	r.open = false
	give(record{text: r.held, end: r.end, cut: r.cut})
}

// flush gives all that is held: the text goes on elsewhere, or not at all, and
// nothing is joined over that.
func (r *records) flush(now time.Time, give func(record)) {
	r.lines.flush(func(l line) { r.add(l, now, give) })
	r.close(give)
}
