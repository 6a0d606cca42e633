package subjects

import "strings"

// A Pattern selects channels: * matches any run of bytes, dots included, and
// is the only wildcard; without one the match is exact. Patterns are compared
// byte for byte (L5.1, L5.2).
type Pattern string

// Match reports whether the whole of s matches the pattern. It runs in
// len(p)·len(s) at worst and does not allocate.
func (p Pattern) Match(s string) bool {
	pi, si, star, mark := 0, 0, -1, 0
	for si < len(s) {
		switch {
		case pi < len(p) && p[pi] == '*':
			star, mark = pi, si
			pi++
		case pi < len(p) && p[pi] == s[si]:
			pi++
			si++
		case star >= 0:
			mark++
			pi, si = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(string(p[pi:]), "*") == ""
}

// A Selector says which channels of which streams are meant: a nil Node or
// Life is any.
type Selector struct {
	Node    *Node
	Life    *Life
	Pattern Pattern
}

// Match reports whether a channel of a stream is meant.
func (sel Selector) Match(st Stream, c Channel) bool {
	return (sel.Node == nil || *sel.Node == st.Node) &&
		(sel.Life == nil || *sel.Life == st.Life) &&
		sel.Pattern.Match(string(c))
}

// Filter is a subject filter over stored frames that lets every match of the
// selector pass, as narrow as the whole segments before the pattern's first *
// make it. When exact is false others may pass too, and the reader must still
// call Match. However long the pattern, the filter fits a protocol line.
func (s Space) Filter(sel Selector) (filter string, exact bool) {
	node, life := "*", "*"
	if sel.Node != nil {
		node = EncodeNode(*sel.Node)
	}
	if sel.Life != nil {
		life = sel.Life.String()
	}
	tail, exact := sel.Pattern.tail()
	return s.prefix + string(classStore) + node + "." + life + "." + tail, exact
}

// tail is the part of the filter that speaks of the channel.
func (p Pattern) tail() (string, bool) {
	literal, rest, wild := strings.Cut(string(p), "*")
	if !wild {
		if literal == "" || len(literal) > MaxChannel { // matches no channel; no filter says so
			return ">", false
		}
		return EncodeChannel(Channel(literal)), true
	}
	dot := strings.LastIndexByte(literal, '.')
	if dot > MaxChannel { // as above
		return ">", false
	}
	exact := dot == len(literal)-1 && strings.Trim(rest, "*") == ""
	if dot < 0 {
		return ">", exact
	}
	// The segments before the last dot are whole: each is a token.
	return EncodeChannel(Channel(literal[:dot])) + ".>", exact
}
