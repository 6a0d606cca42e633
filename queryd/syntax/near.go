package syntax

// nearest is the candidate closest to a word, or "" when none is close. One
// edit is a letter added, left out, changed or swapped with its neighbour;
// short words bear fewer edits than long ones, for else every word of three
// letters would be near every other.
func nearest(written string, candidates []string) string {
	if len(written) > 32 {
		return ""
	}
	w := upper(written)
	best, least := "", 1+editsBorne(len(w))
	for _, c := range candidates {
		if d := edits(w, upper(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

func editsBorne(letters int) int {
	switch {
	case letters <= 2:
		return 0
	case letters <= 4:
		return 1
	case letters <= 9:
		return 2
	}
	return 3
}

// edits is the number of edits between two words (optimal string alignment).
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// What people bring along from SQL, LogQL, LogsQL, PromQL and the shell, by
// the place where they write it.
var (
	clauseHabits = map[string]string{
		"LIMIT": "TAKE", "HEAD": "TAKE", "TAIL": "TAKE", "FIRST": "TAKE", "LAST": "TAKE", "FETCH": "TAKE",
		"OFFSET": "SKIP", "ORDER": "SORT", "ORDERBY": "SORT", "ORDER_BY": "SORT", "SORTBY": "SORT",
		"FIELDS": "SELECT", "COLUMNS": "SELECT", "KEEP": "SELECT", "PROJECT": "SELECT", "RETURN": "SELECT",
		"FILTER": "WHERE", "HAVING": "WHERE", "IF": "WHERE",
		"STATS": "GROUP", "GROUPBY": "GROUP", "GROUP_BY": "GROUP", "SUMMARIZE": "GROUP",
		"UNIQ": "DISTINCT", "UNIQUE": "DISTINCT", "VALUES": "DISTINCT", "TOPK": "TOP",
		"FOLLOW": "STREAM", "WATCH": "STREAM", "LIVE": "STREAM",
		"START": "SINCE", "END": "UNTIL", "TO": "UNTIL", "BEFORE": "UNTIL",
		"TZ": "ZONE", "TIMEZONE": "ZONE", "INTERVAL": "EVERY", "STEP": "EVERY", "BUCKET": "EVERY", "BIN": "EVERY",
		"GREP": "CONTAINING", "MATCH": "CONTAINING", "CONTAINS": "CONTAINING", "|=": "CONTAINING", "|~": "WHERE",
		"WITHOUT": "EXCLUDING", "!=": "EXCLUDING", "UNPACK_JSON": "PARSE", "EXTRACT": "PARSE", "ERRORS": "ERROR",
		"INCREASE": "DELTA", "IRATE": "RATE", "MEAN": "AVG",
		"AVG_OVER_TIME": "AVG_OVER", "MIN_OVER_TIME": "MIN_OVER", "MAX_OVER_TIME": "MAX_OVER", "SUM_OVER_TIME": "SUM_OVER",
		"RESUME": "AFTER", "CURSOR": "AFTER",
		"&&": "AND", "&": "AND", "||": "OR", "XOR": "OR",
	}

	modeHabits = map[string]string{
		"EVENT": "EVENTS", "LOG": "LOGS", "METRICS": "METRIC", "FRAME": "FRAMES", "LAST": "LATEST", "GAUGE": "LATEST",
		"CHANNEL": "CHANNELS", "STREAM": "STREAMS", "GAP": "GAPS", "LOSS": "GAPS", "NODES": "STREAMS",
	}

	opHabits = map[string]string{
		"LIKE": "CONTAINS", "ILIKE": "CONTAINS", "CONTAINING": "CONTAINS", "REGEXP": "MATCHES", "RLIKE": "MATCHES",
		"REGEX": "MATCHES", "MATCH": "MATCHES", "INCLUDES": "HAS", "STARTSWITH": "STARTS_WITH", "ENDSWITH": "ENDS_WITH",
		"EQ": "==", "EQUALS": "==", "NE": "!=", "NEQ": "!=", "GT": ">", "GE": ">=", "GTE": ">=", "LT": "<", "LE": "<=", "LTE": "<=",
		"EXCLUDING": "NOT_CONTAINS", "NOTIN": "NOT_IN", "AFTER": "NOT_BEFORE", "SINCE": "NOT_BEFORE", "UNTIL": "BEFORE",
	}

	funcHabits = map[string]string{
		"MEAN": "AVG", "AVERAGE": "AVG", "MEDIAN": "P50", "TOTAL": "SUM", "P90": "P95", "P999": "P99",
		"UNIQ": "COUNT_DISTINCT", "COUNT_UNIQ": "COUNT_DISTINCT", "CARDINALITY": "COUNT_DISTINCT",
	}

	// signHabits are operators that begin with a sign, the longest first.
	signHabits = []struct{ written, meant string }{
		{"=~", "MATCHES"}, {"!~", "NOT_MATCHES"}, {"|=", "CONTAINS"}, {"|~", "MATCHES"}, {"=>", ">="}, {"=<", "<="},
		{"<>", "!="}, {":=", "=="}, {"~", "MATCHES"}, {":", "=="}, {"!", "!="}, {"=", "=="},
	}

	// units are spellings of the units of a duration.
	units = map[string]string{
		"MS": "ms", "MSEC": "ms", "MILLIS": "ms", "S": "s", "SEC": "s", "SECS": "s", "SECOND": "s", "SECONDS": "s",
		"M": "m", "MIN": "m", "MINS": "m", "MINUTE": "m", "MINUTES": "m", "H": "h", "HR": "h", "HRS": "h", "HOUR": "h", "HOURS": "h",
		"D": "d", "DAY": "d", "DAYS": "d", "W": "w", "WEEK": "w", "WEEKS": "w",
	}
)
