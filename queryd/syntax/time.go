package syntax

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A Time is an instant as written; Resolve gives its nanoseconds (L3).
type Time struct {
	Pos
	Kind  TimeKind
	Span  *Duration // of Ago and Hence
	Text  string    // of Date, DateTime and Quoted
	Nanos int64     // of Nanos
}

// A TimeKind is a way to write an instant.
type TimeKind uint8

// The ways to write an instant.
const (
	Ago       TimeKind = iota // 1h ago
	Hence                     // 1h hence
	Today                     // today: the first instant of the day
	Yesterday                 // yesterday
	Date                      // 2025-01-31: its midnight
	DateTime                  // 2025-01-31T23:59:59
	Quoted                    // "2025-01-31T23:59:59.25+01:00"
	Nanos                     // 1735689600000000000
)

// A Duration is a length of time: 5m.
type Duration struct {
	Pos
	Count uint64
	Unit  string // ms, s, m, h, d or w
}

// unitNanos are the units, a day being 24 hours.
var unitNanos = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": day, "w": 7 * day,
}

const day = 24 * time.Hour

// Length is the duration, more than zero. A day has 24 hours here; that
// buckets of whole days follow the zone is for whoever makes them (L8.5).
func (d *Duration) Length() time.Duration { return time.Duration(d.Count) * unitNanos[d.Unit] }

func (*Time) node()     {}
func (*Duration) node() {}

// Resolve is the instant in nanoseconds since the epoch, given the query's
// evaluation time (L3.1) and zone. An error is an *Error: the instant is
// outside 0 … 2^63-1, or the zone skips or repeats what was written.
func (t *Time) Resolve(now int64, zone *time.Location) (int64, error) {
	n, why := t.resolve(now, zone)
	if why != "" {
		return 0, &Error{Column: t.Column, Token: t.written(), Text: fmt.Sprintf(`"%s" %s`, t.written(), why)}
	}
	return n, nil
}

// Relative reports whether the instant depends on the evaluation time.
func (t *Time) Relative() bool { return t.Kind <= Yesterday }

// outside is what is wrong with an instant that int64 nanoseconds since the
// epoch do not hold.
const outside = "is outside the times that exist here, 1970 to 2262"

func (t *Time) resolve(now int64, zone *time.Location) (n int64, why string) {
	switch t.Kind {
	case Ago:
		if n = now - int64(t.Span.Length()); n < 0 {
			return 0, outside
		}
		return n, ""
	case Hence:
		if int64(t.Span.Length()) > math.MaxInt64-now {
			return 0, outside
		}
		return now + int64(t.Span.Length()), ""
	case Today, Yesterday:
		y, m, d := time.Unix(0, now).In(zone).Date()
		if t.Kind == Yesterday {
			d--
		}
		return inDomain(startOfDay(y, m, d, zone))
	case Nanos:
		return t.Nanos, ""
	case Quoted:
		at, why := readQuoted(t.Text)
		if why != "" {
			return 0, why
		}
		return inDomain(at)
	}
	wall, why := readWall(t.Text)
	if why != "" {
		return 0, why
	}
	at, why := placed(wall, zone)
	if why != "" {
		return 0, why
	}
	return inDomain(at)
}

// inDomain is an instant's nanoseconds (L3.2).
func inDomain(at time.Time) (int64, string) {
	if s := at.Unix(); s < 0 || s > math.MaxInt64/int64(time.Second) || at.UnixNano() < 0 {
		return 0, outside
	}
	return at.UnixNano(), ""
}

// written is the time as it stands in canonical text, without quotes.
func (t *Time) written() string { return strings.Trim(printed(t), `"`) }

