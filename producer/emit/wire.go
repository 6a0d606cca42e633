package emit

import (
	"errors"
	"strings"

	"github.com/nats-io/nats.go"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// maxSubjects bounds the subjects a wire remembers; past it they are spelled
// anew.
const maxSubjects = 8192

// A wire turns runs into messages of one node. It reuses one message, for
// nats.go keeps nothing of it after a publish. It belongs to one goroutine.
type wire struct {
	nc       *nats.Conn
	space    subjects.Space
	node     subjects.Node
	subjects map[subjects.Channel]string
	msg      nats.Msg
	seq      [1]string
	run      [1]string
}

func newWire(nc *nats.Conn, space subjects.Space, node subjects.Node) *wire {
	return &wire{
		nc: nc, space: space, node: node,
		subjects: make(map[subjects.Channel]string),
		msg:      nats.Msg{Header: make(nats.Header, 2)},
	}
}

func (w *wire) subject(c subjects.Channel) string {
	if s, ok := w.subjects[c]; ok {
		return s
	}
	if len(w.subjects) == maxSubjects {
		clear(w.subjects)
	}
	s := w.space.Submit(w.node, c)
	w.subjects[subjects.Channel(strings.Clone(string(c)))] = s
	return s
}

// publish sends a run, or a mark if it is empty.
func (w *wire) publish(r frame.Run, q frame.Seq, reply string) error {
	w.msg.Subject, w.msg.Reply, w.msg.Data = w.subject(r.Channel), reply, r.Body()
	w.seq[0], w.run[0] = q.String(), r.Header()
	w.msg.Header[frame.HeaderSeq] = w.seq[:]
	if r.Len() == 1 {
		delete(w.msg.Header, frame.HeaderRun)
	} else {
		w.msg.Header[frame.HeaderRun] = w.run[:]
	}
	return w.nc.PublishMsg(&w.msg)
}

// An outcome says what an error of a publish means for the message.
type outcome int

const (
	published outcome = iota
	// retry: the connection is away; the message did not leave and will later.
	retry
	// refused: this message can never leave.
	refused
	// gone: the connection is closed for good.
	gone
)

// judge reads the error of a publish. What is not known to be final is retried:
// nats.go returns the plain errors of the socket too, and before the first
// connection it says ErrHeadersNotSupported.
func judge(err error) outcome {
	switch {
	case err == nil:
		return published
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionDraining):
		return gone
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject),
		errors.Is(err, nats.ErrInvalidMsg):
		return refused
	}
	return retry
}

// A slicer cuts a batch into slices and these into runs (P3.1).
type slicer struct {
	cutter frame.Cutter
	cuts   []frame.Cut
}

// slice cuts the runs of the next slice from the start of entries and says how
// many entries they hold. The runs are valid until the next call.
func (s *slicer) slice(entries []entry) (runs []frame.Cut, n int) {
	for n < len(entries) && !s.cutter.Full(1, len(entries[n].payload)) {
		e := &entries[n]
		s.cutter.AddFrame(e.channel, subjects.Position(n), e.payload, false)
		n++
	}
	clear(s.cuts)
	s.cuts = s.cutter.Runs(s.cuts[:0])
	for i := range s.cuts {
		s.cuts[i].Run.Renumber(0) // a submission has no positions, so no skips
	}
	return s.cuts, n
}
