// Package frame is the one wire form that frames have on every hop: a run.
//
// A run is one or more frames of one channel in ascending positions. Its body
// is the payloads in order with one newline between two of them, so that a
// plain reader sees a frame a line; where a payload ends is said by the
// header Ds-Run, never by the newline:
//
//	Ds-Pos: 7                      position of the first frame
//	Ds-Run: 5,2,3+4                lengths; +4: four positions lie between
//	                               this frame and the one before
//
//	h e l l o \n h i \n b y e      position 7 "hello", 8 "hi", 13 "bye"
//	└── 5 ──┘    └2┘    └─3─┘
//
// A single frame is its raw payload and bears no Ds-Run. A submission bears
// no Ds-Pos and no skips: the mux gives positions. A submission with an empty
// Ds-Run and an empty body is a mark: it carries no frame and only repeats
// its producer's next number in Ds-Seq.
//
// Promises:
//
//  1. Decode gives exactly the frames that were encoded, or an error that
//     wraps ErrRun; never a plausible wrong frame. (P3.2)
//  2. No input makes Decode panic or allocate more than a small multiple of
//     the message.
//  3. A run that Cutter makes has at most 1024 frames and 16 KiB of payload,
//     but for a bigger frame, which travels alone. (P3.1)
//
// The package is pure. A Run shares the body it was decoded from: whoever
// decodes owns the body and must not change it while the run lives.
package frame