// time reads an instant.
func (p *parser) time() *Time {
	t := p.tok
	at := &Time{Pos: t.Pos, Text: t.raw}
	switch w := t.raw; {
	case t.kind == text:
		at.Kind, at.Text = Quoted, t.value
		p.checkQuoted(t)
	case t.kind != word:
		p.fail(failAt(t, "%s where a time is needed", t.stands()).expecting("1h ago", "today", "2025-01-31", `"2025-01-31T23:59:59Z"`))
	case t.is("today"), t.is("yesterday"):
		at.Kind, at.Text = Today, ""
		if t.is("yesterday") {
			at.Kind = Yesterday
		}
	case allDigits(w):
		n, ok := decimal(w)
		if !ok || n > math.MaxInt64 {
			p.fail(failAt(t, "%s %s: a number is nanoseconds since 1970", t.shown(), outside))
		}
		at.Kind, at.Text, at.Nanos = Nanos, "", int64(n)
	case dateShape(w), dateTimeShape(w):
		at.Kind = Date
		if dateTimeShape(w) {
			at.Kind = DateTime
		}
		if _, why := readWall(w); why != "" {
			p.fail(failAt(t, "%s %s", t.shown(), why))
		}
	case durationShape(w):
		at.Span = p.duration()
		switch {
		case p.tok.is("ago"):
			at.Kind = Ago
		case p.tok.is("hence"):
			at.Kind = Hence
		default:
			p.fail(failAt(p.tok, "%s behind %s, which alone is no instant", p.tok.stands(), t.raw).expecting("ago", "hence"))
		}
		at.Text = ""
	default:
		p.noTime(t)
	}
	p.advance()
	return at
}

// checkQuoted fails unless a string is a whole time with its zone.
func (p *parser) checkQuoted(t token) {
	_, why := readQuoted(t.value)
	if why == "" {
		return
	}
	first, _, _ := strings.Cut(t.value, " ")
	if isDuration(first) || folds(first, "today") || folds(first, "yesterday") || dateShape(t.value) {
		p.fail(failAt(t, "%s needs no quotes", t.shown()).meaning(shorten(t.value)))
	}
	p.fail(failAt(t, "%s %s", t.shown(), why))
}

// noTime fails at a word that is no time, and says what to do.
func (p *parser) noTime(t token) {
	w := t.raw
	switch {
	case w[0] == '\'':
		p.singleQuoted(t)
	case t.is("now"):
		p.fail(failAt(t, "%s is no time: an UNTIL that is left out is now, and SINCE 1ms ago is as good", t.shown()))
	case w[0] == '-' && durationShape(w[1:]):
		p.fail(failAt(t, "%s is no time", t.shown()).meaning(w[1:] + " ago"))
	case len(w) > len("2025-01-01") && dateShape(w[:10]):
		p.fail(failAt(t, "%s is no unquoted time, which has the shape 2025-01-31T23:59:59; quote one that has a fraction or names its zone", t.shown()))
	}
	e := failAt(t, "%s is no time", t.shown())
	p.fail(e.expecting("1h ago", "today", "2025-01-31", "2025-01-31T23:59:59", `"2025-01-31T23:59:59Z"`).meaning(nearest(w, []string{"today", "yesterday"})))
}

// duration reads "5m" (L2.7).
func (p *parser) duration() *Duration {
	t := p.tok
	if t.kind != word || !durationShape(t.raw) {
		p.fail(failAt(t, "%s is no duration", t.shown()).expecting("a number with ms, s, m, h, d or w"))
	}
	digits, unit := leadingDigits(t.raw)
	length, ok := unitNanos[unit]
	if !ok {
		e := failAt(t, "%s has no unit that exists", t.shown())
		if u := units[upper(unit)]; u != "" {
			e.Near = digits + u
		}
		p.fail(e.expecting("ms", "s", "m", "h", "d", "w"))
	}
	n, ok := decimal(digits)
	switch {
	case !ok || n > uint64(math.MaxInt64/length):
		p.fail(failAt(t, "%s is too long: a duration is less than 293 years", t.shown()))
	case n == 0:
		p.fail(failAt(t, "%s is no time at all; a duration is more than zero", t.shown()))
	}
	p.advance()
	return &Duration{Pos: t.Pos, Count: n, Unit: unit}
}

// isDuration reports whether a word is a duration.
func isDuration(w string) bool {
	_, unit := leadingDigits(w)
	return durationShape(w) && unitNanos[unit] != 0
}

// durationShape reports whether a word is digits and then letters.
func durationShape(w string) bool {
	digits, unit := leadingDigits(w)
	if digits == "" || unit == "" {
		return false
	}
	for i := range len(unit) {
		if !isLetter(unit[i]) && !isDigit(unit[i]) {
			return false
		}
	}
	return true
}
