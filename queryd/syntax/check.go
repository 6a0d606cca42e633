package syntax

import (
	"slices"
	"time"
)

// check refuses what each clause allows by itself and the whole does not: the
// rules of L2.2, L2.10, L4, L8 to L10 and S2.1 that need neither catalog nor
// data. Written order never matters, so it can only be done at the end.
func (p *parser) check() {
	p.checkTimes()
	p.checkStream()
	p.checkAfter()
	p.checkRows()
	p.checkMetric()
	for _, c := range p.q.Where {
		p.checkCross(c)
	}
	p.checkFields()
}

// refuse fails at a clause that was written.
func (p *parser) refuse(s slot, format string, args ...any) {
	p.fail(failAt(p.written[s], format, args...))
}

// wrote gives the first of some clauses that were written.
func (p *parser) wrote(slots ...slot) (slot, bool) {
	i := slices.IndexFunc(slots, func(s slot) bool { _, ok := p.written[s]; return ok })
	if i < 0 {
		return "", false
	}
	return slots[i], true
}

// checkTimes resolves the times that need no clock, now that the zone is
// known.
func (p *parser) checkTimes() {
	var zone *time.Location // loaded for the first time that needs it
	Walk(p.q, func(n Node) bool {
		t, ok := n.(*Time)
		if !ok || t.Relative() {
			return true
		}
		if zone == nil {
			zone = p.q.Location()
		}
		if _, why := t.resolve(0, zone); why != "" {
			bad := p.tokenAt(t)
			p.fail(failAt(bad, "%s %s", bad.shown(), why))
		}
		return true
	})
}

// tokenAt is the token with which a node begins.
func (p *parser) tokenAt(n Node) token {
	l := lexer{src: p.lex.src, Pos: n.At()}
	t, _ := l.next()
	return t
}

// checkStream holds STREAM to S2.1.
func (p *parser) checkStream() {
	if p.q.Stream == nil {
		return
	}
	if p.q.Until != nil {
		p.refuse("UNTIL", "UNTIL does not stand with STREAM, which goes on for ever")
	}
	if p.q.Aggregate == nil {
		return
	}
	if _, distinct := p.q.Aggregate.(*Distinct); !distinct {
		p.refuse(slotAggregate, "%s does not stand with STREAM: a set that still grows has no such answer; STREAM takes raw records or DISTINCT", aggregateWords(p.q.Aggregate))
	}
	if s, ok := p.wrote("SORT", "TAKE", "SKIP"); ok {
		p.refuse(s, "%s does not stand with DISTINCT and STREAM, which begin with the whole set", s)
	}
}

// checkAfter holds AFTER to L2.10.
func (p *parser) checkAfter() {
	if p.q.After == nil {
		return
	}
	if p.q.Stream == nil {
		p.refuse("AFTER", "AFTER needs STREAM: it resumes one")
	}
	if p.q.Aggregate != nil {
		p.refuse("AFTER", "AFTER resumes raw streams alone, and here stands %s", aggregateWords(p.q.Aggregate))
	}
	if s, ok := p.wrote("SINCE", "SORT", "TAKE", "SKIP"); ok {
		p.refuse(s, "%s does not stand with AFTER, which goes on from its cursor", s)
	}
}

// checkRows holds SELECT, EVERY and WITH GAPS to L4.5, L8.5 and L4.4.
func (p *parser) checkRows() {
	a := p.q.Aggregate
	if a != nil && p.q.Select != nil {
		p.refuse("SELECT", "SELECT does not stand with %s, whose fields are fixed", aggregateWords(a))
	}
	if p.q.Every != nil {
		switch a.(type) {
		case *CountRows, *CountBy, *Group:
		default:
			p.refuse("EVERY", "EVERY makes buckets of COUNT, COUNT BY and GROUP, and none of them stands here")
		}
	}
	if p.q.WithGaps == nil {
		return
	}
	if a != nil {
		p.refuse("WITH", "WITH GAPS shows gaps among records, and %s makes others of them", aggregateWords(a))
	}
	if p.q.Sort != nil {
		p.refuse("WITH", "WITH GAPS keeps the default order, in which alone a gap has a place; leave out SORT or WITH GAPS")
	}
}

// checkMetric holds terminals to L9.6 and L9.7.
func (p *parser) checkMetric() {
	t := p.q.Terminal
	if t == nil || p.q.Since != nil {
		return
	}
	if t.Over != nil {
		p.refuse(slotTerminal, "%s_OVER makes windows over time and needs SINCE", t.Func)
	}
	if p.q.Labels != nil {
		p.refuse(slotTerminal, "%s over a metric with [ ] goes over time, each series by itself, and needs SINCE", t.Func)
	}
}

// crossModes are the modes that each cross-type condition may filter (L10).
var crossModes = map[string]modeSet{
	"METRIC": modes(Events, Logs),
	"EVENT":  modes(Logs, Metric),
	"LOG":    modes(Events, Metric),
}

func (p *parser) checkCross(c Condition) {
	w := ""
	switch c.(type) {
	case *MetricHolds:
		w = "METRIC"
	case *EventExists:
		w = "EVENT"
	case *LogExists:
		w = "LOG"
	default:
		return
	}
	t := p.tokenAt(c)
	if !crossModes[w].has(p.q.Mode) {
		p.fail(failAt(t, "WHERE %s filters %s, not %s", w, list(crossModes[w].words(), "and"), p.q.Mode))
	}
	if p.q.Since == nil && p.q.After == nil {
		p.fail(failAt(t, "WHERE %s needs SINCE or AFTER: it is judged over a range of time", w))
	}
}

// aggregateWords is how an aggregate begins.
func aggregateWords(a Aggregate) string {
	switch a.(type) {
	case *CountRows:
		return "COUNT"
	case *CountBy:
		return "COUNT BY"
	case *Top:
		return "TOP"
	case *Distinct:
		return "DISTINCT"
	}
	return "GROUP"
}
