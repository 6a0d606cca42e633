package catalog

// A Node is a piece of a document as it was read: a text, a list or a map,
// whatever the document was written in.
type Node struct {
	Line int
	Kind NodeKind
	Text string // of a Text
	List []Node // of a List
	Map  []Pair // of a Map, in the document's order
}

// A Pair is a key of a map and what it leads to.
type Pair struct {
	Line  int
	Key   string
	Value Node
}

// A NodeKind is what a Node is.
type NodeKind uint8

// The kinds of nodes. An empty document, and a key with nothing after it, is
// Empty.
const (
	Empty NodeKind = iota
	Text
	List
	Map
)

var nodeNames = [...]string{"nothing", "a text", "a list", "a map"}

// String names the kind as faults do.
func (k NodeKind) String() string { return nodeNames[k] }
