// Package golden runs scripts: text files of cases, each an input and the
// output that is expected of it.
//
//	# Comments and blank lines between cases are kept.
//	command arguments
//	input, any number of lines
//	----
//	expected output, up to the next blank line
//
// A test hands Run a function that turns a case into its output, or Script one
// that carries out a line at a time, for cases of many commands. With the
// flag -rewrite the outputs that differ are written into the file instead of
// being reported; commit only differences that you understand.
//
// Promises:
//
//  1. A file without cases, or one that is not of this form, fails the test.
//  2. A rewrite changes expected outputs and nothing else.
//
// The package is for tests alone. Run owns no goroutine and writes no file
// unless -rewrite is given.
package golden
