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
	switch a := q.Aggregate.(type) {
	case *syntax.CountRows:
		return absent(a, "COUNT")
	case *syntax.CountBy:
		return absent(a, "COUNT BY")
	case *syntax.Top:
		return absent(a, "TOP")
	case *syntax.Distinct:
		return absent(a, "DISTINCT")
	case *syntax.Group:
		return absent(a, "GROUP")
	}
	return nil
}
