package service

import "errors"

// Sentinels for errors.Is.
var (
	// ErrUsage says that the command line or the environment is wrong. Main
	// exits with 2.
	ErrUsage = errors.New("wrong usage")
	// ErrAnswered says that the command line asked for help or the version,
	// which Parse has printed. Main exits with 0.
	ErrAnswered = errors.New("answered")
	// ErrInterrupted is what a command returns that a signal cut short; a
	// daemon that was asked to stop returns nil instead. Main exits with 130
	// or 143, without a message.
	ErrInterrupted = errors.New("interrupted")
	// ErrUnreachable says that no NATS server answers.
	ErrUnreachable = errors.New("cannot reach NATS")
	// ErrRefused says that the NATS server does not take the credentials.
	ErrRefused = errors.New("NATS refuses the credentials")
	// ErrClosed says that the client library closed a connection for good.
	ErrClosed = errors.New("connection to NATS closed for good")
	// ErrPortInUse says that another process listens on the address.
	ErrPortInUse = errors.New("port in use")
	// ErrLate says that actors did not stop in time.
	ErrLate = errors.New("did not stop in time")
)
