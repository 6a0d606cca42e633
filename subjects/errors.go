package subjects

import "errors"

// Sentinels for errors.Is. Every parser wraps one of them with what was wrong
// and where.
var (
	// ErrName says that a node, channel or prefix is empty, too long or not
	// of the form its place asks for.
	ErrName = errors.New("bad name")
	// ErrLife says that a life is not a ULID in its canonical upper-case form.
	ErrLife = errors.New("bad life")
	// ErrPosition says that a position is not a decimal in 0 … 2^64-2.
	ErrPosition = errors.New("bad position")
	// ErrForeign says that a subject does not belong to the class that was
	// asked for: another prefix, another class, or a missing token.
	ErrForeign = errors.New("foreign subject")
	// ErrCanonical says that a subject is of the right class but not spelled
	// as this package spells it.
	ErrCanonical = errors.New("subject is not canonical")
)
