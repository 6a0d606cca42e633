package value

import "errors"

// Why a payload became the one field raw. Decode and Check return them as they
// are: a stream of undecodable payloads costs no allocation.
var (
	// ErrNoMap says that the payload is neither a JSON object nor a
	// MessagePack map.
	ErrNoMap = errors.New("the payload is no JSON or MessagePack map")
	// ErrSyntax says that the bytes break the rules of the form they began.
	ErrSyntax = errors.New("the payload is malformed")
	// ErrTruncated says that the payload ends before what it announced.
	ErrTruncated = errors.New("the payload ends too early")
	// ErrTrailing says that bytes follow the map.
	ErrTrailing = errors.New("the payload goes on after its map")
	// ErrDepth says that maps and arrays nest deeper than MaxDepth.
	ErrDepth = errors.New("the payload nests deeper than 64 levels")
	// ErrFields says that the record has more than MaxFields fields, or that
	// their paths are longer than MaxPathBytes in sum.
	ErrFields = errors.New("the payload has more than 4096 fields or 1 MiB of paths")
)

// What a query may not ask for.
var (
	// ErrPath says that a wanted path is not segments joined by dots, each a
	// letter or _ followed by letters, digits, _ and - (L2).
	ErrPath = errors.New("not a path")
	// ErrLiteral says that an operator cannot take its literal (L6.4).
	ErrLiteral = errors.New("wrong literal")
)
