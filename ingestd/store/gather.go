package store

import "datastream/subjects/frame"

// A Commit is a commit as a reader gets it (P8.2): First, Count and Instant
// are what its messages bear. Messages lie in the order of the store, which
// inside a commit is not the order of positions; foreign ones are left out.
//
// Where Gone is set it is none, but the place of sequences that the stream
// shows not to have any more: First and Count say which, Instant is 0, there
// are no Messages.
//
// A Commit and its Messages are valid until the function that was given it
// returns; each Stored in it may be kept for good.
type Commit struct {
	frame.Commit
	Gone     bool
	Messages []Stored
}

// A commit that ingest makes has a few MiB (P7.3). What claims to be larger
// than this is handed on in parts, so that no header decides how much memory
// a reader holds.
const (
	heldBytes    = 64 << 20
	heldMessages = 1 << 16
)

// A gather makes commits of the messages of a walk. A commit ends with its
// last sequence, with a message of another one, or where sequences are gone.
type gather struct {
	fn     func(Commit) error
	failed error // fn's own, to be returned as it is
	open   Commit
	bytes  int
}

// message takes the next message.
func (g *gather) message(s Stored) error {
	size := len(s.Run.Body())
	if n := len(g.open.Messages); n > 0 && (s.Commit != g.open.Commit || n >= heldMessages || g.bytes+size > heldBytes) {
		if err := g.flush(); err != nil {
			return err
		}
	}
	g.open.Commit = s.Commit
	g.open.Messages = append(g.open.Messages, s)
	g.bytes += size
	if s.Seq == s.Commit.Last() {
		return g.flush()
	}
	return nil
}

// gone takes the place of sequences that the stream does not have.
func (g *gather) gone(from, to uint64) error {
	err := g.flush()
	if err == nil {
		err = g.fn(Commit{Commit: frame.Commit{First: from, Count: to - from + 1}, Gone: true})
		g.failed = err
	}
	return err
}

// flush hands on what is there, if anything is.
func (g *gather) flush() error {
	if len(g.open.Messages) == 0 {
		return nil
	}
	g.failed = g.fn(g.open)
	clear(g.open.Messages) // hold no bodies
	g.open.Messages = g.open.Messages[:0]
	g.bytes = 0
	return g.failed
}
