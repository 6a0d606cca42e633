package mux

import (
	"time"

	"datastream/subjects"
	"datastream/subjects/control"
)

// Defaults of NodesConfig (P5.4, P5.5).
const (
	DefaultStreams = 10000
	DefaultIdle    = time.Hour
	DefaultYield   = time.Minute
)

// NodesConfig is what Nodes may be told. Numbers that are not above zero take
// their defaults.
type NodesConfig struct {
	// Only is the one node to serve; "" is a gateway, which serves every node
	// without a mux of its own.
	Only subjects.Node
	// Instance is this process's id in its beats; a beat that bears it is an
	// echo. Without it only beats of streams still known count as echoes.
	Instance string
	// Streams bounds the streams, open and closing ones together.
	Streams int
	// Idle is how long a stream must be idle and settled to be closed.
	Idle time.Duration
	// Yield is how long after the last beat of a node's own mux a gateway
	// takes the node back.
	Yield time.Duration
	// Mint makes a life; nil is subjects.MintLife. It must not make one twice.
	Mint func(now time.Time) subjects.Life
	// Mux and Shared are handed to New.
	Mux    Config
	Shared *Shared
}

// Nodes decides which nodes this process is the mux of, and holds their muxes:
// one open stream a node, and those that close. It is not safe for concurrent
// use.
type Nodes struct {
	cfg       NodesConfig
	open      map[subjects.Node]*served
	streams   map[subjects.Stream]*Mux // open and closing
	yielded   *recent[subjects.Node, struct{}, yield]
	rivals    *recent[subjects.Node, subjects.Life, struct{}] // counted conflicts
	conflicts uint64
}

// served is an open mux, and since when it has been quiet.
type served struct {
	mux      *Mux
	assigned subjects.Position // when Expire last looked
	since    time.Time
}

// yield is the last beat of a node's own mux.
type yield struct {
	life subjects.Life
	last time.Time
}

// NewNodes makes an empty set: a mux is born by the first call of Mux for its
// node, in single-node mode as well.
func NewNodes(cfg NodesConfig) *Nodes {
	if cfg.Streams <= 0 {
		cfg.Streams = DefaultStreams
	}
	if cfg.Idle <= 0 {
		cfg.Idle = DefaultIdle
	}
	if cfg.Yield <= 0 {
		cfg.Yield = DefaultYield
	}
	if cfg.Mint == nil {
		cfg.Mint = subjects.MintLife
	}
	return &Nodes{
		cfg:     cfg,
		open:    make(map[subjects.Node]*served),
		streams: make(map[subjects.Stream]*Mux),
		yielded: newRecent[subjects.Node, struct{}, yield](cfg.Streams),
		rivals:  newRecent[subjects.Node, subjects.Life, struct{}](cfg.Streams),
	}
}

// Mux is the open mux of a node. It is born if the node has none and may have
// one; else the error is ErrForeign, ErrYielded or ErrStreams as it stands,
// for a gateway hears every submission of the nodes it has given up. The mux
// may be closed before the caller submits to it: then Submit says so, and Mux
// is asked again.
func (n *Nodes) Mux(node subjects.Node, now time.Time) (m *Mux, born bool, err error) {
	if s := n.open[node]; s != nil {
		return s.mux, false, nil
	}
	switch y := n.yielded.get(node, struct{}{}); {
	case n.cfg.Only != "" && node != n.cfg.Only:
		return nil, false, ErrForeign
	case y != nil && now.Sub(y.value.last) < n.cfg.Yield:
		return nil, false, ErrYielded
	case len(n.streams) >= n.cfg.Streams:
		return nil, false, ErrStreams
	case y != nil:
		n.yielded.drop(y)
	}
	return n.bear(node, now), true, nil
}

func (n *Nodes) bear(node subjects.Node, now time.Time) *Mux {
	m := New(subjects.Stream{Node: node, Life: n.cfg.Mint(now)}, n.cfg.Mux, n.cfg.Shared)
	n.open[node] = &served{mux: m, since: now}
	n.streams[m.stream] = m
	return m
}

// Open is the open mux of a node, or nil; none is born.
func (n *Nodes) Open(node subjects.Node) *Mux {
	if s := n.open[node]; s != nil {
		return s.mux
	}
	return nil
}

