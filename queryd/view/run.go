package view

import (
	"fmt"

	"datastream/queryd/value"
)

// A Run is one execution of a Spec. Give it the accounts of the streams in
// scope if the Spec asks for them, then frames, then Finish.
type Run struct {
	spec    *Spec
	learnt  learnt
	record  record
	m       room
	emit    func(*Row) error
	decoder *value.Decoder
	chain   []operator // from the first to the last
	first   operator
	merge   *merge // where gaps join in commit order; nil if nowhere
	gapsTo  operator
	err     error
}

// Open makes a Run. Rows go to emit as they come to be known, its error ends
// the Run. What the Run holds is taken from memory, and given back by Close.
func (s *Spec) Open(memory Memory, emit func(*Row) error) (*Run, error) {
	decoder, err := value.Compile(s.Wants...)
	if err != nil {
		return nil, fmt.Errorf("open view: %w", err)
	}
	r := &Run{spec: s, m: room{of: memory}, emit: emit, decoder: decoder}
	r.learnt.spec = s
	r.record.decoder = decoder
	r.build()
	return r, nil
}

// build makes the chain from its end.
func (r *Run) build() {
	s := r.spec
	next := r.add(newProject(s, r.emit))
	switch {
	case s.Last && s.HasTake:
		next = r.add(&tail{skip: s.Skip, take: s.Take, newest: s.Order == NewestFirst, m: &r.m, next: next, out: r.scratch()})
	case s.HasTake || s.Skip > 0:
		next = r.add(&limit{skip: s.Skip, take: s.Take, hasTake: s.HasTake, next: next})
	}
	if s.Sort != nil {
		next = r.add(&sorter{keys: s.Sort, best: s.best(), m: &r.m, next: next, out: r.scratch()})
	}
	if g := s.Group; g != nil {
		if g.HasTop {
			next = r.add(&limit{take: g.Top, hasTake: true, next: next})
			next = r.add(&sorter{keys: g.TopSort, best: g.Top, m: &r.m, next: next, out: r.scratch()})
		}
		next = r.add(&grouper{spec: g, m: &r.m, next: next, out: r.scratch(), groups: map[string]*grouped{}})
	}
	cheap, rest := split(s.Where)
	if s.Mode >= Latest {
		next = r.add(&where{conds: s.Where, next: next})
	} else {
		if len(rest) > 0 {
			next = r.add(&where{conds: rest, next: next})
		}
		next = r.add(&kept{mode: s.Mode, next: next})
		if len(cheap) > 0 {
			next = r.add(&where{conds: cheap, next: next})
		}
	}
	r.gapsTo = next
	switch {
	case s.Mode == Latest:
		next = r.add(&latest{m: &r.m, next: next, out: r.scratch(), rows: map[source]*held{}})
	case s.Mode == Channels:
		next = r.add(&channels{m: &r.m, next: next, out: r.scratch(), rows: map[source]*counted{}})
	case s.WithGaps && s.Sort == nil:
		r.merge = &merge{newest: s.Order == NewestFirst, out: r.scratch(), next: next}
		next = r.add(r.merge)
	}
	r.first = next
}

func (r *Run) add(o operator) operator {
	r.chain = append([]operator{o}, r.chain...)
	return o
}

// scratch is a record for an operator that gives held ones again.
func (r *Run) scratch() *record { return &record{decoder: r.decoder} }

// Live reports whether every operator can stand in a watch: then each frame's
// rows are given before Frame returns.
func (r *Run) Live() bool {
	for _, o := range r.chain {
		if !o.Live() {
			return false
		}
	}
	return true
}

// Frame takes the next frame.
func (r *Run) Frame(f *Frame) error {
	if r.err != nil || r.spec.Mode.accounted() {
		return r.err
	}
	if !r.spec.inTime(f.Instant) {
		return nil
	}
	s := r.learnt.streamOf(f.Stream)
	if !s.in {
		return nil
	}
	c := r.learnt.channelOf(f.Channel)
	if !c.in {
		return nil
	}
	r.record.set(f, s, c)
	r.err = r.first.push(&r.record)
	return r.err
}

// Account takes the account of one stream, each once and before any frame.
func (r *Run) Account(a *Account) error {
	if r.err != nil || !r.spec.Accounts() {
		return r.err
	}
	s := r.learnt.streamOf(a.Stream)
	if !s.in {
		return nil
	}
	if r.spec.Mode == Streams {
		if r.spec.inTime(a.Last) {
			r.record.setColumns(a.columns(s, r.spec.Now))
			r.err = r.first.push(&r.record)
		}
		return r.err
	}
	gaps := a.gaps(s)
	kept := gaps[:0]
	for _, g := range gaps {
		if r.spec.inTime(g.instant) {
			kept = append(kept, g)
		}
	}
	r.err = r.takeGaps(kept)
	return r.err
}

// gapSize is what a gap that waits for its place takes, about.
const gapSize = 128

func (r *Run) takeGaps(gaps []gap) error {
	if r.merge != nil {
		if err := r.m.grow(gapSize * len(gaps)); err != nil {
			return err
		}
		r.merge.add(gaps)
		return nil
	}
	for i := range gaps {
		g := &gaps[i]
		switch {
		case r.spec.Mode == Gaps:
			r.record.setColumns(g.columns(nil))
		case g.known:
			r.record.setGap(g)
		default:
			continue // no frame beyond it, so no place among frames
		}
		if err := r.gapsTo.push(&r.record); err != nil {
			return err
		}
	}
	return nil
}

// Full reports whether no further frame can change the answer.
func (r *Run) Full() bool { return r.err == nil && r.first.full() }

// Finish gives what was held and ends the answer.
func (r *Run) Finish() error {
	if r.err == nil {
		r.err = r.first.finish()
	}
	return r.err
}

// Close gives back what the Run took of the memory. It may be called at any
// time, and the Run is over.
func (r *Run) Close() {
	r.m.release()
	r.chain, r.first, r.merge, r.gapsTo = nil, nil, nil, nil
}
