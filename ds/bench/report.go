package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"datastream/ds/bench/machine"
	"datastream/ds/bench/spread"
)

// A Report is everything that was measured in one run.
type Report struct {
	Machine machine.Machine `json:"machine"`
	Pairs   int             `json:"pairs"`
	Results []Result        `json:"results"`
	Latency []Latency       `json:"latency,omitempty"`
}

// A Result is the rate of one candidate.
type Result struct {
	Group  string        `json:"group"`
	Name   string        `json:"name"`
	About  string        `json:"about"`
	Frames int           `json:"frames"`            // in a measurement
	Rate   spread.Spread `json:"frames_per_second"` // of all rounds
	MBps   float64       `json:"mb_per_second"`     // of payload, at the median
	CPU    spread.Spread `json:"cpu_us_per_frame"`  // of the whole process, server included
	Allocs spread.Spread `json:"allocs_per_frame"`  // of the whole process
	Ratios []Ratio       `json:"ratios,omitempty"`
}

// A Ratio compares with another candidate of the same rounds.
type Ratio struct {
	Of     string         `json:"of"`
	Value  spread.Spread  `json:"value"`
	Versus spread.Verdict `json:"versus_one"` // whether it is resolved from 1
}

func newRatio(of string, s spread.Spread) Ratio { return Ratio{Of: of, Value: s, Versus: s.Against(1)} }

// A Latency is how long frames took, in milliseconds.
type Latency struct {
	Name   string        `json:"name"`
	About  string        `json:"about"`
	Frames int           `json:"frames"` // in a measurement
	P50    spread.Spread `json:"p50_ms"` // of all rounds
	P99    spread.Spread `json:"p99_ms"`
	Ratios []Ratio       `json:"ratios,omitempty"` // of p50, then of p99
}

// JSON writes the report for machines.
func (r Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Table writes the report for people.
func (r Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s; %d rounds; median [quartiles]\n", r.Machine, r.Pairs)
	group := ""
	for _, x := range r.Results {
		if x.Group != group {
			group = x.Group
			fmt.Fprintf(t, "\n%s\tframes/s\tMB/s\tCPU µs/frame\tallocs/frame\tratio\n", group)
		}
		fmt.Fprintf(t, "  %s\t%s\t%.0f\t%.2f\t%.2f\t%s\t%s\n", x.Name, rate(x.Rate), x.MBps, x.CPU.Median, x.Allocs.Median, ratios(x.Ratios), x.About)
	}
	if len(r.Latency) > 0 {
		fmt.Fprintf(t, "\nlatency\tp50 ms\tp99 ms\t\t\tratios of p50, p99\n")
	}
	for _, x := range r.Latency {
		fmt.Fprintf(t, "  %s\t%s\t%s\t\t\t%s\t%s\n", x.Name, x.P50, x.P99, ratios(x.Ratios), x.About)
	}
	return t.Flush()
}

// ratios reads "0.91 [0.88 0.93] of bare". One that 1 lies in is marked: by
// this run neither is the faster.
func ratios(all []Ratio) string {
	var parts []string
	for _, r := range all {
		s := r.Value.String() + " of " + r.Of
		if r.Versus == spread.Unresolved {
			s += ", from 1 not resolved"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// rate reads "1.23 M [1.20 1.25]".
func rate(s spread.Spread) string {
	unit, name := 1.0, ""
	switch {
	case s.Median >= 1e6:
		unit, name = 1e6, " M"
	case s.Median >= 1e3:
		unit, name = 1e3, " k"
	}
	return fmt.Sprintf("%s%s [%s %s]", digits(s.Median/unit), name, digits(s.Q1/unit), digits(s.Q3/unit))
}

// digits writes about three of them, and no exponent.
func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
