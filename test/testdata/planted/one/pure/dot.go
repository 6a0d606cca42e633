package pure

import . "time"

var then = Now
