package store

import (
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"datastream/subjects"
	"datastream/subjects/frame"
)

// Headers of the batch protocol. They stay in the stored messages; nobody
// reads them there.
const (
	headerBatchID     = "Nats-Batch-Id"
	headerBatchSeq    = "Nats-Batch-Sequence"
	headerBatchCommit = "Nats-Batch-Commit"
)

// headerSize is the body's size, by the server, where only heads are read.
const headerSize = "Nats-Msg-Size"

// A Message is a run to be committed.
type Message struct {
	Stream subjects.Stream
	Run    frame.Run
}

// A Stored is a committed message.
type Stored struct {
	Seq    uint64          // its sequence in the store
	Stream subjects.Stream // whose frames they are
	Run    frame.Run       // after a read of heads, without payloads (frame.DecodeHead)
	Commit frame.Commit    // the commit it is part of
}

// encoder writes the headers of stored messages. The client encodes headers
// when it publishes, so one map serves all messages, each value in a slot of
// its own.
type encoder struct {
	msg                                   nats.Msg
	pos, run, commit                      [1]string
	batchID, batchSeq, expected, inStream [1]string
	numbers                               []string // 1, 2, 3 … as text
}

func newEncoder(stream string) *encoder {
	e := &encoder{inStream: [1]string{stream}}
	e.msg.Header = nats.Header{frame.HeaderPos: e.pos[:], frame.HeaderCommit: e.commit[:]}
	return e
}

// begin sets the headers that all messages of a commit share. The message
// that comes next carries the fence.
func (e *encoder) begin(c frame.Commit) {
	h := e.msg.Header
	e.commit[0] = c.String()
	e.expected[0] = strconv.FormatUint(c.First-1, 10)
	h[jetstream.ExpectedLastSeqHeader] = e.expected[:]
	h[jetstream.ExpectedStreamHeader] = e.inStream[:]
	delete(h, headerBatchID)
	delete(h, headerBatchSeq)
	delete(h, headerBatchCommit)
}

// batch marks the message that comes next as the n-th, from 1, of a batch.
func (e *encoder) batch(id string, n int, last bool) {
	h := e.msg.Header
	if n == 1 {
		e.batchID[0] = id
		h[headerBatchID] = e.batchID[:]
		h[headerBatchSeq] = e.batchSeq[:]
	} else {
		delete(h, jetstream.ExpectedLastSeqHeader)
		delete(h, jetstream.ExpectedStreamHeader)
	}
	for len(e.numbers) < n {
		e.numbers = append(e.numbers, strconv.Itoa(len(e.numbers)+1))
	}
	e.batchSeq[0] = e.numbers[n-1]
	if last {
		h[headerBatchCommit] = batchCommit
	}
}

var batchCommit = []string{"1"}

// message fills in what is the message's own and returns it, to be published
// before the encoder is used again.
func (e *encoder) message(subject, reply string, r frame.Run) *nats.Msg {
	e.pos[0] = r.First().String()
	if e.run[0] = r.Header(); e.run[0] != "" {
		e.msg.Header[frame.HeaderRun] = e.run[:]
	} else {
		delete(e.msg.Header, frame.HeaderRun)
	}
	e.msg.Subject, e.msg.Reply, e.msg.Data = subject, reply, r.Body()
	return &e.msg
}

// decode reads a message of the store. An error says that it is foreign.
func (k *known) decode(space subjects.Space, m *nats.Msg, seq uint64, head bool) (Stored, error) {
	name, err := k.parse(space, m.Subject)
	if err != nil {
		return Stored{}, err
	}
	s := Stored{Seq: seq, Stream: name.stream}
	value, _, err := frame.Get(m.Header, frame.HeaderCommit)
	if err == nil {
		s.Commit, err = frame.ParseCommit(value)
	}
	if err != nil {
		return Stored{}, err
	}
	if seq < s.Commit.First || seq > s.Commit.Last() {
		return Stored{}, fmt.Errorf("%s %s does not hold sequence %d", frame.HeaderCommit, value, seq)
	}
	size, sized, err := frame.Get(m.Header, headerSize)
	switch {
	case err != nil:
	case head:
		var n uint64
		if n, err = subjects.ParseDecimal(size); err == nil {
			s.Run, err = frame.DecodeHead(name.channel, m.Header, int(min(n, frame.MaxBody+1)))
		}
	case sized: // with a second one from the server its head would be foreign
		err = fmt.Errorf("%s is the server's header", headerSize)
	default:
		s.Run, err = frame.Decode(name.channel, m.Header, m.Data)
	}
	return s, err
}
