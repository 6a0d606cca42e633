package value

import "strconv"

// skipSpace is the first place from i on that is no JSON white space.
func skipSpace(p string, i int) int {
	for i < len(p) && (p[i] == ' ' || p[i] == '\n' || p[i] == '\t' || p[i] == '\r') {
		i++
	}
	return i
}

// jsonObject reads the object at i, whose { stands there, and gives the place
// behind it.
func (w *walk) jsonObject(i, depth int, at place) (int, error) {
	if depth > MaxDepth {
		return 0, ErrDepth
	}
	i = skipSpace(w.p, i+1)
	if i < len(w.p) && w.p[i] == '}' {
		return i + 1, nil
	}
	for {
		key, end, err := jsonKey(w.p, i)
		if err != nil {
			return 0, err
		}
		if key.escaped {
			key.text = w.f.unescape(key.text)
		}
		if next, ok := w.enter(at, key.text); ok {
			end, err = w.jsonField(end, depth, next)
		} else {
			end, err = skipJSON(w.p, end, depth)
		}
		if err != nil {
			return 0, err
		}
		i = skipSpace(w.p, end)
		switch {
		case i == len(w.p):
			return 0, ErrTruncated
		case w.p[i] == '}':
			return i + 1, nil
		case w.p[i] != ',':
			return 0, ErrSyntax
		}
		i = skipSpace(w.p, i+1)
	}
}

// jsonField reads the value at i of a key that is a path.
func (w *walk) jsonField(i, depth int, at place) (end int, err error) {
	if i < len(w.p) && w.p[i] == '{' {
		return w.jsonObject(i, depth+1, at)
	}
	if !at.wanted() {
		if end, err = skipJSON(w.p, i, depth); err != nil {
			return 0, err
		}
		return end, w.count(at)
	}
	v, end, escaped, err := jsonValue(w.p, i, depth)
	if err != nil {
		return 0, err
	}
	if escaped {
		v = textOf(w.f.unescape(v.s))
	}
	return end, w.leaf(at, v)
}

// jsonKey reads the key at i and the colon after it, and gives the place of
// the value.
func jsonKey(p string, i int) (key jsonText, end int, err error) {
	if i == len(p) {
		return key, 0, ErrTruncated
	}
	if p[i] != '"' {
		return key, 0, ErrSyntax
	}
	if key, i, err = scanString(p, i); err != nil {
		return key, 0, err
	}
	i = skipSpace(p, i)
	switch {
	case i == len(p):
		return key, 0, ErrTruncated
	case p[i] != ':':
		return key, 0, ErrSyntax
	}
	return key, skipSpace(p, i+1), nil
}

// jsonValue reads the value at i; depth is that of the map or array around it.
// An object becomes a Map, as inside arrays. A string that is escaped is given
// as it stands, for the caller to unescape where it has room.
func jsonValue(p string, i, depth int) (v Value, end int, escaped bool, err error) {
	if i == len(p) {
		return v, 0, false, ErrTruncated
	}
	switch c := p[i]; {
	case c == '"':
		t, end, err := scanString(p, i)
		if t.ascii || t.escaped {
			return Value{kind: String, s: t.text}, end, t.escaped, err
		}
		return textOf(t.text), end, false, err
	case c == '-' || (c >= '0' && c <= '9'):
		v, end, err = jsonNumber(p, i)
		return v, end, false, err
	case c == '[' || c == '{':
		kind := Array
		if c == '{' {
			kind = Map
		}
		if end, err = skipJSON(p, i, depth); err != nil {
			return v, 0, false, err
		}
		return Value{kind: kind, s: p[i:end], json: true}, end, false, nil
	case c == 't':
		v = OfBool(true)
	case c == 'f':
		v = OfBool(false)
	}
	end, err = skipWord(p, i)
	return v, end, false, err
}

// skipWord is the place behind true, false or null.
func skipWord(p string, i int) (int, error) {
	for _, word := range [...]string{"true", "false", "null"} {
		if p[i] != word[0] {
			continue
		}
		n := min(len(word), len(p)-i)
		switch {
		case p[i:i+n] != word[:n]:
			return 0, ErrSyntax
		case n < len(word):
			return 0, ErrTruncated
		}
		return i + n, nil
	}
	return 0, ErrSyntax
}

