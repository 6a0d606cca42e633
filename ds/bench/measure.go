package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"datastream/ds/bench/machine"
	"datastream/ds/bench/spread"
)

// A candidate is one way to move a load, measured in turn with others.
type candidate struct {
	name  string
	about string
	load  load
	of    []string // the candidates of its group that it is compared with
	// prepare does what is not measured, and returns what is, and what tidies
	// up after it. tidy may be nil.
	prepare func(ctx context.Context) (run func() error, tidy func() error, err error)
}

// A sample is one measurement.
type sample struct {
	rate   float64 // frames a second
	cpu    float64 // microseconds a frame, of the whole process
	allocs float64 // a frame, of the whole process
}

// measure runs a candidate once.
func measure(ctx context.Context, c candidate) (s sample, err error) {
	run, tidy, err := c.prepare(ctx)
	if err != nil {
		return sample{}, fmt.Errorf("prepare %s: %w", c.name, err)
	}
	if tidy != nil {
		defer func() {
			if e := tidy(); err == nil && e != nil {
				err = fmt.Errorf("tidy up after %s: %w", c.name, e)
			}
		}()
	}
	runtime.GC()
	cpu, before := machine.CPU(), mallocs()
	start := time.Now()
	if err := run(); err != nil {
		return sample{}, fmt.Errorf("measure %s: %w", c.name, err)
	}
	took, cpu := time.Since(start), machine.CPU()-cpu
	n := float64(c.load.frames)
	return sample{rate: n / took.Seconds(), cpu: float64(cpu.Microseconds()) / n, allocs: float64(mallocs()-before) / n}, nil
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// rounds measures the candidates in turn, once without counting and then so
// many times, and returns the samples of each.
func rounds(ctx context.Context, group string, pairs int, cs []candidate, say func(string)) ([][]sample, error) {
	all := make([][]sample, len(cs))
	for round := range pairs + 1 {
		if round == 0 {
			say(group + ": warming up")
		} else {
			say(fmt.Sprintf("%s: round %d of %d", group, round, pairs))
		}
		for i, c := range cs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s, err := measure(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", group, err)
			}
			if round > 0 {
				all[i] = append(all[i], s)
			}
		}
	}
	return all, nil
}

// results turns the samples of a group into what is reported.
func results(group string, cs []candidate, all [][]sample) []Result {
	rates := map[string][]float64{}
	var out []Result
	for i, c := range cs {
		var cpu, allocs []float64
		for _, s := range all[i] {
			rates[c.name] = append(rates[c.name], s.rate)
			cpu, allocs = append(cpu, s.cpu), append(allocs, s.allocs)
		}
		r := Result{
			Group: group, Name: c.name, About: c.about, Frames: c.load.frames,
			Rate: spread.Of(rates[c.name]), CPU: spread.Of(cpu), Allocs: spread.Of(allocs),
		}
		r.MBps = r.Rate.Median * lineBytes / 1e6
		out = append(out, r)
	}
	for i, c := range cs {
		for _, of := range c.of {
			if rates[of] == nil {
				continue // it was not asked for
			}
			out[i].Ratios = append(out[i].Ratios, newRatio(of, spread.Pairs(rates[c.name], rates[of])))
		}
	}
	return out
}
