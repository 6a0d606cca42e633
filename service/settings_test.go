package service_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"datastream/service"
)

// env makes a getenv of a map.
func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

// TestFlagsBeforeEnvironment is promise 1 for ordinary flags.
func TestFlagsBeforeEnvironment(t *testing.T) {
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	http := fs.String("http", "default", "")
	grace := fs.Duration("stop-grace", time.Second, "")
	nodes := fs.StringSlice("node", nil, "")
	given := fs.Int("given", 1, "")
	if err := fs.Parse([]string{"--given=2"}); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"DS_HTTP": "from env", "DS_STOP_GRACE": "3s", "DS_GIVEN": "9", "DS_NODE": "a,b"}
	if err := service.Env(fs, env(vars), "DS_"); err != nil {
		t.Fatal(err)
	}
	if *http != "from env" || *grace != 3*time.Second || *given != 2 || strings.Join(*nodes, "+") != "a+b" {
		t.Errorf("got %q %v %d %v", *http, *grace, *given, *nodes)
	}
	fs.Lookup("stop-grace").Changed = false
	err := service.Env(fs, env(map[string]string{"DS_STOP_GRACE": "soon"}), "DS_")
	if !errors.Is(err, service.ErrUsage) {
		t.Fatalf("a bad value: %v", err)
	}
	for _, says := range []string{"DS_STOP_GRACE", `"soon"`, "--stop-grace"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %s", err, says)
		}
	}
}

// TestParse: what the command line of a daemon answers by itself, refuses,
// and shows of the environment.
func TestParse(t *testing.T) {
	parse := func(args ...string) (string, string, error) {
		var out strings.Builder
		var n service.NATS
		fs := pflag.NewFlagSet("muxd", pflag.ContinueOnError)
		http := fs.String("http", "off", "where pages are")
		n.Flags(fs)
		n.ServiceFlags(fs)
		err := service.Parse(fs, args, env(map[string]string{"DS_HTTP": ":80", "DS_SERVER": "not read"}), &out, "muxd numbers frames.")
		return out.String(), *http + n.URL, err
	}
	if _, got, err := parse("--server", "nats://x"); err != nil || got != ":80nats://x" {
		t.Errorf("got %s, %v", got, err)
	}
	if _, got, err := parse(); err != nil || got != ":80" {
		t.Errorf("got %s, %v: --server takes NATS_URL alone", got, err)
	}
	help, _, err := parse("--help")
	if !errors.Is(err, service.ErrAnswered) {
		t.Errorf("--help: %v", err)
	}
	for _, says := range []string{"muxd numbers frames.", "where pages are [$DS_HTTP]", "-s, --server", "[$NATS_URL]", "[$NATS_PASSWORD]", "[$DS_SERVICE_USER]"} {
		if !strings.Contains(help, says) {
			t.Errorf("--help does not say %q:\n%s", says, help)
		}
	}
	if out, _, err := parse("--version"); !errors.Is(err, service.ErrAnswered) || out != "muxd "+service.Version+"\n" {
		t.Errorf("--version: %q, %v", out, err)
	}
	for _, args := range [][]string{{"--nonsense"}, {"argument"}, {"--http"}} {
		if _, _, err := parse(args...); !errors.Is(err, service.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if help, _, _ := parse("--password", "hunter2", "--help"); strings.Contains(help, "hunter2") {
		t.Error("--help shows the password")
	}
}
