// Package words is as it should be.
package words

import "time"

// Month takes the time as an argument: that is no clock.
func Month(now time.Time) time.Month { return now.Month() }
