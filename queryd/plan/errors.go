package plan

import (
	"errors"

	"datastream/queryd/syntax"
)

// ErrAbsent says that the language has a clause and this version does not. Its
// error also is a *syntax.Error, with the clause's column.
var ErrAbsent = errors.New("not available yet")

// An absence is a clause that is not there yet, and where.
type absence struct{ at *syntax.Error }

func (a absence) Error() string   { return a.at.Error() }
func (a absence) Unwrap() []error { return []error{a.at, ErrAbsent} }

// absent refuses a clause that is not there yet.
func absent(n syntax.Node, clause string) error {
	return absence{&syntax.Error{Column: n.At().Column, Token: clause, Text: clause + " is not available yet"}}
}

// checkAbsent refuses the first clause that is not there yet.
func checkAbsent(q *syntax.Query) error {
	if q.Mode == syntax.Metric {
		return absent(q, "METRIC")
	}
	for _, c := range q.Where {
		switch c.(type) {
		case *syntax.MetricHolds:
			return absent(c, "WHERE METRIC")
		case *syntax.EventExists:
			return absent(c, "WHERE EVENT")
		case *syntax.LogExists:
			return absent(c, "WHERE LOG")
		}
	}
	if q.Parse != nil {
		return absent(q.Parse, "PARSE")
	}
	if q.Every != nil {
		return absent(q.Every, "EVERY")
	}
	if _, ok := q.Aggregate.(*syntax.Distinct); ok && q.Stream != nil {
		return absent(q.Aggregate, "DISTINCT with STREAM")
	}
	if g, ok := q.Aggregate.(*syntax.Group); ok {
		for _, f := range g.Funcs {
			if f.Kind != syntax.FuncCount {
				return absent(f, "GROUP … "+f.Kind.String())
			}
		}
	}
	return nil
}
