package store_test

import (
	"testing"

	"datastream/ingestd/store"
	"datastream/ingestd/store/storetest"
)

// A Reader keeps its promises on a real server, through cut connections and
// restarts.
func TestSuite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store {
		r := store.NewReal(t)
		return storetest.Store{
			Reader: r.Reader, Commit: r.Commit, Part: r.Part,
			Strange: r.Strange, Evict: r.Evict, Disturb: r.Disturb,
		}
	})
}
