package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"datastream/subjects"
)

// Open finds the stream, or with Config.Init makes it, checks that it keeps
// the package's promises, and learns its last sequence, its last instant and
// the server's limit on batches. It wraps ErrNoStream, ErrConfig or ErrFull;
// any other error is of the connection or the server.
//
// A Writer stands at the end of the stream as it is now. What others write
// after that is told by Resync, once a commit has failed with ErrFence.
func Open(ctx context.Context, nc *nats.Conn, cfg Config) (*Writer, error) {
	w, err := open(ctx, nc, cfg.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return w, nil
}

func open(ctx context.Context, nc *nats.Conn, cfg Config) (*Writer, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	a := access{nc: nc, js: js, cfg: cfg, known: newKnown()}
	info, err := a.find(ctx)
	if errors.Is(err, ErrNoStream) && cfg.Init {
		info, err = a.create(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := cfg.drift(info.Config); err != nil {
		return nil, err
	}
	limit, err := a.probe(ctx)
	if err != nil {
		return nil, err
	}
	instant, err := a.lastInstant(ctx, info)
	if err != nil {
		return nil, err
	}
	return newWriter(a, info, limit, instant)
}

// access is what reading and writing have in common: a connection and which
// stream is meant.
type access struct {
	nc    *nats.Conn
	js    jetstream.JetStream
	cfg   Config
	known *known
}

// find asks the stream's leader how the stream is.
func (a access) find(ctx context.Context, opts ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	s, err := a.js.Stream(ctx, a.cfg.Stream)
	info := (*jetstream.StreamInfo)(nil)
	if err == nil {
		if info = s.CachedInfo(); len(opts) > 0 {
			info, err = s.Info(ctx, opts...)
		}
	}
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, fmt.Errorf("%w: %s; if it never was, make it with --init (`ds up` does so in an empty folder); "+
			"if it was, find out what became of it first", ErrNoStream, a.cfg.Stream)
	case err != nil:
		return nil, fmt.Errorf("ask for stream %s: %w", a.cfg.Stream, err)
	}
	return info, nil
}

// create makes the stream. If somebody else makes it meanwhile, theirs is it.
func (a access) create(ctx context.Context) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	size, asked := a.cfg.MaxBytes, a.cfg.MaxBytes > 0
	if !asked {
		acc, err := a.js.AccountInfo(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask for the account's limits: %w", err)
		}
		size = defaultMaxBytes(acc)
	}
	for {
		s, err := a.js.CreateStream(ctx, a.cfg.stream(size))
		if err == nil {
			return s.CachedInfo(), nil
		}
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return a.find(ctx)
		}
		if e := (*jetstream.APIError)(nil); errors.As(err, &e) {
			err = refusal(e)
		}
		if asked || size < 2*leastMaxBytes || !errors.Is(err, ErrFull) {
			return nil, fmt.Errorf("make stream %s of %d bytes: %w", a.cfg.Stream, size, err)
		}
		size /= 2
	}
}

// leastMaxBytes is the smallest size that create tries of its own accord.
const leastMaxBytes = 16 << 20

// defaultMaxBytes is the size when none is configured, by what the account
// may still use.
func defaultMaxBytes(acc *jetstream.AccountInfo) int64 {
	size := int64(DefaultMaxBytes)
	if limit := acc.Limits.MaxStore; limit > 0 {
		size = max(leastMaxBytes, min(size, (limit-int64(acc.Store))/2))
	}
	return size
}

// probe asks how many messages a batch may have: a message that claims to be
// the last allowed one of a batch nobody began is refused, for its size or
// for the lack of a beginning, and never stored.
func (a access) probe(ctx context.Context) (int, error) {
	n := a.cfg.BatchMessages
	if n == 1 {
		return 1, nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	m := nats.NewMsg(a.cfg.Space.Store(subjects.Stream{Node: "probe"}, "probe"))
	m.Header[jetstream.ExpectedStreamHeader] = []string{a.cfg.Stream}
	m.Header[headerBatchID] = []string{nuid.Next()}
	m.Header[headerBatchSeq] = []string{strconv.Itoa(n)}
	reply, err := a.nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return 0, fmt.Errorf("ask for the limit of batches: %w", err)
	}
	_, err = readAck(reply)
	switch limit := batchLimit(err); {
	case limit > 0:
		return min(n, limit), nil
	case err == nil:
		return 0, fmt.Errorf("%w: the server knows no atomic batches; it must be 2.12 or newer", ErrConfig)
	case errors.Is(err, ErrUnclear): // no beginning: the size was fine
		return n, nil
	}
	return 0, fmt.Errorf("ask for the limit of batches: %w", err)
}

// lastInstant is the instant of the last valid message, 0 if there is none.
func (a access) lastInstant(ctx context.Context, info *jetstream.StreamInfo) (int64, error) {
	first, last := info.State.FirstSeq, info.State.LastSeq
	for window := uint64(64); ; window *= 16 { // wider only past foreign messages
		from := first
		if last > window {
			from = max(first, last-window+1)
		}
		instant := int64(0)
		_, err := a.read(ctx, info, from, true, func(s Stored) error {
			instant = max(instant, s.Commit.Instant)
			return nil
		})
		if err != nil || instant > 0 || from == first {
			return instant, err
		}
	}
}
