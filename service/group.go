package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Group runs actors until the first of them returns or the context ends,
// and then stops them one after another in the order they were added: what
// takes work in first, the connection it goes out on last. The zero value is
// an empty group.
type Group struct{ actors []actor }

type actor struct {
	name   string
	run    func(context.Context) error
	cancel context.CancelFunc
	done   chan struct{}
	err    error // after done
	alone  bool  // ended while nobody had asked it to
}

// Add adds an actor, before Run. It is to return soon after its context has
// ended; whether it then returns nil or the context's error is the same.
func (g *Group) Add(name string, run func(context.Context) error) {
	g.actors = append(g.actors, actor{name: name, run: run, done: make(chan struct{})})
}

// Run starts all actors, waits and stops them. Each has ended before the next
// is told to, as long as the grace lasts; then all are told, and Run returns
// with ErrLate and their names. Otherwise it returns the errors of the actors,
// the one that ended the group first, each with its actor's name. A group
// that ends because its context did returns nil if the actors do.
func (g *Group) Run(ctx context.Context, grace time.Duration) error {
	first := make(chan *actor, len(g.actors))
	for i := range g.actors {
		a := &g.actors[i]
		var own context.Context
		own, a.cancel = context.WithCancel(context.WithoutCancel(ctx))
		go func() {
			a.err = a.run(own)
			close(a.done)
			first <- a
		}()
	}
	var ended *actor
	select {
	case ended = <-first:
	case <-ctx.Done():
	}
	if ended != nil && ctx.Err() == nil {
		ended.alone = true
	}
	late := g.stop(grace)
	return g.errors(ended, late)
}

// stop ends the actors in order and returns the names of those that are late.
func (g *Group) stop(grace time.Duration) (late []string) {
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	expired := false
	for i := range g.actors {
		a := &g.actors[i]
		a.cancel()
		if !expired {
			select {
			case <-a.done:
				continue
			case <-deadline.C:
				expired = true
			}
		}
		select {
		case <-a.done:
		default:
			late = append(late, a.name)
		}
	}
	return late
}

func (g *Group) errors(ended *actor, late []string) error {
	var all []error
	add := func(a *actor) {
		select {
		case <-a.done:
			if a.err != nil && (a.alone || !errors.Is(a.err, context.Canceled)) {
				all = append(all, fmt.Errorf("%s: %w", a.name, a.err))
			}
		default:
		}
	}
	if ended != nil {
		add(ended)
	}
	for i := range g.actors {
		if a := &g.actors[i]; a != ended {
			add(a)
		}
	}
	if len(late) > 0 {
		all = append(all, fmt.Errorf("%w: %s", ErrLate, strings.Join(late, ", ")))
	}
	return errors.Join(all...)
}
