package syntax

import (
	_ "embed"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the zones must not depend on the machine (L2.7)
)

// zoneList are the names of the zones that time/tzdata holds, one a line. A
// name is looked up here first: so its case counts on every system, and
// nothing else of a system's folder of zones can be named.
//
//go:embed zones.txt
var zoneList string

var zoneNames = strings.Fields(zoneList)

// Location is the zone that unquoted times of the query are in: that of its
// ZONE, else UTC. Each call loads it anew.
func (q *Query) Location() *time.Location {
	if q.Zone == nil {
		return time.UTC
	}
	zone, _ := q.Zone.location()
	return zone
}

// location loads the zone, or says why it is none.
func (z *Zone) location() (zone *time.Location, why string) {
	if offset, ok := readOffset(z.Name); ok {
		return time.FixedZone(z.Name, offset), ""
	}
	if _, known := slices.BinarySearch(zoneNames, z.Name); !known {
		return time.UTC, "is no zone"
	}
	zone, err := time.LoadLocation(z.Name)
	if err != nil {
		return time.UTC, "cannot be loaded: " + err.Error()
	}
	return zone, ""
}

// zone reads "ZONE "Europe/Berlin"".
func (p *parser) zone(t token) {
	name := p.tok
	if name.kind != text {
		p.fail(failAt(name, "%s is no zone in quotes", name.shown()).expecting(`"Europe/Berlin"`, `"+01:00"`))
	}
	z := &Zone{Pos: t.Pos, Name: name.value}
	if _, why := z.location(); why != "" {
		e := failAt(name, "%s %s", name.shown(), why)
		e.Expected = []string{`an IANA name as "Europe/Berlin"`, `an offset as "+01:00"`}
		if near := nearest(name.value, zoneNames); near != "" {
			e.Near = `"` + near + `"`
		}
		p.fail(e)
	}
	p.q.Zone = z
	p.advance()
}

// readOffset reads ±HH:MM, in seconds.
func readOffset(s string) (int, bool) {
	if len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' || !allDigits(s[1:3]+s[4:]) {
		return 0, false
	}
	hours, minutes := number(s[1:3]), number(s[4:])
	if hours > 23 || minutes > 59 {
		return 0, false
	}
	seconds := hours*3600 + minutes*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// number is what a few digits spell.
func number(digits string) int {
	n, _ := decimal(digits)
	return int(n)
}

// hasShape reports whether a text has digits where the shape has zeros, and
// the shape's bytes everywhere else.
func hasShape(s, shape string) bool {
	if len(s) != len(shape) {
		return false
	}
	for i := range len(s) {
		if shape[i] == '0' && !isDigit(s[i]) || shape[i] != '0' && s[i] != shape[i] {
			return false
		}
	}
	return true
}

func dateShape(s string) bool     { return hasShape(s, "0000-00-00") }
func dateTimeShape(s string) bool { return hasShape(s, "0000-00-00T00:00:00") }

// readWall reads a date or a date with a time as if it were in UTC, or says
// what is wrong with it. The shape has been checked.
func readWall(s string) (at time.Time, why string) {
	y, m, d := number(s[:4]), number(s[5:7]), number(s[8:10])
	at = time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if at.Month() != time.Month(m) || at.Day() != d {
		return at, "names no day of the calendar"
	}
	if len(s) == len("0000-00-00") {
		return at, ""
	}
	hour, minute, second := number(s[11:13]), number(s[14:16]), number(s[17:19])
	if hour > 23 || minute > 59 || second > 59 {
		return at, "names no time of the day"
	}
	return time.Date(y, time.Month(m), d, hour, minute, second, 0, time.UTC), ""
}

// readQuoted reads RFC 3339 with Z or an offset.
func readQuoted(s string) (at time.Time, why string) {
	const head = len("0000-00-00T00:00:00")
	const no = `is no time in quotes, which has the shape "2025-01-31T23:59:59.25+01:00" or ends with Z`
	if len(s) < head || !dateTimeShape(s[:head]) {
		return at, no
	}
	at, why = readWall(s[:head])
	if why != "" {
		return at, why
	}
	rest, nanos := s[head:], 0
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		var digits string
		digits, rest = leadingDigits(fraction)
		switch {
		case digits == "":
			return at, no
		case len(digits) > 9:
			return at, "has more than nine digits of a second"
		}
		nanos = number(digits + strings.Repeat("0", 9-len(digits)))
	}
	offset, ok := readOffset(rest)
	if rest == "" {
		return at, "names no zone; add Z or an offset, or leave the quotes out"
	}
	if rest != "Z" && !ok {
		return at, no
	}
	return at.Add(time.Duration(nanos) - time.Duration(offset)*time.Second), ""
}

// placed is the one instant at which clocks of a zone show what wall shows in
// UTC, or why there is not one (L2.7).
func placed(wall time.Time, zone *time.Location) (at time.Time, why string) {
	found := instants(wall, zone)
	switch len(found) {
	case 0:
		return at, "is skipped by the clocks of " + zone.String()
	case 1:
		return found[0], ""
	}
	return at, "comes twice by the clocks of " + zone.String() + "; quote it with its offset"
}

// instants are all instants, ascending, at which clocks of a zone show what
// wall shows in UTC. They can only have an offset that is in force near it.
func instants(wall time.Time, zone *time.Location) []time.Time {
	var found []time.Time
	guess := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	from, to := guess.ZoneBounds()
	near := []time.Time{guess}
	if !from.IsZero() {
		near = append(near, from.Add(-time.Nanosecond))
	}
	if !to.IsZero() {
		near = append(near, to)
	}
	for _, n := range near {
		_, offset := n.Zone()
		at := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, o := at.Zone(); o == offset && !slices.ContainsFunc(found, at.Equal) {
			found = append(found, at)
		}
	}
	slices.SortFunc(found, time.Time.Compare)
	return found
}

// startOfDay is the first instant of a day in a zone. Where midnight is
// skipped that is the instant at which the clocks jump over it.
func startOfDay(y int, m time.Month, d int, zone *time.Location) time.Time {
	wall := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	if found := instants(wall, zone); len(found) > 0 {
		return found[0]
	}
	guess := time.Date(wall.Year(), wall.Month(), wall.Day(), 0, 0, 0, 0, zone)
	from, to := guess.ZoneBounds()
	_, offset := guess.Zone()
	if guess.Unix()+int64(offset) > wall.Unix() {
		return from // the guess lies behind the jump
	}
	return to
}
