package server

import "errors"

// Sentinels for errors.Is. Start wraps one of them with what was wrong, where
// and what to do.
var (
	// ErrListen says that the address to listen on is not host:port.
	ErrListen = errors.New("bad address")
	// ErrPortInUse says that another process listens on the address.
	ErrPortInUse = errors.New("port in use")
	// ErrFolder says that the data folder cannot be made or written to.
	ErrFolder = errors.New("folder not writable")
	// ErrInUse says that another process, or another Server of this one,
	// holds the data folder.
	ErrInUse = errors.New("folder in use")
	// ErrJetStream says that the server runs but JetStream does not.
	ErrJetStream = errors.New("JetStream did not start")
	// ErrStart says that the server gave up for another reason, or was not
	// ready in time.
	ErrStart = errors.New("server did not start")
)
