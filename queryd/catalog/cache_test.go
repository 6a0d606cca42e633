package catalog

import (
	"fmt"
	"sync"
	"testing"

	"datastream/subjects"
)

// TestCacheIsBounded is promise 5: however many channels come, two generations
// are held, what is used stays, and what is forgotten is counted and made
// again the same.
func TestCacheIsBounded(t *testing.T) {
	c := Default()
	c.cache = newCache(100)
	often := c.Classify("proc.often.stdout")
	for i := range 5000 {
		c.Classify(subjects.Channel(fmt.Sprintf("proc.p%d.stdout", i)))
		if i%50 == 0 && c.Classify("proc.often.stdout") != often {
			t.Fatalf("a channel asked for again and again was forgotten after %d others", i)
		}
	}
	held, forgotten := c.Remembered()
	if held > 200 || held+int(forgotten) < 5001 {
		t.Errorf("%d held, %d forgotten of 5001", held, forgotten)
	}
	if k := c.Classify("proc.p0.stdout"); k.Origin != "p0" {
		t.Errorf("made again with origin %s", k.Origin)
	}
}

// TestClassifyFromManySides is the promise on concurrency, for the race
// detector.
func TestClassifyFromManySides(t *testing.T) {
	c := Default()
	c.cache = newCache(10)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 1000 {
				want := fmt.Sprintf("p%d", (i*7+g)%40)
				if k := c.Classify(subjects.Channel("proc." + want + ".stdout")); k.Origin != want {
					t.Errorf("origin %s, want %s", k.Origin, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestClassifyAllocatesNothingTheSecondTime(t *testing.T) {
	c := Default()
	c.Classify("proc.trainer.stdout")
	if a := testing.AllocsPerRun(100, func() { c.Classify("proc.trainer.stdout") }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

func BenchmarkClassify(b *testing.B) {
	c := Default()
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			c.Classify("proc.trainer.stdout")
		}
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.classify("proc.trainer.stdout")
		}
	})
}
