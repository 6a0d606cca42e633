package server

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"datastream/subjects"
)

const conf = "../../deploy/nats-server.conf"

// TestConfIsTheEmbeddedServer is promise 8: the file for plain deployments
// and the embedded server have the same users, permissions and limits. That
// the same crosses between the accounts is in the tests of eachServer.
func TestConfIsTheEmbeddedServer(t *testing.T) {
	given := map[User]string{Anonymous: "anonymous"}
	for _, u := range Users() {
		if u != Anonymous {
			given[u] = "secret-of-" + string(u)
			t.Setenv("DS_"+strings.ToUpper(string(u))+"_PASSWORD", given[u])
		}
	}
	file, err := natsd.ProcessConfigFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{secrets: secrets(given)}
	code, err := s.options(Options{Dir: "/data", Space: subjects.Default(), Stream: subjects.Default().StreamName()})
	if err != nil {
		t.Fatal(err)
	}
	compareUsers(t, file.Users, code.Users)
	for name, v := range map[string][2]any{
		"no_auth_user":           {file.NoAuthUser, code.NoAuthUser},
		"server_name":            {file.ServerName, code.ServerName},
		"max_payload":            {file.MaxPayload, code.MaxPayload},
		"max_pending":            {file.MaxPending, code.MaxPending},
		"write_deadline":         {file.WriteDeadline, code.WriteDeadline},
		"no_fast_producer_stall": {file.NoFastProducerStall, code.NoFastProducerStall},
		"jetstream":              {file.JetStream, code.JetStream},
		"store_dir":              {file.StoreDir, code.StoreDir},
		"sync_interval":          {file.SyncAlways, code.SyncAlways},
		"jetstream limits":       {file.JetStreamLimits, code.JetStreamLimits},
	} {
		if v[0] != v[1] {
			t.Errorf("%s: the file says %v, the embedded server %v", name, v[0], v[1])
		}
	}
}

// TestLimitsOfTheContract is promise 6: fsync before the acknowledgement
// (P8), a stopped reader stalls no publisher (S5.6), and whatever was
// accepted can be returned (P1.4).
func TestLimitsOfTheContract(t *testing.T) {
	o, err := (&Server{}).options(Options{Dir: "/data", Space: subjects.Default(), Stream: "S"})
	if err != nil {
		t.Fatal(err)
	}
	if !o.JetStream || !o.SyncAlways {
		t.Error("an acknowledgement may come before the fsync")
	}
	if !o.NoFastProducerStall || o.WriteDeadline != 10*time.Second || o.MaxPending != 16<<20 {
		t.Errorf("slow readers: no stall %v, deadline %v, pending %d", o.NoFastProducerStall, o.WriteDeadline, o.MaxPending)
	}
	if o.MaxPayload != 8<<20 {
		t.Errorf("max payload is %d", o.MaxPayload)
	}
	if o.Host != "127.0.0.1" || o.Port != 4222 {
		t.Errorf("it listens on %s:%d unless told", o.Host, o.Port)
	}
}

func compareUsers(t *testing.T, file, code []*natsd.User) {
	t.Helper()
	type permission struct{ list, subject string }
	flat := func(users []*natsd.User) map[string]map[permission]bool {
		all := map[string]map[permission]bool{}
		for _, u := range users {
			set := map[permission]bool{{"password", u.Password}: true, {"account", u.Account.Name}: true}
			add := func(list string, subjects []string) {
				for _, s := range subjects {
					set[permission{list, s}] = true
				}
			}
			add("publish allow", u.Permissions.Publish.Allow)
			add("publish deny", u.Permissions.Publish.Deny)
			add("subscribe allow", u.Permissions.Subscribe.Allow)
			add("subscribe deny", u.Permissions.Subscribe.Deny)
			if u.Permissions.Response != nil {
				add("responses", []string{"allowed"})
			}
			all[u.Username] = set
		}
		return all
	}
	f, c := flat(file), flat(code)
	if a, b := slices.Sorted(maps.Keys(f)), slices.Sorted(maps.Keys(c)); !slices.Equal(a, b) {
		t.Fatalf("the file has users %v, the embedded server %v", a, b)
	}
	for u := range c {
		for p := range c[u] {
			if !f[u][p] {
				t.Errorf("%s: %s %s is missing in the file", u, p.list, p.subject)
			}
		}
		for p := range f[u] {
			if !c[u][p] {
				t.Errorf("%s: %s %s is in the file alone", u, p.list, p.subject)
			}
		}
	}
}

// TestConfStarts: a server takes the file as it is, but for where it listens
// and stores.
func TestConfStarts(t *testing.T) {
	for _, u := range Users() {
		t.Setenv("DS_"+strings.ToUpper(string(u))+"_PASSWORD", "pw")
	}
	file, err := natsd.ProcessConfigFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	file.StoreDir, file.Host, file.Port, file.HTTPPort = t.TempDir(), "127.0.0.1", natsd.RANDOM_PORT, natsd.RANDOM_PORT
	file.NoSigs = true
	s := &Server{}
	t.Cleanup(s.Close)
	if err := s.run(file, newBridge(zerolog.New(zerolog.NewTestWriter(t)))); err != nil {
		t.Fatal(err)
	}
}

// TestConfNeedsPasswords: a deployment that forgot one does not start with a
// user that everyone can be.
func TestConfNeedsPasswords(t *testing.T) {
	if v, ok := os.LookupEnv("DS_MUXD_PASSWORD"); ok {
		t.Setenv("DS_MUXD_PASSWORD", v) // restores it
		os.Unsetenv("DS_MUXD_PASSWORD")
	}
	if _, err := natsd.ProcessConfigFile(conf); err == nil {
		t.Error("the file loads without passwords")
	}
}
