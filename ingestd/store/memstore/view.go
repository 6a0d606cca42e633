package memstore

import (
	"strings"

	"datastream/ingestd/store"
)

// An entry is what has one sequence.
type entry struct {
	store.Stored
	subject string
	foreign bool // nothing else is set
}

// A view is what is stored at one moment. Entries are only ever appended and
// cut off in front, so it stays as it is.
type view struct {
	first   uint64 // the first sequence stored, or the next to be given out
	entries []entry
}

func (v view) last() uint64 { return v.first + uint64(len(v.entries)) - 1 }

// between is what is stored from one sequence to another, both included.
func (v view) between(from, to uint64) []entry {
	from, to = max(from, v.first), min(to, v.last())
	if from > to {
		return nil
	}
	return v.entries[from-v.first : to-v.first+1]
}

// end is the last whole commit. Only the one that the last entry claims can
// be in the middle of becoming whole.
func (v view) end() store.End {
	e := store.End{Seq: v.last(), First: v.first}
	if n := len(v.entries); n > 0 && !v.entries[n-1].foreign {
		if c := v.entries[n-1].Commit; c.Last() > e.Seq {
			e.Seq = c.First - 1
		}
	}
	all := v.between(e.First, e.Seq)
	for i := len(all) - 1; i >= 0; i-- {
		if !all[i].foreign {
			e.Instant = all[i].Commit.Instant
			break
		}
	}
	return e
}

// matches says whether a filter takes a subject, as the server would.
func matches(filter, subject string) bool {
	for {
		f, restF, moreF := strings.Cut(filter, ".")
		s, restS, moreS := strings.Cut(subject, ".")
		switch {
		case f == ">":
			return true
		case f != "*" && f != s, moreF != moreS:
			return false
		case !moreF:
			return true
		}
		filter, subject = restF, restS
	}
}
