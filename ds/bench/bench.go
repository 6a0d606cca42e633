package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"datastream/ds/bench/machine"
)

// Defaults of Options.
const (
	DefaultPairs  = 9
	DefaultFrames = 1_000_000
)

// patience bounds one group: it is far from what any machine needs.
const patience = 30 * time.Minute

// Options say what to measure. The zero Options measure everything.
type Options struct {
	Pairs  int      // rounds of each group
	Frames int      // in a measurement of the hot group; the others take a part
	Only   []string // groups, or candidates of them as hot/whole; none is all
	Dir    string   // where the temporary folder goes; "" is the system's place
	Log    zerolog.Logger
	Say    func(string) // hears what is being done; it must not block
}

// Groups names the groups in the order in which they are measured.
func Groups() []string { return []string{"micro", "hot", "wide", "single", "latency"} }

func (o Options) withDefaults() (Options, error) {
	if o.Pairs == 0 {
		o.Pairs = DefaultPairs
	}
	if o.Frames == 0 {
		o.Frames = DefaultFrames
	}
	if o.Pairs < 1 || o.Frames < 1 {
		return o, fmt.Errorf("%w: pairs is %d and frames %d; both must be at least 1", ErrOptions, o.Pairs, o.Frames)
	}
	for _, name := range o.Only {
		if group, _, _ := strings.Cut(name, "/"); !slices.Contains(Groups(), group) {
			return o, fmt.Errorf("%w: there is no group %q; there are %s", ErrOptions, name, strings.Join(Groups(), ", "))
		}
	}
	if len(o.Only) == 0 {
		o.Only = Groups()
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	return o, nil
}

// Run measures, which takes some minutes. Its error wraps ErrOptions, ErrLost
// or what stood in the way.
func Run(ctx context.Context, o Options) (_ Report, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return Report{}, fmt.Errorf("bench: %w", err)
	}
	r, err := start(ctx, o.Dir, o.Log)
	if err != nil {
		return Report{}, fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, r.close()) }()
	report := Report{Pairs: o.Pairs}
	if report.Machine, err = machine.Look(r.dir); err != nil {
		return Report{}, fmt.Errorf("bench: %w", err)
	}
	for _, group := range Groups() {
		if !o.wants(group) {
			continue
		}
		if err := r.group(ctx, group, o, &report); err != nil {
			return Report{}, fmt.Errorf("bench: %w", err)
		}
	}
	return report, nil
}

// wants reports whether a group is to be measured, or some of it.
func (o Options) wants(group string) bool {
	return slices.ContainsFunc(o.Only, func(name string) bool { return name == group || strings.HasPrefix(name, group+"/") })
}

// group measures one group into the report.
func (r *rig) group(ctx context.Context, group string, o Options, report *Report) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if group == "latency" {
		latency, err := r.latency(ctx, o)
		report.Latency = latency
		return err
	}
	var cs []candidate
	switch group {
	case "micro":
		cs = micro(o.Frames)
	case "hot":
		l := hotLoad(o.Frames)
		cs = []candidate{r.core(l), r.bare(l), r.commit(l), r.whole(l, "hot")}
	case "wide":
		l := wideLoad(o.Frames / 10)
		cs = []candidate{r.core(l), r.bare(l), r.commit(l), r.whole(l, "wide")}
	case "single":
		l := singleLoad(o.Frames / 4)
		cs = []candidate{r.core(l), r.single(l, "single")}
	}
	cs = slices.DeleteFunc(cs, func(c candidate) bool {
		return !slices.Contains(o.Only, group) && !slices.Contains(o.Only, group+"/"+c.name)
	})
	samples, err := rounds(ctx, group, o.Pairs, cs, o.Say)
	if err != nil {
		return err
	}
	report.Results = append(report.Results, results(group, cs, samples)...)
	return nil
}
