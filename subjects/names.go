package subjects

import (
	"fmt"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"
)

// Bounds of names, in bytes of the decoded string (P1.3). They keep every
// subject, with its reply and sizes, well under the 4096 bytes at which a
// server cuts off the connection.
const (
	MaxNode    = 128
	MaxChannel = 512
)

// MaxPosition is the largest position; one more is only ever used as an
// exclusive bound (P1.2).
const MaxPosition Position = 1<<64 - 2

// A Node names who produced a frame: 1 … 128 opaque bytes.
type Node string

// A Channel names what a frame belongs to: 1 … 512 opaque bytes. The pipe
// never reads structure into it.
type Channel string

// A Position is a frame's place in its stream: one counter over all channels,
// never reused, never skipped (P1.2). It compares within one stream only.
type Position uint64

// A Life names one incarnation of a node's mux, a ULID (P1.1). The zero Life
// is no life.
type Life ulid.ULID

// A Stream is one incarnation of one node: the unit of order. Lives never
// merge. A Stream is comparable and may key a map.
type Stream struct {
	Node Node
	Life Life
}

// ParseNode checks the bounds of a node. It wraps ErrName.
func ParseNode(s string) (Node, error) {
	if err := checkLen("node", s, MaxNode); err != nil {
		return "", err
	}
	return Node(s), nil
}

// ParseChannel checks the bounds of a channel. It wraps ErrName.
func ParseChannel(s string) (Channel, error) {
	if err := checkLen("channel", s, MaxChannel); err != nil {
		return "", err
	}
	return Channel(s), nil
}

func checkLen(what, s string, limit int) error {
	switch {
	case s == "":
		return fmt.Errorf("%w: the %s is empty; it needs 1 to %d bytes", ErrName, what, limit)
	case len(s) > limit:
		return fmt.Errorf("%w: the %s has %d bytes, at most %d are allowed (it begins %.40q)", ErrName, what, len(s), limit, s)
	}
	return nil
}

// ParseLife takes a ULID in its canonical form, 26 upper-case Crockford
// digits. It wraps ErrLife.
func ParseLife(s string) (Life, error) {
	id, err := ulid.ParseStrict(s)
	if err != nil || id.String() != s {
		return Life{}, fmt.Errorf("%w: %.40q is no ULID in upper case", ErrLife, s)
	}
	return Life(id), nil
}

// MintLife makes a new life at an instant. Two lives minted by one process
// differ, and sort by birth at the precision of a millisecond.
func MintLife(now time.Time) Life {
	return Life(ulid.MustNew(ulid.Timestamp(now), ulid.DefaultEntropy()))
}

// String is the canonical text of the life.
func (l Life) String() string { return ulid.ULID(l).String() }

// IsZero reports whether the life is no life.
func (l Life) IsZero() bool { return l == Life{} }

// MarshalText writes the canonical text, so that JSON carries lives as text.
func (l Life) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText writes. It wraps ErrLife.
func (l *Life) UnmarshalText(b []byte) error {
	p, err := ParseLife(string(b))
	if err != nil {
		return err
	}
	*l = p
	return nil
}

// ParsePosition takes a decimal in 0 … 2^64-2 without sign or leading zeros.
// It wraps ErrPosition.
func ParsePosition(s string) (Position, error) {
	n, err := ParseDecimal(s)
	if err != nil || Position(n) > MaxPosition {
		return 0, fmt.Errorf("%w: %.40q is no decimal in 0 … 2^64-2", ErrPosition, s)
	}
	return Position(n), nil
}

// String is the position in decimal.
func (p Position) String() string { return strconv.FormatUint(uint64(p), 10) }

// ParseDecimal takes an unsigned 64-bit decimal in its one canonical form:
// digits only, no leading zero, no sign.
func ParseDecimal(s string) (uint64, error) {
	if s == "" || len(s) > 20 || (s[0] == '0' && len(s) > 1) {
		return 0, fmt.Errorf("%.40q is no plain decimal", s)
	}
	var n uint64
	for i := 0; i < len(s); i++ {
		d := uint64(s[i] - '0')
		if d > 9 {
			return 0, fmt.Errorf("%.40q is no plain decimal", s)
		}
		if n > (1<<64-1-d)/10 {
			return 0, fmt.Errorf("%.40q is larger than 2^64-1", s)
		}
		n = n*10 + d
	}
	return n, nil
}

// String is for people and logs: node/life, the node quoted where needed.
func (s Stream) String() string { return EncodeNode(s.Node) + "/" + s.Life.String() }
