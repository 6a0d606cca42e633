// Package cellar stands in no row.
package cellar
