package server

import (
	natsd "github.com/nats-io/nats-server/v2/server"

	"datastream/subjects"
)

// A User is one of the identities the permissions know.
type User string

// The users. Everyone without credentials is Anonymous (no_auth_user).
const (
	Muxd      User = "muxd"
	Ingestd   User = "ingestd"
	Queryd    User = "queryd"
	Service   User = "service"  // the $SRV connection of every daemon, and queryd's answers
	Operator  User = "operator" // people who administer
	Anonymous User = "anonymous"
)

// Users lists them all.
func Users() []User { return []User{Muxd, Ingestd, Queryd, Service, Operator, Anonymous} }

// Buckets names the key-value buckets that ingestd may write: the first for
// its ledger's checkpoint (P7.5), the second for the writers' lease (P7.4).
// They derive from the stream's name (P2). A name that derives from a prefix
// is in upper case, so that no space's stream has the name of another's lease.
func Buckets(stream string) []string { return []string{stream, stream + "_lease"} }

const (
	inboxes = "_INBOX.>"         // answers to requests of users
	own     = InboxPrefix + ".>" // answers to requests of daemons
	system  = "$SYS.>"
)

// Permissions is what a user may publish and subscribe to, for a subject
// space and the JetStream stream that stores it, within the user's account. An
// unknown user may nothing.
func Permissions(u User, space subjects.Space, stream string) *natsd.Permissions {
	p := space.Prefix() + "."
	switch u {
	case Muxd:
		return grant(p+"frame.>", p+"beat.>", "$SRV.INFO.muxd", "$SRV.PING.muxd", inboxes, own)
	case Ingestd:
		g := []string{p + "settled.>", p + "repair.>", p + "store.>", inboxes}
		return grant(append(append(g, reads("*")...), writes(stream)...)...)
	case Queryd:
		return grant(append(reads("*"), p+"client.>", inboxes)...)
	case Service:
		g := grant(p+"client.>", inboxes)
		g.Subscribe = &natsd.SubjectPermission{Allow: []string{"$SRV.>", p + "query", p + "query.>", p + "flow.>", inboxes, own}}
		return g
	case Operator:
		g := grant(">")
		g.Publish.Deny = []string{system}
		return g
	case Anonymous:
		return grant(append(reads(stream), p+"submit.>", p+"query", p+"query.>", p+"flow.>", "$SRV.>")...)
	}
	return &natsd.Permissions{
		Publish:   &natsd.SubjectPermission{Deny: []string{">"}},
		Subscribe: &natsd.SubjectPermission{Deny: []string{">"}},
	}
}

// grant allows publishing to the subjects, and subscribing to all but $SYS.
func grant(publish ...string) *natsd.Permissions {
	return &natsd.Permissions{
		Publish:   &natsd.SubjectPermission{Allow: publish},
		Subscribe: &natsd.SubjectPermission{Deny: []string{system}},
	}
}

// reads is what reading a stream, bucket or consumer takes: ordered and
// durable consumers with their acknowledgements and flow control, direct and
// plain gets, lists. Nothing here changes a stream or a message. Readers may
// delete consumers, their own cannot be told apart: those of the daemons are
// made anew by their client.
//
// Consumers can be made on the given stream, or on any ("*"). Everybody's
// requests for one go through the gate (ingestd/gate), which serves the one
// stream.
func reads(stream string) []string {
	all := append(asks(), pulls()...)
	return append(all,
		"$JS.API.CONSUMER.CREATE."+stream,
		"$JS.API.CONSUMER.CREATE."+stream+".>",
		"$JS.API.CONSUMER.DURABLE.CREATE."+stream+".*",
	)
}

// asks are the questions with one answer, and what has none.
func asks() []string {
	return []string{
		"$JS.API.INFO",
		"$JS.API.STREAM.INFO.*",
		"$JS.API.STREAM.LIST",
		"$JS.API.STREAM.NAMES",
		"$JS.API.STREAM.MSG.GET.*",
		"$JS.API.CONSUMER.INFO.*.*",
		"$JS.API.CONSUMER.LIST.*",
		"$JS.API.CONSUMER.NAMES.*",
		"$JS.API.CONSUMER.DELETE.*.*",
		"$JS.ACK.>",
		"$JS.FC.>",
	}
}

// pulls are the questions with many answers: a pull, and a batched direct get.
func pulls() []string {
	return []string{
		"$JS.API.DIRECT.GET.*",
		"$JS.API.DIRECT.GET.*.>",
		"$JS.API.CONSUMER.MSG.NEXT.*.*",
	}
}

// writes is what keeping the stream and its buckets takes: making and
// configuring them, and putting keys. Deleting or purging them is the
// operator's.
func writes(stream string) []string {
	var w []string
	for _, b := range Buckets(stream) {
		w = append(w, "$KV."+b+".>", "$JS.API.STREAM.CREATE.KV_"+b, "$JS.API.STREAM.UPDATE.KV_"+b)
	}
	return append(w, "$JS.API.STREAM.CREATE."+stream, "$JS.API.STREAM.UPDATE."+stream)
}
