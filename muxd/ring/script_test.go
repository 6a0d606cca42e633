package ring

import (
	"strconv"
	"strings"
	"testing"
)

// option is the number of name=n among the arguments, 0 when it is absent.
func option(t *testing.T, args []string, name string) int {
	t.Helper()
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return number(t, v)
		}
	}
	return 0
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("script: %q is no number", s)
	}
	return n
}
