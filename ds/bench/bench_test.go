package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Everything is measured once, small: every candidate brings all of its frames
// through, every ratio is there, and nothing is left behind (promises 2, 5).
func TestRunMeasuresEverything(t *testing.T) {
	dir := t.TempDir()
	var said []string
	r, err := Run(t.Context(), Options{Pairs: 1, Frames: 1000, Dir: dir, Say: func(s string) { said = append(said, s) }})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range r.Results {
		names = append(names, x.Group+"/"+x.Name)
		if x.Rate.Median <= 0 || x.Allocs.Median < 0 || x.Frames < 1 {
			t.Errorf("%s/%s: %+v", x.Group, x.Name, x)
		}
		for _, ratio := range x.Ratios {
			if ratio.Value.Median <= 0 {
				t.Errorf("%s/%s of %s: %v", x.Group, x.Name, ratio.Of, ratio.Value)
			}
		}
	}
	want := "micro/submit micro/encode run micro/decode run hot/core hot/bare hot/commit hot/whole " +
		"wide/core wide/bare wide/commit wide/whole single/core single/whole"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("measured %s\nwant %s", got, want)
	}
	for _, x := range r.Latency {
		if x.P50.Median <= 0 || x.P99.Median < x.P50.Median {
			t.Errorf("latency: %+v", x)
		}
	}
	if len(r.Latency) != 3 || len(said) == 0 {
		t.Errorf("%d latencies, said %q", len(r.Latency), said)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	checkReport(t, r)
}

// checkReport writes the report in both forms.
func checkReport(t *testing.T, r Report) {
	t.Helper()
	var text, data bytes.Buffer
	if err := errors.Join(r.Table(&text), r.JSON(&data)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{r.Machine.String(), "whole", "of bare", "visible"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the table does not say %q:\n%s", part, text.String())
		}
	}
	var back Report
	if err := json.Unmarshal(data.Bytes(), &back); err != nil || len(back.Results) != len(r.Results) || back.Machine != r.Machine {
		t.Errorf("the JSON reads back as %+v, %v", back, err)
	}
}

func TestOnlyMeasuresWhatWasAskedFor(t *testing.T) {
	r, err := Run(t.Context(), Options{Pairs: 1, Frames: 1000, Only: []string{"micro/submit", "wide/commit"}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 2 || r.Results[0].Name != "submit" || r.Results[1].Name != "commit" || len(r.Results[1].Ratios) > 0 {
		t.Errorf("measured %+v", r.Results)
	}
}

func TestOptionsThatCannotBeMeant(t *testing.T) {
	for _, o := range []Options{{Pairs: -1}, {Frames: -1}, {Only: []string{"hot", "cold"}}} {
		if _, err := Run(t.Context(), o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: got %v", o, err)
		}
	}
}

// A context that ends makes Run stop, say why, and leave nothing behind.
func TestRunStops(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, Options{Only: []string{"wide"}, Dir: dir, Say: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
