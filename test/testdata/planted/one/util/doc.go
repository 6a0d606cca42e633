// Package things lies in a folder named util.
package things
