package subjects

import (
	"fmt"
	"strings"
)

// ParseSubmit reads a submission's subject, leniently: what a client may have
// typed is decoded, never re-published as it came (P2.2). It wraps ErrForeign
// or ErrName.
func (s Space) ParseSubmit(subject string) (Node, Channel, error) {
	rest, err := s.cut(subject, classSubmit)
	if err != nil {
		return "", "", err
	}
	token, channel, ok := strings.Cut(rest, ".")
	if !ok {
		return "", "", fmt.Errorf("%w: %.80q has no channel after the node", ErrForeign, subject)
	}
	n, err := ParseNode(decodeNode(token))
	if err != nil {
		return "", "", err
	}
	c, err := ParseChannel(decode(channel))
	if err != nil {
		return "", "", err
	}
	return n, c, nil
}

// decodeNode decodes a node's token: a lone % there is no empty segment, for
// a node has none, but a % that somebody typed.
func decodeNode(token string) string {
	if token == "%" {
		return token
	}
	return decode(token)
}

// ParseFrame reads a frame's subject. It wraps ErrForeign, ErrLife, ErrName
// or ErrCanonical.
func (s Space) ParseFrame(subject string) (Stream, Channel, error) {
	return s.parseChannel(subject, classFrame)
}

// ParseStore reads a stored message's subject. It wraps ErrForeign, ErrLife,
// ErrName or ErrCanonical.
func (s Space) ParseStore(subject string) (Stream, Channel, error) {
	return s.parseChannel(subject, classStore)
}

// ParseBeat reads a beat's subject, with the errors of ParseFrame.
func (s Space) ParseBeat(subject string) (Stream, error) { return s.parseStream(subject, classBeat) }

// ParseRepair reads a repair request's subject, with the errors of ParseFrame.
func (s Space) ParseRepair(subject string) (Stream, error) {
	return s.parseStream(subject, classRepair)
}

// ParseSettled reads the subject of an announcement of ingest, with the
// errors of ParseFrame.
func (s Space) ParseSettled(subject string) (Stream, error) {
	return s.parseStream(subject, classSettled)
}

func (s Space) cut(subject string, c class) (string, error) {
	rest, ok := strings.CutPrefix(subject, s.prefix)
	if ok {
		rest, ok = strings.CutPrefix(rest, string(c))
	}
	if !ok {
		return "", fmt.Errorf("%w: %.80q is not under %s%s>", ErrForeign, subject, s.prefix, c)
	}
	return rest, nil
}

func (s Space) parseStream(subject string, c class) (Stream, error) {
	st, rest, err := s.parseHead(subject, c)
	if err != nil {
		return Stream{}, err
	}
	if rest != "" || strings.HasSuffix(subject, ".") {
		return Stream{}, fmt.Errorf("%w: %.80q has tokens after the life", ErrForeign, subject)
	}
	return st, nil
}

func (s Space) parseChannel(subject string, c class) (Stream, Channel, error) {
	st, rest, err := s.parseHead(subject, c)
	if err != nil {
		return Stream{}, "", err
	}
	if rest == "" {
		return Stream{}, "", fmt.Errorf("%w: %.80q has no channel", ErrForeign, subject)
	}
	ch, err := ParseChannel(decode(rest))
	if err != nil {
		return Stream{}, "", err
	}
	if EncodeChannel(ch) != rest {
		return Stream{}, "", fmt.Errorf("%w: the channel of %.80q is spelled %.80q", ErrCanonical, subject, EncodeChannel(ch))
	}
	return st, ch, nil
}

// parseHead reads node and life and returns what follows the dot after them.
func (s Space) parseHead(subject string, c class) (Stream, string, error) {
	tail, err := s.cut(subject, c)
	if err != nil {
		return Stream{}, "", err
	}
	token, tail, _ := strings.Cut(tail, ".")
	life, rest, _ := strings.Cut(tail, ".")
	n, err := ParseNode(decodeNode(token))
	if err != nil {
		return Stream{}, "", err
	}
	if EncodeNode(n) != token {
		return Stream{}, "", fmt.Errorf("%w: the node of %.80q is spelled %q", ErrCanonical, subject, EncodeNode(n))
	}
	l, err := ParseLife(life)
	if err != nil {
		return Stream{}, "", err
	}
	return Stream{Node: n, Life: l}, rest, nil
}