// skipJSON is the place behind the value at i, which it checks; depth is that
// of the map or array around it.
func skipJSON(p string, i, depth int) (int, error) {
	if i == len(p) {
		return 0, ErrTruncated
	}
	switch c := p[i]; {
	case c == '"':
		_, end, err := scanString(p, i)
		return end, err
	case c == '-' || (c >= '0' && c <= '9'):
		end, _, err := scanNumber(p, i)
		return end, err
	case c == '[' || c == '{':
		return skipNested(p, i, depth+1)
	}
	return skipWord(p, i)
}

// skipNested is the place behind the array or object at i, which is at depth.
func skipNested(p string, i, depth int) (int, error) {
	if depth > MaxDepth {
		return 0, ErrDepth
	}
	object, last := p[i] == '{', p[i]+2 // ] is two after [, and } after {
	i = skipSpace(p, i+1)
	if i < len(p) && p[i] == last {
		return i + 1, nil
	}
	var err error
	for {
		if object {
			if _, i, err = jsonKey(p, i); err != nil {
				return 0, err
			}
		}
		if i, err = skipJSON(p, i, depth); err != nil {
			return 0, err
		}
		i = skipSpace(p, i)
		switch {
		case i == len(p):
			return 0, ErrTruncated
		case p[i] == last:
			return i + 1, nil
		case p[i] != ',':
			return 0, ErrSyntax
		}
		i = skipSpace(p, i+1)
	}
}

// scanNumber is the place behind the number at i, and whether it is written
// without point and exponent.
func scanNumber(p string, i int) (end int, integer bool, err error) {
	if p[i] == '-' {
		i++
	}
	zero := i < len(p) && p[i] == '0'
	start := i
	if i = skipDigits(p, i); i == start {
		return 0, false, missing(p, i)
	}
	if zero && i > start+1 {
		return 0, false, ErrSyntax
	}
	integer = true
	if i < len(p) && p[i] == '.' {
		integer = false
		start = i + 1
		if i = skipDigits(p, start); i == start {
			return 0, false, missing(p, i)
		}
	}
	if i < len(p) && p[i]|0x20 == 'e' {
		integer = false
		if i++; i < len(p) && (p[i] == '+' || p[i] == '-') {
			i++
		}
		start = i
		if i = skipDigits(p, start); i == start {
			return 0, false, missing(p, i)
		}
	}
	return i, integer, nil
}

// missing is what is wrong where a digit should be.
func missing(p string, i int) error {
	if i == len(p) {
		return ErrTruncated
	}
	return ErrSyntax
}

func skipDigits(p string, i int) int {
	for i < len(p) && p[i] >= '0' && p[i] <= '9' {
		i++
	}
	return i
}

// jsonNumber reads the number at i: an integer if it is written as one and
// fits int64 or uint64, else the nearest float, which beyond the largest is an
// infinity (L4.2).
func jsonNumber(p string, i int) (v Value, end int, err error) {
	end, integer, err := scanNumber(p, i)
	if err != nil {
		return v, 0, err
	}
	if integer {
		if v, ok := parseInteger(p[i:end]); ok {
			return v, end, nil
		}
	}
	f, _ := strconv.ParseFloat(p[i:end], 64) // its only error is being out of range
	return OfFloat(f), end, nil
}

// eachJSON calls f with the elements of a checked array or object.
func eachJSON(s string, f func(key, elem Value) bool) {
	object := s[0] == '{'
	for i := skipSpace(s, 1); s[i] != '}' && s[i] != ']'; {
		var key Value
		if object {
			var t jsonText
			t, i, _ = jsonKey(s, i)
			if key = textOf(t.text); t.escaped {
				key = unescaped(t.text)
			}
		}
		v, end, escaped, _ := jsonValue(s, i, 0)
		if escaped {
			v = unescaped(v.s)
		}
		if !f(key, v) {
			return
		}
		if i = skipSpace(s, end); s[i] == ',' {
			i = skipSpace(s, i+1)
		}
	}
}

// unescaped is a string inside an array: the one place where reading a value
// allocates.
func unescaped(s string) Value { return textOf(view(appendUnescaped(nil, s))) }
