package storetest

import (
	"context"
	"testing"
	"time"

	"datastream/ingestd/store"
	"datastream/subjects/frame"
)

// A Reader is what the suite tests.
type Reader interface {
	Created() time.Time
	Foreign() uint64
	FollowErr() error
	End(ctx context.Context) (store.End, error)
	Find(ctx context.Context, instant int64, end store.End) (uint64, error)
	Read(ctx context.Context, from, to uint64, filter string, fn func(store.Commit) error) error
	ReadBack(ctx context.Context, to uint64, fn func([]store.Stored) (more bool, err error)) error
	Follow(ctx context.Context, from uint64, fn func(store.Commit) error) error
}

// A Store is a new store, its Reader, and what the suite does to it from one
// goroutine.
type Store struct {
	Reader
	// Commit stores messages as one commit.
	Commit func(t *testing.T, msgs []store.Message, instant int64)
	// Part stores messages one by one that claim to be of a commit.
	Part func(t *testing.T, c frame.Commit, msgs []store.Message)
	// Strange stores a message that is no run.
	Strange func(t *testing.T)
	// Evict lets go of everything below a sequence.
	Evict func(t *testing.T, below uint64)
	// Disturb breaks the Reader's connection or restarts its server, in turn;
	// it is nil for a store that has neither.
	Disturb func(t *testing.T)
}

// Run runs the suite on stores that open makes, each with the default space.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Store)
	}{
		{"EmptyStore", emptyStore},
		{"CommitsComeWholeAndInOrder", commitsComeWholeAndInOrder},
		{"RangesAddUp", rangesAddUp},
		{"FiltersKeepCommitsTogether", filtersKeepCommitsTogether},
		{"FindIsTheFirstNotTooEarly", findIsTheFirstNotTooEarly},
		{"ReadBackIsNewestFirst", readBackIsNewestFirst},
		{"HalfACommitIsNotShown", halfACommitIsNotShown},
		{"ACommitCutShortIsShownWithTheNext", aCommitCutShort},
		{"ForeignMessagesAreSkippedAndCounted", foreignMessages},
		{"FindPassesForeignMessages", findPassesForeign},
		{"EvictedHeadsAreReported", evictedHeads},
		{"AllEvicted", allEvicted},
		{"ErrorsOfTheCallerEndARead", errorsOfTheCaller},
		{"FollowGetsEachCommitOnce", followGetsEachCommitOnce},
		{"FollowReportsWhatWasEvicted", followReportsEvicted},
		{"FollowKnowsAnotherStore", followKnowsAnotherStore},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}
