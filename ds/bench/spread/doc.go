// Package spread tells what repeated measurements say: medians, quartiles, and
// whether they resolve a question.
//
//	round   1     2     3   …
//	a      100    80   120        ┐ Pairs: the spread of
//	b      110    88   133        ┘ 0.91, 0.91, 0.90 …
//
// Promises:
//
//  1. A ratio is made of values of the same round, so that what slows a whole
//     round cancels out.
//  2. A bound on a quartile, or between the two, is not resolved: the
//     measurements do not say on which side of it the thing lies.
//  3. No function changes what it is given.
//
// The package is pure.
package spread