// Yield gives a node to its own mux before that is heard beating, because it
// was found in another way.
func (n *Nodes) Yield(node subjects.Node, now time.Time) {
	n.yielded.put(node, struct{}{}).value = yield{last: now}
}

// Find is the mux of a stream, open or closing; nil when there is none.
func (n *Nodes) Find(st subjects.Stream) *Mux { return n.streams[st] }

// Each visits every mux, open and closing, in no order. The visitor may call
// Remove.
func (n *Nodes) Each(visit func(*Mux)) {
	for _, m := range n.streams {
		visit(m)
	}
}

// Len is how many streams are open or closing.
func (n *Nodes) Len() int { return len(n.streams) }

// Beat takes note of another mux's beat. A gateway that hears a node's own mux
// gives the node up: it returns the mux that was closed, if it had one, and
// takes the node back when Yield has passed since the last such beat, or at
// once when that mux says that it leaves. Whatever other mux is heard beating for
// a node that has an open mux here is a conflict, counted once a life.
func (n *Nodes) Beat(st subjects.Stream, b control.Beat, now time.Time) (yielded *Mux) {
	if n.streams[st] != nil || n.cfg.Instance != "" && b.Instance == n.cfg.Instance {
		return nil
	}
	if b.Leaving {
		if y := n.yielded.get(st.Node, struct{}{}); y != nil && (y.value.life == st.Life || y.value.life.IsZero()) {
			n.yielded.drop(y)
		}
		return nil
	}
	if b.Closed {
		return nil // one of its lives; after a suspension the mux has another
	}
	s := n.open[st.Node]
	if s != nil && n.rivals.get(st.Node, st.Life) == nil {
		n.rivals.put(st.Node, st.Life)
		n.conflicts++
	}
	if n.cfg.Only != "" || b.Gateway {
		return nil
	}
	y := n.yielded.get(st.Node, struct{}{})
	if y == nil {
		y = n.yielded.put(st.Node, struct{}{})
	}
	y.value = yield{life: st.Life, last: now}
	if s == nil {
		return nil
	}
	n.close(s.mux)
	return s.mux
}

// close ends a life here; the stream stays known until Remove.
func (n *Nodes) close(m *Mux) {
	m.Close()
	if s := n.open[m.stream.Node]; s != nil && s.mux == m {
		delete(n.open, m.stream.Node)
	}
}

// Expire closes the streams that were idle and settled for Idle, by what it
// saw in its own calls, and returns them. settled says of a mux whether all it
// assigned is settled; it is asked only about muxes that were given nothing
// since the last call. A single-node mux never expires: its beats are what
// keeps gateways away from its node.
func (n *Nodes) Expire(now time.Time, settled func(*Mux) bool) (expired []*Mux) {
	if n.cfg.Only != "" {
		return nil
	}
	for _, s := range n.open {
		if a := s.mux.Counts().Assigned; a != s.assigned || !settled(s.mux) {
			s.assigned, s.since = a, now
			continue
		}
		// A submission may come in between: it wins.
		if now.Sub(s.since) >= n.cfg.Idle && s.mux.closeAt(s.assigned) {
			n.close(s.mux)
			expired = append(expired, s.mux)
		}
	}
	return expired
}

// Reborn closes a mux and gives its node a new life, which it returns (P1.1).
// It is nil when m was not the open mux of its node, or when twice the allowed
// streams are open or closing: the node is then born again by Mux.
func (n *Nodes) Reborn(m *Mux, now time.Time) *Mux {
	s := n.open[m.stream.Node]
	n.close(m)
	if s == nil || s.mux != m || len(n.streams) >= 2*n.cfg.Streams {
		return nil
	}
	return n.bear(m.stream.Node, now)
}

// Remove forgets a stream, and closes it if it was open.
func (n *Nodes) Remove(st subjects.Stream) {
	if m := n.streams[st]; m != nil {
		n.close(m)
		delete(n.streams, st)
	}
}

// Conflicts counts the lives of other muxes that were heard while their node
// was served here.
func (n *Nodes) Conflicts() uint64 { return n.conflicts }
