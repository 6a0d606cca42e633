package memstore_test

import (
	"testing"

	"datastream/ingestd/store"
	"datastream/ingestd/store/memstore"
	"datastream/ingestd/store/storetest"
	"datastream/subjects/frame"
)

// The twin keeps the promises of a Reader.
func TestSuite(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Store {
		s := memstore.New()
		return storetest.Store{
			Reader:  s,
			Commit:  func(_ *testing.T, msgs []store.Message, instant int64) { s.Commit(msgs, instant) },
			Part:    func(_ *testing.T, c frame.Commit, msgs []store.Message) { s.AddPart(c, msgs) },
			Strange: func(*testing.T) { s.AddForeign() },
			Evict:   func(_ *testing.T, below uint64) { s.Evict(below) },
		}
	})
}

// Two stores are told apart, as two streams are.
func TestStoresDiffer(t *testing.T) {
	if a, b := memstore.New(), memstore.New(); a.Created().Equal(b.Created()) {
		t.Fatalf("two stores have one creation time, %v", a.Created())
	}
}
