package server

import (
	"fmt"

	natsd "github.com/nats-io/nats-server/v2/server"

	"datastream/ingestd/gate"
	"datastream/subjects"
)

// The accounts. An account is a subject space of its own; only what one
// exports and the other imports crosses.
const (
	pipeAccount  = "PIPE"  // the daemons, the operator, and JetStream
	usersAccount = "USERS" // everybody else
)

// InboxPrefix is what the daemons' own inboxes begin with. It is not exported,
// so that nobody outside of PIPE hears or forges an answer to a daemon.
const InboxPrefix = "_PIPE"

// accountOf says where a user lives.
func accountOf(u User) string {
	if u == Anonymous {
		return usersAccount
	}
	return pipeAccount
}

// fromUsers is what crosses from USERS into PIPE, as it is: a submission or a
// question keeps its reply subject. Whoever answers chooses where answers go.
func fromUsers(space subjects.Space) []string {
	p := space.Prefix() + "."
	return []string{p + "submit.>", p + "query", p + "query.>", p + "flow.>", "$SRV.>"}
}

// fromPipe is what crosses from PIPE into USERS, as it is: what everybody may
// hear, and the answers.
func fromPipe(space subjects.Space) []string {
	p := space.Prefix() + "."
	return []string{p + "frame.>", p + "beat.>", p + "settled.>", p + "store.>", p + "client.>", inboxes}
}

// services is what JetStream serves to USERS: reading, but for the making of
// consumers. The server puts a reply subject of its own in place of the
// asker's and carries the answer back into USERS: JetStream answers to any
// reply subject, without a permission being asked, and so must not see one that
// an outsider has chosen.
func services() map[string]natsd.ServiceRespType {
	all := map[string]natsd.ServiceRespType{}
	for _, subject := range asks() {
		all[subject] = natsd.Singleton
	}
	for _, subject := range pulls() {
		all[subject] = natsd.Streamed
	}
	return all
}

// accounts makes the two, by name.
func accounts(space subjects.Space, stream string) (map[string]*natsd.Account, error) {
	all, err := empty()
	if err != nil {
		return nil, err
	}
	pipe, users := all[pipeAccount], all[usersAccount]
	for _, subject := range fromUsers(space) {
		if err := share(users, pipe, subject, ""); err != nil {
			return nil, err
		}
	}
	for _, d := range gate.Doors(space, stream) {
		if err := share(users, pipe, d.Outside, d.Inside); err != nil {
			return nil, err
		}
	}
	for _, subject := range fromPipe(space) {
		if err := share(pipe, users, subject, ""); err != nil {
			return nil, err
		}
	}
	for subject, answers := range services() {
		err := pipe.AddServiceExportWithResponse(subject, answers, []*natsd.Account{users})
		if err == nil {
			err = users.AddServiceImport(pipe, subject, subject)
		}
		if err != nil {
			return nil, fmt.Errorf("share the service %s: %w", subject, err)
		}
	}
	return all, nil
}

// empty makes the two accounts. That one has JetStream from the server's start
// on can only be said in the text of a configuration.
func empty() (map[string]*natsd.Account, error) {
	var text natsd.Options
	if err := text.ProcessConfigString("accounts { " + pipeAccount + " { jetstream: enabled }, " + usersAccount + " {} }"); err != nil {
		return nil, fmt.Errorf("make the accounts: %w", err)
	}
	all := map[string]*natsd.Account{}
	for _, a := range text.Accounts {
		all[a.Name] = a
	}
	return all, nil
}

// share lets messages on the subject cross from one account to another, where
// they arrive on the subject as, if there is one.
func share(from, to *natsd.Account, subject, as string) error {
	err := from.AddStreamExport(subject, []*natsd.Account{to})
	if err == nil && as == "" {
		err = to.AddStreamImport(from, subject, "")
	} else if err == nil {
		err = to.AddMappedStreamImport(from, subject, as)
	}
	if err != nil {
		return fmt.Errorf("share %s with the account %s: %w", subject, to.Name, err)
	}
	return nil
}
