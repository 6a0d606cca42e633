package syntax

import (
	"reflect"
	"strings"
	"testing"

	"datastream/test/golden"
)

// checkRoundTrip holds a query to promise 2: its text parses to the same
// query, of which it is the text.
func checkRoundTrip(t *testing.T, q *Query) {
	t.Helper()
	text := q.String()
	again, err := parse(text) // which may be longer than Parse takes
	if err != nil {
		t.Fatalf("canonical text does not parse:\n%s\n%v", text, err)
	}
	if got := again.String(); got != text {
		t.Errorf("canonical text is not its own:\n%s\n%s", text, got)
	}
	if a, b := placeless(q), placeless(again); !reflect.DeepEqual(a, b) {
		t.Errorf("another query after printing:\n%s", text)
	}
}

// placeless is a copy of a query with every Pos zero.
func placeless(q *Query) *Query {
	return strip(reflect.ValueOf(q)).Interface().(*Query)
}

// strip copies what a value holds, without places.
func strip(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(strip(v.Elem()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(strip(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			out.Index(i).Set(strip(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Type != reflect.TypeFor[Pos]() {
				out.Field(i).Set(strip(v.Field(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

// TestCanonicalText pins how queries print (L2.11).
func TestCanonicalText(t *testing.T) {
	golden.Run(t, "testdata/print.txt", func(t *testing.T, c golden.Case) string {
		query := strings.Join(c.Input, "\n")
		q, err := Parse(query)
		if err != nil {
			t.Fatalf("line %d: %v", c.Line, err)
		}
		checkRoundTrip(t, q)
		return q.String()
	})
}
