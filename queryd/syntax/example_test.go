package syntax_test

import (
	"fmt"
	"time"

	"datastream/queryd/syntax"
)

func ExampleParse() {
	q, err := syntax.Parse(`logs take 20 stream containing "cuda" since 1h ago from trainer`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q)
	now := time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC)
	since, err := q.Since.Resolve(now.UnixNano(), q.Location())
	fmt.Println(time.Unix(0, since).UTC(), err)
	// Output:
	// LOGS FROM trainer CONTAINING "cuda" SINCE 1h ago TAKE 20 STREAM
	// 2026-11-30 14:00:00 +0000 UTC <nil>
}

func ExampleError() {
	for _, query := range []string{"EVENTS TAEK 10", "LOGS x LIMIT 10", "EVENTS WHERE a = 'x'", "STREAMS WHERE mising > 0"} {
		_, err := syntax.Parse(query)
		fmt.Println(err)
	}
	// Output:
	// column 8: "TAEK" is no clause; did you mean TAKE?
	// column 8: "LIMIT" is no clause (x is the pattern); did you mean TAKE?
	// column 16: "=" is no operator here; did you mean ==?
	// column 15: "mising" is no field of STREAMS; did you mean missing?
}

func ExampleWalk() {
	q, err := syntax.Parse("EVENTS WHERE a == 1 AND (b IS NULL OR c.d CONTAINS x)")
	if err != nil {
		fmt.Println(err)
		return
	}
	syntax.Walk(q, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.Field); ok {
			fmt.Println(f.Name, "at column", f.Column)
		}
		return true
	})
	// Output:
	// a at column 14
	// b at column 26
	// c.d at column 39
}
