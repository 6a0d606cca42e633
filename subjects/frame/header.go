package frame

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"datastream/subjects"
)

// The headers of P3. None of them is ever forwarded from a producer.
const (
	// HeaderPos is the position of a run's first frame, on frame and store.
	HeaderPos = "Ds-Pos"
	// HeaderRun is the lengths and skips of a run, absent for a single frame.
	HeaderRun = "Ds-Run"
	// HeaderCommit is <first>/<count>/<ns>, on store.
	HeaderCommit = "Ds-Commit"
	// HeaderSeq is <producer>:<n>, on a submission.
	HeaderSeq = "Ds-Seq"
	// HeaderAck asks, on a submission with a reply, when to answer:
	// AckCommitted; absent means once buffered (P4.4).
	HeaderAck = "Ds-Ack"
	// AckCommitted is the value of HeaderAck that asks for an answer once the
	// frames are fsynced.
	AckCommitted = "committed"
)

// MaxProducer bounds a producer's name in Ds-Seq, in bytes.
const MaxProducer = 64

// ErrHeader says that a Ds-Commit or Ds-Seq header is not of its form.
var ErrHeader = errors.New("bad header")

// A Commit says which commit a stored message belongs to (P8.2).
type Commit struct {
	First   uint64 // sequence of the commit's first message
	Count   uint64 // its messages
	Instant int64  // nanoseconds since the Unix epoch, by ingest's clock (P8.1)
}

// String is the header's value.
func (c Commit) String() string {
	b := make([]byte, 0, 64)
	b = strconv.AppendUint(b, c.First, 10)
	b = append(b, '/')
	b = strconv.AppendUint(b, c.Count, 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, c.Instant, 10)
	return string(b)
}

// Last is the sequence of the commit's last message.
func (c Commit) Last() uint64 { return c.First + c.Count - 1 }

// ParseCommit reads what String writes. It wraps ErrHeader.
func ParseCommit(s string) (Commit, error) {
	first, rest, ok1 := strings.Cut(s, "/")
	count, ns, ok2 := strings.Cut(rest, "/")
	f, err1 := subjects.ParseDecimal(first)
	n, err2 := subjects.ParseDecimal(count)
	t, err3 := subjects.ParseDecimal(ns)
	if !ok1 || !ok2 || err1 != nil || err2 != nil || err3 != nil ||
		f == 0 || n == 0 || f+n-1 < f || t > 1<<63-1 {
		return Commit{}, fmt.Errorf("%w: %s %.60q is not <first>/<count>/<ns>", ErrHeader, HeaderCommit, s)
	}
	return Commit{First: f, Count: n, Instant: int64(t)}, nil
}

// A Seq is a producer's own running number of a run's first submission.
type Seq struct {
	Producer string // 1 … 64 bytes of visible ASCII without ':'
	N        uint64
}

// String is the header's value.
func (q Seq) String() string { return q.Producer + ":" + strconv.FormatUint(q.N, 10) }

// ParseSeq reads what String writes. It wraps ErrHeader.
func ParseSeq(s string) (Seq, error) {
	p, n, ok := strings.Cut(s, ":")
	v, err := subjects.ParseDecimal(n)
	if !ok || err != nil || p == "" || len(p) > MaxProducer || !visible(p) {
		return Seq{}, fmt.Errorf("%w: %s %.80q is not <producer>:<n> with a producer of 1 to %d visible ASCII bytes",
			ErrHeader, HeaderSeq, s, MaxProducer)
	}
	return Seq{Producer: p, N: v}, nil
}

func visible(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Get returns the one value of a header. A header that stands twice is worse
// than none: it wraps ErrHeader. The name is compared as it is spelled.
func Get(h map[string][]string, name string) (value string, ok bool, err error) {
	switch v := h[name]; len(v) {
	case 0:
		return "", false, nil
	case 1:
		return v[0], true, nil
	default:
		return "", false, fmt.Errorf("%w: %s stands %d times", ErrHeader, name, len(v))
	}
}
