package service_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"datastream/service"
)

// TestGroupStopsInOrder is promise 8: whoever ends the group, the actors end
// one after another as they were added, and each before the next is told.
func TestGroupStopsInOrder(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		first func(context.Context, context.CancelFunc) error // what the actor "b" does
		want  error
	}{
		"an actor fails": {func(context.Context, context.CancelFunc) error { return boom }, boom},
		"an actor is cancelled by something else": {func(context.Context, context.CancelFunc) error { return context.Canceled }, context.Canceled},
		"an actor returns":                        {func(context.Context, context.CancelFunc) error { return nil }, nil},
		"the context ends":                        {func(ctx context.Context, stop context.CancelFunc) error { stop(); <-ctx.Done(); return ctx.Err() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var told []string // written by one actor at a time, or the test is wrong and -race says so
				var g service.Group
				add := func(name string) {
					g.Add(name, func(ctx context.Context) error {
						<-ctx.Done()
						time.Sleep(time.Second)
						told = append(told, name)
						return ctx.Err()
					})
				}
				add("a")
				g.Add("b", func(ctx context.Context) error { return c.first(ctx, stop) })
				add("c")
				add("d")
				err := g.Run(ctx, time.Minute)
				if !errors.Is(err, c.want) || (c.want != nil && !strings.HasPrefix(err.Error(), "b: ")) {
					t.Errorf("run: %v, want %v", err, c.want)
				}
				if !slices.Equal(told, []string{"a", "c", "d"}) {
					t.Errorf("ended in the order %v", told)
				}
			})
		})
	}
}

// TestGroupNamesTheLate is promise 8: one deadline for all; those after a
// late one are told at once, and what failed meanwhile is not lost.
func TestGroupNamesTheLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		release := make(chan struct{})
		failed := errors.New("could not flush")
		var g service.Group
		g.Add("in time", func(ctx context.Context) error { <-ctx.Done(); return failed })
		g.Add("late", func(context.Context) error { <-release; return nil })
		told := make(chan time.Time, 1)
		g.Add("after it", func(ctx context.Context) error { <-ctx.Done(); told <- time.Now(); <-release; return nil })
		begun := time.Now()
		stop()
		err := g.Run(ctx, 3*time.Second)
		if !errors.Is(err, service.ErrLate) || !errors.Is(err, failed) || !strings.Contains(err.Error(), "late, after it") {
			t.Errorf("run: %v", err)
		}
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		if at := <-told; at.Sub(begun) != 3*time.Second {
			t.Errorf("the actor after the late one was told after %v", at.Sub(begun))
		}
		close(release)
		synctest.Wait()
	})
}
