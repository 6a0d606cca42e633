package syntax

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestResolve resolves times at an evaluation time and zone (L2.7, L3).
func TestResolve(t *testing.T) {
	now := time.Date(2026, 3, 29, 12, 30, 0, 500, time.UTC)
	for _, c := range []struct{ written, zone, want string }{
		{"1h ago", "UTC", "2026-03-29T11:30:00.0000005Z"},
		{"500ms hence", "UTC", "2026-03-29T12:30:00.5000005Z"},
		{"1d ago", "Europe/Berlin", "2026-03-28T12:30:00.0000005Z"}, // 24 hours, over the change of clocks too
		{"2w ago", "UTC", "2026-03-15T12:30:00.0000005Z"},
		{"today", "UTC", "2026-03-29T00:00:00Z"},
		{"today", "Europe/Berlin", "2026-03-28T23:00:00Z"},
		{"today", "-13:00", "2026-03-28T13:00:00Z"},
		{"yesterday", "Europe/Berlin", "2026-03-27T23:00:00Z"},
		{"today", "Asia/Tokyo", "2026-03-28T15:00:00Z"},
		{"2025-01-31", "UTC", "2025-01-31T00:00:00Z"},
		{"2025-01-31", "+05:45", "2025-01-30T18:15:00Z"},
		{"2025-07-01T12:00:00", "Europe/Berlin", "2025-07-01T10:00:00Z"},
		{"2025-03-30T01:59:59", "Europe/Berlin", "2025-03-30T00:59:59Z"},
		{"2025-03-30T03:00:00", "Europe/Berlin", "2025-03-30T01:00:00Z"},
		{"2025-10-26T01:59:59", "Europe/Berlin", "2025-10-25T23:59:59Z"},
		{"2025-10-26T03:00:00", "Europe/Berlin", "2025-10-26T02:00:00Z"},
		{`"2025-01-31T23:59:59.25+01:00"`, "Asia/Tokyo", "2025-01-31T22:59:59.25Z"},
		{`"2025-01-31T23:59:59.000000001-00:30"`, "UTC", "2025-02-01T00:29:59.000000001Z"},
		{"1735689600000000001", "UTC", "2025-01-01T00:00:00.000000001Z"},
		{"0", "UTC", "1970-01-01T00:00:00Z"},
	} {
		q := must(t, "EVENTS SINCE "+c.written+` ZONE "`+c.zone+`"`)
		n, err := q.Since.Resolve(now.UnixNano(), q.Location())
		if got := time.Unix(0, n).UTC().Format(time.RFC3339Nano); err != nil || got != c.want {
			t.Errorf("%s in %s: got %s %v, want %s", c.written, c.zone, got, err, c.want)
		}
	}
}

// TestDaysBeginOnce resolves today on days whose midnight is skipped or comes
// twice: a day begins at its first instant.
func TestDaysBeginOnce(t *testing.T) {
	for _, c := range []struct{ zone, now, want string }{
		{"America/Sao_Paulo", "2018-11-04T15:00:00Z", "2018-11-04T03:00:00Z"}, // 00:00 is 01:00
		{"Africa/Cairo", "2024-04-26T12:00:00Z", "2024-04-25T22:00:00Z"},      // 00:00 is 01:00
		{"America/Havana", "2024-11-03T12:00:00Z", "2024-11-03T04:00:00Z"},    // 00:00 comes twice
		{"America/Havana", "2024-03-10T12:00:00Z", "2024-03-10T05:00:00Z"},    // 00:00 is 01:00
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		q := must(t, `EVENTS SINCE today ZONE "`+c.zone+`"`)
		n, err := q.Since.Resolve(now.UnixNano(), q.Location())
		if got := time.Unix(0, n).UTC().Format(time.RFC3339); err != nil || got != c.want {
			t.Errorf("%s at %s: got %s %v, want %s", c.zone, c.now, got, err, c.want)
		}
	}
}

// TestResolveOutside refuses what leaves the domain of times (L3.2).
func TestResolveOutside(t *testing.T) {
	for _, c := range []struct {
		written string
		now     int64
	}{
		{"1h ago", int64(time.Hour) - 1},
		{"1ms hence", math.MaxInt64 - 999_999},
		{"yesterday", int64(time.Hour)},
	} {
		q := must(t, "EVENTS SINCE "+c.written)
		_, err := q.Since.Resolve(c.now, q.Location())
		var e *Error
		if !errors.As(err, &e) || e.Column != 14 || !strings.Contains(e.Text, c.written) {
			t.Errorf("%s at %d: got %v", c.written, c.now, err)
		}
	}
	q := must(t, "EVENTS SINCE 1h ago UNTIL 1ms hence")
	if n, err := q.Since.Resolve(int64(time.Hour), time.UTC); n != 0 || err != nil {
		t.Errorf("got %d %v", n, err)
	}
	if n, err := q.Until.Resolve(math.MaxInt64-1_000_000, time.UTC); n != math.MaxInt64 || err != nil {
		t.Errorf("got %d %v", n, err)
	}
}

// TestZonesLoad loads every zone that may be named, and finds each in the
// binary's own list (promise 6).
func TestZonesLoad(t *testing.T) {
	if len(zoneNames) < 500 {
		t.Fatalf("only %d zones", len(zoneNames))
	}
	for _, name := range zoneNames {
		if _, why := (&Zone{Name: name}).location(); why != "" {
			t.Errorf("%s %s", name, why)
		}
	}
}

// TestInstantsAgainstSearch compares the instants of a wall time with a search
// through all offsets of 15 minutes.
func TestInstantsAgainstSearch(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo", "Asia/Kathmandu", "America/Havana"}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(zones).Draw(t, "zone")
		zone, why := (&Zone{Name: name}).location()
		if why != "" {
			t.Fatal(name, why)
		}
		// Near a change of clocks, where it matters, and of whole minutes.
		at := time.Unix(rapid.Int64Range(631152000, 2524608000).Draw(t, "seconds"), 0).In(zone)
		if _, to := at.ZoneBounds(); !to.IsZero() {
			at = to
		}
		_, offset := at.Zone()
		minutes := rapid.IntRange(-180, 180).Draw(t, "minutes")
		wall := at.UTC().Add(time.Duration(offset)*time.Second + time.Duration(minutes)*time.Minute)
		var want []time.Time
		for o := 15 * time.Hour; o >= -15*time.Hour; o -= 15 * time.Minute {
			x := wall.Add(-o)
			if _, have := x.In(zone).Zone(); time.Duration(have)*time.Second == o {
				want = append(want, x)
			}
		}
		got := instants(wall, zone)
		if len(got) != len(want) {
			t.Fatalf("%s in %s: got %v, want %v", wall, name, got, want)
		}
		for i := range want {
			if !got[i].Equal(want[i]) {
				t.Fatalf("%s in %s: got %v, want %v", wall, name, got, want)
			}
		}
	})
}
