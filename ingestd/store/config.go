package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"datastream/subjects"
)

// Defaults of Config.
const (
	DefaultMaxAge        = 7 * 24 * time.Hour
	DefaultMaxBytes      = 10_000_000_000
	DefaultBatchMessages = 1000
	DefaultBatchBytes    = 4 << 20
	DefaultTimeout       = 10 * time.Second
)

// EachMessages is the most messages that CommitEach takes (P7.3).
const EachMessages = 8

// Config says which store is meant and how it is written. The zero Config is
// the default one: an existing stream DATASTREAM under the prefix ds.
type Config struct {
	// Space is the subject space; the zero Space stands for subjects.Default.
	Space subjects.Space
	// Stream is the JetStream stream's name; empty is Space.StreamName().
	Stream string

	// Init makes the stream if it is not there, which is a person's decision:
	// a store that is gone is to be noticed (P8.4). The next three fields are
	// used only then; an existing stream keeps what its operator has set.
	Init bool
	// Replicas is 1 by default.
	Replicas int
	// MaxAge is how long frames are kept: 7 days by default.
	MaxAge time.Duration
	// MaxBytes bounds the stream. A client cannot see the server's disk, so 0
	// means: 10 GB, or half of what the account may still use where it is
	// limited, halved again as long as the server refuses to reserve so much.
	// Who can see the disk passes half of what is free there.
	MaxBytes int64

	// BatchMessages is the most messages in a commit, 1000 by default. If the
	// server's own limit is lower, that one holds.
	BatchMessages int
	// BatchBytes is the most bytes of bodies in a commit that Take allows, but
	// for a single message: 4 MiB by default.
	BatchBytes int
	// Timeout is how long a commit, or one question to the server, may take:
	// 10 s by default.
	Timeout time.Duration
}

// withDefaults fills in what is not said.
func (c Config) withDefaults() Config {
	if c.Space == (subjects.Space{}) {
		c.Space = subjects.Default()
	}
	if c.Stream == "" {
		c.Stream = c.Space.StreamName()
	}
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.MaxAge == 0 {
		c.MaxAge = DefaultMaxAge
	}
	if c.BatchMessages == 0 {
		c.BatchMessages = DefaultBatchMessages
	}
	if c.BatchBytes == 0 {
		c.BatchBytes = DefaultBatchBytes
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	return c
}

// check refuses what cannot be meant.
func (c Config) check() error {
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"Replicas", int64(c.Replicas)}, {"MaxAge", int64(c.MaxAge)}, {"MaxBytes", c.MaxBytes},
		{"BatchMessages", int64(c.BatchMessages)}, {"BatchBytes", int64(c.BatchBytes)}, {"Timeout", int64(c.Timeout)},
	} {
		if f.n < 0 {
			return fmt.Errorf("%w: %s is %d; it must not be negative", ErrConfig, f.name, f.n)
		}
	}
	return nil
}

// stream is the stream that Init makes.
func (c Config) stream(maxBytes int64) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:               c.Stream,
		Description:        "committed frames, one run a message",
		Subjects:           []string{c.Space.AllStored()},
		Retention:          jetstream.LimitsPolicy,
		Discard:            jetstream.DiscardOld,
		Storage:            jetstream.FileStorage,
		Replicas:           c.Replicas,
		MaxAge:             c.MaxAge,
		MaxBytes:           maxBytes,
		AllowAtomicPublish: true,
		AllowDirect:        true,
		DenyDelete:         true,
		DenyPurge:          true,
	}
}

// drift compares a stream with what the promises need, and names every field
// that breaks one. Limits of age and size, replicas and compression are the
// operator's to choose.
func (c Config) drift(have jetstream.StreamConfig) error {
	var bad []string
	need := func(ok bool, field string, is any, want string) {
		if !ok {
			bad = append(bad, fmt.Sprintf("%s is %v, must be %s", field, is, want))
		}
	}
	all := c.Space.AllStored()
	need(len(have.Subjects) == 1 && have.Subjects[0] == all, "subjects", have.Subjects, "["+all+"]")
	need(have.Retention == jetstream.LimitsPolicy, "retention", have.Retention, "limits")
	need(have.Discard == jetstream.DiscardOld, "discard", have.Discard, "old")
	need(have.Storage == jetstream.FileStorage, "storage", have.Storage, "file")
	need(have.AllowAtomicPublish, "allow_atomic", have.AllowAtomicPublish, "true")
	need(have.DenyDelete, "deny_delete", have.DenyDelete, "true")
	need(have.DenyPurge, "deny_purge", have.DenyPurge, "true")
	need(have.PersistMode == jetstream.DefaultPersistMode, "persist_mode", have.PersistMode, "default")
	need(!have.NoAck, "no_ack", have.NoAck, "false")
	need(!have.Sealed, "sealed", have.Sealed, "false")
	need(!have.AllowRollup, "allow_rollup_hdrs", have.AllowRollup, "false")
	need(!have.AllowMsgTTL, "allow_msg_ttl", have.AllowMsgTTL, "false")
	need(!have.AllowMsgCounter, "allow_msg_counter", have.AllowMsgCounter, "false")
	need(!have.AllowMsgSchedules, "allow_msg_schedules", have.AllowMsgSchedules, "false")
	need(have.MaxMsgsPerSubject <= 0, "max_msgs_per_subject", have.MaxMsgsPerSubject, "unlimited")
	need(have.MaxMsgSize <= 0, "max_msg_size", have.MaxMsgSize, "unlimited")
	need(have.Mirror == nil, "mirror", "set", "absent")
	need(len(have.Sources) == 0, "sources", "set", "absent")
	need(have.SubjectTransform == nil, "subject_transform", "set", "absent")
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%w: stream %s: %s; change it with `nats stream edit`, or give the store a name of its own",
		ErrConfig, c.Stream, strings.Join(bad, "; "))
}
