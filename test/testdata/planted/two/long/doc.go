// Package long is too long.
package long
