package view

import (
	"datastream/queryd/catalog"
	"datastream/queryd/value"
	"datastream/subjects"
)

// A Frame is one stored frame: what a Run reads.
type Frame struct {
	Stream   subjects.Stream
	Channel  subjects.Channel
	Position subjects.Position
	Sequence uint64 // of its message in the store
	Place    int    // in the message's run, from 0
	Instant  int64  // of its commit (P8.1)
	Payload  []byte
}

// A place is where a frame stands in commit order. The order of (timestamp,
// sequence, place) is the same, since no instant falls along the commits.
type place struct {
	sequence uint64
	frame    int
}

func (p place) before(q place) bool {
	return p.sequence < q.sequence || p.sequence == q.sequence && p.frame < q.frame
}

// A stream is what a Run remembers of a stream.
type stream struct {
	of         subjects.Stream
	node, life value.Value
	in         bool // the scope has it
}

// A channel is what a Run remembers of a channel.
type channel struct {
	name   subjects.Channel
	value  value.Value
	class  *catalog.Class
	origin value.Value
	in     bool // the pattern, the mode and FROM have it
}

// remembered bounds the streams and channels that a Run remembers. More are
// learnt anew; held records keep their own.
const remembered = 1 << 14 // of each kind

// learnt are the streams and channels of the frames of a Run, the last one of
// each at hand: a stored message is a run of one channel.
type learnt struct {
	spec     *Spec
	streams  map[subjects.Stream]*stream
	channels map[subjects.Channel]*channel
	stream   *stream
	channel  *channel
}

func (l *learnt) streamOf(s subjects.Stream) *stream {
	if l.stream != nil && l.stream.of == s {
		return l.stream
	}
	known := l.streams[s]
	if known == nil {
		if l.streams == nil || len(l.streams) >= remembered {
			l.streams = map[subjects.Stream]*stream{}
		}
		known = l.learnStream(s)
		l.streams[known.of] = known
	}
	l.stream = known
	return known
}

func (l *learnt) learnStream(s subjects.Stream) *stream {
	node := []byte(s.Node) // a copy: the name may lie in a message
	s.Node = subjects.Node(node)
	sel := l.spec.Selector
	return &stream{
		of:   s,
		node: value.OfText(node),
		life: value.OfString(s.Life.String()),
		in:   (sel.Node == nil || *sel.Node == s.Node) && (sel.Life == nil || *sel.Life == s.Life) && !l.spec.NoStream,
	}
}

func (l *learnt) channelOf(c subjects.Channel) *channel {
	if l.channel != nil && l.channel.name == c {
		return l.channel
	}
	known := l.channels[c]
	if known == nil {
		if l.channels == nil || len(l.channels) >= remembered {
			l.channels = map[subjects.Channel]*channel{}
		}
		known = l.learnChannel(c)
		l.channels[known.name] = known
	}
	l.channel = known
	return known
}

func (l *learnt) learnChannel(c subjects.Channel) *channel {
	name := []byte(c)
	k := &channel{name: subjects.Channel(name), value: value.OfText(name), class: l.spec.Catalog.Classify(c)}
	k.origin = value.OfText([]byte(k.class.Origin))
	k.in = l.spec.Selector.Pattern.Match(string(c)) && l.spec.Mode.reads(k.class) && l.spec.from(k.class.Origin)
	return k
}
