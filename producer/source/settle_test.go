package source

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestFollowRemembersOnlyWhatIsSettled is promise 9: what was taken and not
// settled when it ended, is submitted again.
func TestFollowRemembersOnlyWhatIsSettled(t *testing.T) {
	b, p := newBench(t), newPipe()
	b.cfg.Grace = time.Millisecond
	b.write("one\n")
	f, stop := b.start(p)
	b.gets(p, "one")
	eventually(t, "it is remembered", func() bool { return f.Stats().Saves > 0 })
	p.set(func() { p.shut = true })
	b.write("two\nthree\n")
	b.gets(p, "one", "two", "three")
	if err := stop(); !errors.Is(err, ErrUnsettled) {
		t.Errorf("ended with %v", err)
	}
	p = p.reopen()
	_, stop = b.start(p)
	b.gets(p, "two", "three")
	b.must(stop())
	if fmt.Sprint(p.settled) != "map[one:1 three:1 two:1]" {
		t.Errorf("settled %v", p.settled)
	}
}

// TestFollowReadsAgainWhatWasLost is promise 9: what is lost on the way is
// submitted again, in order, with what went with it.
func TestFollowReadsAgainWhatWasLost(t *testing.T) {
	for _, what := range []fate{lost, unknown} {
		b, p := newBench(t), newPipe()
		p.fate = func(n int, f sent) fate {
			if n < 4 && f.payload == "two" {
				return what
			}
			return settled
		}
		b.write("one\ntwo\nthree\n")
		f, stop := b.start(p)
		b.gets(p, "one", "two", "three", "one", "two", "three")
		b.must(stop())
		if s := f.Stats(); s.Rewinds != 1 || s.Records != 6 || s.LostBytes != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// TestFollowLeavesOutWhatIsNeverTaken is promise 12: two records that can never
// be settled hold up none of the others.
func TestFollowLeavesOutWhatIsNeverTaken(t *testing.T) {
	b, p := newBench(t), newPipe()
	p.maxFrame = 40
	p.fate = func(_ int, f sent) fate {
		if strings.HasPrefix(f.payload, "poison") {
			return lost
		}
		return settled
	}
	b.write("one\npoison\ntwo\n" + strings.Repeat("x", 50) + "\nthree\n")
	var out atomic.Int64
	b.cfg.OnNotice = func(s string) {
		if strings.Contains(s, "before byte 11 was lost") {
			out.Add(1)
		}
	}
	f, stop := b.start(p)
	eventually(t, "the record is left out", func() bool { return out.Load() > 0 })
	b.write("end\n")
	eventually(t, "the last", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.settled["end"] > 0 && p.settled["three"] > 0
	})
	b.must(stop())
	if s := f.Stats(); out.Load() != 1 || s.Refused < 2 || p.settled["one"] == 0 || p.settled["two"] == 0 {
		t.Errorf("%+v, settled %v", s, p.settled)
	}
	n := len(p.got)
	_, stop = b.start(p)
	b.write("four\n")
	eventually(t, "only what is new", func() bool { return len(p.frames("app")) == n+1 })
	b.must(stop())
}

// TestFollowCountsWhatIsInNoFile is promise 12: lost on the way, and truncated.
func TestFollowCountsWhatIsInNoFile(t *testing.T) {
	b, p := newBench(t), newPipe()
	p.shut = true
	b.write("one\n")
	f, stop := b.start(p)
	b.gets(p, "one")
	b.must(writeNew(b.path, "2\n"))
	eventually(t, "the truncation is seen", func() bool { return f.Stats().Truncations == 1 })
	p.set(func() {
		p.shut = false
		p.fate = func(_ int, f sent) fate {
			if f.payload == "one" {
				return lost
			}
			return settled
		}
	})
	eventually(t, "the loss is counted", func() bool { return f.Stats().LostBytes == 4 })
	b.write("3\n")
	eventually(t, "the rest", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.settled["2"] > 0 && p.settled["3"] > 0
	})
	b.must(stop())
}

// TestFollowWaitsForRoom: no more than the limit is ever unsettled.
func TestFollowWaitsForRoom(t *testing.T) {
	b, p := newBench(t), newPipe()
	p.shut = true
	b.write(strings.Repeat("x\n", limits[0]+100))
	_, stop := b.start(p)
	eventually(t, "the limit", func() bool { return p.Report().Submitted == uint64(limits[0]) })
	p.set(func() { p.shut = false })
	eventually(t, "the rest", func() bool { return p.Report().Settled == uint64(limits[0]+100) })
	b.must(stop())
}

// TestFollowLosesNothing is promises 9 to 11 together: a writer that rotates, a
// way that loses frames, and runs that end with frames under way.
func TestFollowLosesNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	b, p := newBench(t), newPipe()
	b.cfg.Grace = time.Millisecond
	var want []string
	write := func(n int) {
		for range n {
			line := fmt.Sprintf("line %d %s", len(want), strings.Repeat("z", random.IntN(300)))
			b.write(line + "\n")
			want = append(want, line)
		}
	}
	write(20)
	_, stop := b.start(p) // what is rotated away before it is ever followed is not
	eventually(t, "the first lines", func() bool { return len(p.frames("app")) == 20 })
	_ = stop()
	for round := range 12 {
		p = p.reopen()
		odds := rand.New(rand.NewPCG(seed, uint64(round)))
		p.fate = func(n int, f sent) fate { return []fate{settled, lost, unknown}[max(0, odds.IntN(60)-57)] }
		f, stop := b.start(p)
		for range 4 {
			write(1 + random.IntN(40))
			if random.IntN(2) == 0 {
				b.aside()
			}
			if random.IntN(3) == 0 {
				p.set(func() { p.shut = !p.shut })
			}
		}
		eventually(t, "something is taken", func() bool { return f.Stats().Records > 0 })
		if err := stop(); err != nil && !errors.Is(err, ErrUnsettled) {
			t.Fatal(err)
		}
		write(1 + random.IntN(20))
	}
	p = p.reopen()
	f, stop := b.start(p)
	eventually(t, "all is settled", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return !slices.ContainsFunc(want, func(l string) bool { return p.settled[l] == 0 })
	})
	b.must(stop())
	if s := f.Stats(); s.Vanished > 0 || s.LostBytes > 0 {
		t.Errorf("%+v", s)
	}
	if len(p.settled) != len(want) {
		t.Errorf("%d different lines were settled, %d written", len(p.settled), len(want))
	}
}
