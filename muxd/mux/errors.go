package mux

import (
	"errors"

	"datastream/subjects/control"
)

// Sentinels of Nodes.Mux: messages for people, which the bus completes with
// the node.
var (
	// ErrForeign says that this process is the mux of another node only.
	ErrForeign = errors.New("this mux serves another node")
	// ErrYielded says that the node has a mux of its own, which was heard
	// within the last Yield.
	ErrYielded = errors.New("the node has a mux of its own")
	// ErrStreams says that as many streams as allowed are open or closing.
	ErrStreams = errors.New("no room for another stream")
)

// What Paced answers when sending the same run again cannot help (P4.3), in
// the Error of a control.Answer.
const (
	// ErrorClosed: the life is over, or its positions are used up.
	ErrorClosed = control.ErrorClosed
	// ErrorForgotten: the run begins below the number that is expected, and
	// is none that is remembered as taken.
	ErrorForgotten = "forgotten: the run begins below the number that is expected, and none is remembered that begins and ends as it does"
	// ErrorTooBig: a frame of the run passes MaxFrame.
	ErrorTooBig = "refused: a frame is bigger than the mux takes (max_frame)"
	// ErrorTooMuch: the run is larger than a bound, so that no room would do.
	ErrorTooMuch = "refused: the run is larger than the mux ever has room for; send smaller ones"
	// ErrorChannels: the stream bears as many channels as allowed.
	ErrorChannels = "refused: the stream has as many channels as the mux allows"
	// ErrorEmpty: a paced run without frames.
	ErrorEmpty = "refused: the run has no frames"
	// ErrorNumber: the producer's numbers would pass 2^64-1.
	ErrorNumber = "refused: the producer's numbers are used up; go on under another name"
)
