package server

import (
	"fmt"

	natsd "github.com/nats-io/nats-server/v2/server"

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
	return []string{p + "frame.>", p + "beat.>", p + "settled.>", p + "repair.>", p + "store.>", p + "client.>", inboxes}
}

// services is what JetStream serves to USERS. The server puts a reply subject
// of its own in place of the asker's and carries the answer back into USERS:
// JetStream answers to any reply subject, without a permission being asked,
// and so must not see one that an outsider has chosen.
func services() map[string]natsd.ServiceRespType {
	return map[string]natsd.ServiceRespType{
		"$JS.API.>": natsd.Streamed, // a pull or a batched get has many answers
		"$JS.ACK.>": natsd.Singleton,
		"$JS.FC.>":  natsd.Singleton,
	}
}

// accounts makes the two, by name. That an account has JetStream from the
// server's start on can only be said in the text of a configuration.
func accounts(space subjects.Space) (map[string]*natsd.Account, error) {
	var text natsd.Options
	if err := text.ProcessConfigString("accounts { " + pipeAccount + " { jetstream: enabled }, " + usersAccount + " {} }"); err != nil {
		return nil, fmt.Errorf("make the accounts: %w", err)
	}
	all := map[string]*natsd.Account{}
	for _, a := range text.Accounts {
		all[a.Name] = a
	}
	pipe, users := all[pipeAccount], all[usersAccount]
	if err := share(users, pipe, fromUsers(space)); err != nil {
		return nil, err
	}
	if err := share(pipe, users, fromPipe(space)); err != nil {
		return nil, err
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

// share lets messages on the subjects cross from one account to another.
func share(from, to *natsd.Account, subjects []string) error {
	for _, s := range subjects {
		err := from.AddStreamExport(s, []*natsd.Account{to})
		if err == nil {
			err = to.AddStreamImport(from, s, "")
		}
		if err != nil {
			return fmt.Errorf("share %s with the account %s: %w", s, to.Name, err)
		}
	}
	return nil
}
