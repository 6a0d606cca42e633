package server

import (
	"strings"
	"testing"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"
)

// StartFile runs a server as deploy/nats-server.conf says, but for where it
// listens and stores.
func StartFile(t *testing.T) *Server {
	t.Helper()
	given := map[User]string{}
	for _, u := range Users() {
		given[u] = "secret-of-" + string(u)
		t.Setenv("DS_"+strings.ToUpper(string(u))+"_PASSWORD", given[u])
	}
	file, err := natsd.ProcessConfigFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	file.StoreDir, file.Host, file.Port, file.HTTPPort = t.TempDir(), "127.0.0.1", natsd.RANDOM_PORT, natsd.RANDOM_PORT
	file.NoSigs = true
	s := &Server{secrets: secrets(given)}
	t.Cleanup(s.Close)
	if err := s.run(file, newBridge(zerolog.New(zerolog.NewTestWriter(t)))); err != nil {
		t.Fatal(err)
	}
	return s
}
