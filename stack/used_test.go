package stack_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"datastream/stack"
	"datastream/stack/server"
	"datastream/test/harness"
)

// TestAUsedFolderIsNotFresh is promise 2 (P8.4): it stays used when nothing of
// JetStream is left in it.
func TestAUsedFolderIsNotFresh(t *testing.T) {
	for name, lose := range map[string]func(jetstream string) error{
		"missing": os.RemoveAll,
		"empty": func(dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.Mkdir(dir, 0o750)
		},
	} {
		o := options(t.TempDir())
		s := start(t, o)
		ready(t, s)
		s.Close()
		if err := lose(filepath.Join(o.Dir, "jetstream")); err != nil {
			t.Fatal(err)
		}
		for range 2 { // and at every start after
			s = start(t, o)
			if err := s.Ready(t.Context()); !errors.Is(err, stack.ErrStoreGone) {
				t.Errorf("jetstream/ is %s: %v", name, err)
			}
			s.Close()
		}
	}
}

// TestAFailedStartLeavesTheFolderFresh: a start that ended before it made the
// store, in whatever state, does not keep the next one from making it.
func TestAFailedStartLeavesTheFolderFresh(t *testing.T) {
	o := options(t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	taken := o
	taken.Listen = l.Addr().String()
	if _, err := stack.Start(t.Context(), taken); !errors.Is(err, server.ErrPortInUse) {
		t.Fatalf("a port in use: %v", err)
	}
	l.Close()
	without := o // the server has run, and JetStream has made its folders
	without.WithoutIngest = true
	s := start(t, without)
	ready(t, s)
	s.Close()
	if _, err := os.Stat(filepath.Join(o.Dir, "jetstream")); err != nil {
		t.Fatalf("this test needs JetStream's folder: %v", err)
	}
	s = start(t, o)
	ready(t, s)
	committed(t, connect(t, s, server.Anonymous), "x")
}

// TestRepliesReachNobodyInThePipe: the daemons themselves, asked by a user
// with a reply subject of the pipe, answer there neither as a service nor as a
// mux (P2.4).
func TestRepliesReachNobodyInThePipe(t *testing.T) {
	s := start(t, options(t.TempDir()))
	ready(t, s)
	user, operator := connect(t, s, server.Anonymous), connect(t, s, server.Operator)
	life := committed(t, user, "0").Life.String()
	for _, victim := range []string{
		"ds.store.n2." + life + ".x", "ds.frame.n2." + life + ".x", "ds.beat.n2." + life, "ds.settled.n2." + life,
		"ds.repair.n2." + life, "ds.client.x", server.InboxPrefix + ".x", "$KV.DATASTREAM.head",
	} {
		watch, err := operator.SubscribeSync(victim)
		if err != nil {
			t.Fatal(err)
		}
		if err := operator.FlushTimeout(harness.Patience); err != nil {
			t.Fatal(err)
		}
		if err := user.PublishRequest("ds.submit.n1.a", victim, []byte("x")); err != nil {
			t.Fatal(err)
		}
		committed(t, user, "x") // the mux takes submissions in turn
		if victim != "ds.client.x" {
			for _, daemon := range []string{"muxd", "ingestd"} {
				if err := user.PublishRequest("$SRV.PING."+daemon, victim, nil); err != nil {
					t.Fatal(err)
				}
				if _, err := user.Request("$SRV.PING."+daemon, nil, harness.Patience); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := operator.FlushTimeout(harness.Patience); err != nil {
			t.Fatal(err)
		}
		if n, _, _ := watch.Pending(); n != 0 {
			t.Errorf("%d messages arrived on %s", n, victim)
		}
	}
}
