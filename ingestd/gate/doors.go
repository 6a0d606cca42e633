package gate

import "datastream/subjects"

// The names that JetStream gives its questions.
const (
	api     = "$JS.API."
	create  = "CONSUMER.CREATE."
	durable = "CONSUMER.DURABLE.CREATE."
)

// A Door is one way in: the subject on which users ask, and the one on which
// that arrives at the gate. Both have the same wildcards.
type Door struct{ Outside, Inside string }

// Doors lists the ways in for a stream of a subject space. Whoever sets up the
// server's accounts moves what users publish on the one subject to the other.
func Doors(space subjects.Space, stream string) []Door {
	var all []Door
	for _, tail := range []string{
		create + stream,        // ephemeral consumers of older clients
		create + stream + ".>", // <name>, <name>.<filter>
		durable + stream + ".*",
	} {
		all = append(all, Door{Outside: api + tail, Inside: inside(space) + tail})
	}
	return all
}

// inside is what a subject at the gate has where JetStream's has $JS.API.
func inside(space subjects.Space) string { return space.Prefix() + ".api." }
