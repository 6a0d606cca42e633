package catalog

import (
	"errors"
	"fmt"
)

// ErrCatalog says that a catalog is wrong. Read joins one error that wraps it
// for each fault.
var ErrCatalog = errors.New("wrong catalog")

// fault is one thing that is wrong, and where.
func fault(line int, format string, args ...any) error {
	return fmt.Errorf("read catalog: line %d: %w: %s", line, ErrCatalog, fmt.Sprintf(format, args...))
}

// near is a hint at the word that may have been meant, empty if none is like
// it.
func near(word string, among []string) string {
	for _, w := range among {
		if distance(word, w) <= 1+len(w)/4 {
			return fmt.Sprintf("; did you mean %s?", w)
		}
	}
	return ""
}

// distance is the number of letters to put in, take out or change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := left
			if a[i] != b[j] {
				d = 1 + min(left, row[j], row[j+1])
			}
			left, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
