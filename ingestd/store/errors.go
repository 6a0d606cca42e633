package store

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Sentinels for errors.Is. Where it helps, the error wraps the cause too.
var (
	// ErrNoStream says that the stream is not there: nobody has made it, or
	// somebody has deleted it.
	ErrNoStream = errors.New("no such stream")
	// ErrConfig says that the stream, or the Config, cannot keep the
	// package's promises. The error names every field at fault.
	ErrConfig = errors.New("bad configuration")
	// ErrRecreated says that the stream is not the one that was opened: its
	// creation time differs, or its end has gone back. What was known of it
	// no longer holds.
	ErrRecreated = errors.New("the stream is another one")
	// ErrUnclear says that no answer came: what was to be committed may have
	// landed, may yet land, or may not.
	ErrUnclear = errors.New("unclear whether it was committed")
	// ErrFence says that the stream's last sequence is not the one known:
	// another writer has written, or a delayed write of ours has landed.
	ErrFence = errors.New("the stream has moved on")
	// ErrFull says that the server refuses to take it now: a limit of storage,
	// of batches or of their size is reached. It can be tried again later.
	ErrFull = errors.New("the store is full")
	// ErrMessage says that a message or commit is not one that the store can
	// hold. Nothing was sent.
	ErrMessage = errors.New("cannot be stored")
	// ErrResync says that a commit failed and Resync was not called since.
	// Nothing was sent.
	ErrResync = errors.New("resync first")
	// ErrIncomplete says that stored messages could not be read though the
	// stream does not show them to be expired or deleted.
	ErrIncomplete = errors.New("stored messages are missing")
)

// The server's error codes that mean something to a writer.
const (
	codeNoAccountRoom  jetstream.ErrorCode = 10002
	codeNoResources    jetstream.ErrorCode = 10023
	codeNoMemory       jetstream.ErrorCode = 10028
	codeNoStorage      jetstream.ErrorCode = 10047
	codeNoStream       jetstream.ErrorCode = 10059
	codeWrongLast      jetstream.ErrorCode = 10071
	codeStoreFailed    jetstream.ErrorCode = 10077
	codeWrongLastFixed jetstream.ErrorCode = 10164
	codeTooFast        jetstream.ErrorCode = 10167
	codeNoAtomic       jetstream.ErrorCode = 10174
	codeBatchBroken    jetstream.ErrorCode = 10176
	codeBatchTooLarge  jetstream.ErrorCode = 10199
	codeTooManyBatches jetstream.ErrorCode = 10210
)

// refusal gives an answer of the server its class.
func refusal(e *jetstream.APIError) error {
	switch e.ErrorCode {
	case codeWrongLast, codeWrongLastFixed:
		return fmt.Errorf("%w: %w", ErrFence, e)
	case codeNoStream:
		return fmt.Errorf("%w: %w", ErrNoStream, e)
	case codeNoAtomic:
		return fmt.Errorf("%w: allow_atomic is off: %w", ErrConfig, e)
	case codeBatchBroken: // some of the batch got lost on its way
		return fmt.Errorf("%w: %w", ErrUnclear, e)
	case codeNoAccountRoom, codeNoResources, codeNoMemory, codeNoStorage, codeStoreFailed,
		codeTooFast, codeBatchTooLarge, codeTooManyBatches:
		return fmt.Errorf("%w: %w", ErrFull, e)
	}
	return e
}

// batchLimit reads the server's own limit from a refusal of a batch as too
// large, which ends with it. It is 0 when the error is another.
func batchLimit(err error) int {
	e := (*jetstream.APIError)(nil)
	if !errors.As(err, &e) || e.ErrorCode != codeBatchTooLarge {
		return 0
	}
	n, _ := strconv.Atoi(e.Description[strings.LastIndexByte(e.Description, ' ')+1:])
	return max(n, 1)
}
