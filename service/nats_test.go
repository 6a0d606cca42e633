package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"datastream/service"
)

// home makes a folder with NATS contexts, the selected one named (or none).
func home(t *testing.T, selected string, contexts map[string]map[string]any) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "nats", "context"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, "nats", name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range contexts {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		write("context/"+name+".json", b)
	}
	if selected != "" {
		write("context.txt", []byte(selected+"\n"))
	}
	return dir
}

func resolve(args []string, vars map[string]string) (service.NATS, error) {
	var n service.NATS
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	n.Flags(fs)
	n.ServiceFlags(fs)
	if err := fs.Parse(args); err != nil {
		return n, err
	}
	return n, n.Resolve(fs, env(vars))
}

// TestPrecedence is promise 1: for each setting, flag > environment > context
// > default.
func TestPrecedence(t *testing.T) {
	dir := home(t, "", map[string]map[string]any{"c": {
		"url": "nats://context", "creds": "context", "user": "context", "password": "context", "token": "context",
		"nkey": "context", "cert": "context", "key": "context", "ca": "context", "inbox_prefix": "context",
	}})
	for _, c := range []struct {
		flag, variable, zero string
		get                  func(service.NATS) string
	}{
		{"server", "NATS_URL", service.DefaultURL, func(n service.NATS) string { return n.URL }},
		{"creds", "NATS_CREDS", "", func(n service.NATS) string { return n.Creds }},
		{"user", "NATS_USER", "", func(n service.NATS) string { return n.User }},
		{"password", "NATS_PASSWORD", "", func(n service.NATS) string { return string(n.Password) }},
		{"token", "NATS_TOKEN", "", func(n service.NATS) string { return string(n.Token) }},
		{"nkey", "NATS_NKEY", "", func(n service.NATS) string { return n.NKey }},
		{"tlscert", "NATS_CERT", "", func(n service.NATS) string { return n.Cert }},
		{"tlskey", "NATS_KEY", "", func(n service.NATS) string { return n.Key }},
		{"tlsca", "NATS_CA", "", func(n service.NATS) string { return n.CA }},
		{"inbox-prefix", "NATS_INBOX_PREFIX", "", func(n service.NATS) string { return n.InboxPrefix }},
	} {
		onFlag, inEnv, inContext := "flag", "env", "context"
		if c.flag == "server" {
			onFlag, inEnv, inContext = "nats://flag", "nats://env", "nats://context"
		}
		pair := map[string]string{} // certificate and key go together
		if c.flag == "tlscert" || c.flag == "tlskey" {
			pair = map[string]string{"NATS_CERT": "env", "NATS_KEY": "env"}
		}
		for _, step := range []struct {
			args       []string
			vars       map[string]string
			want, from string
		}{
			{[]string{"--" + c.flag, onFlag, "--context", "c"}, map[string]string{c.variable: inEnv}, onFlag, "--" + c.flag},
			{[]string{"--context", "c"}, map[string]string{c.variable: inEnv}, inEnv, c.variable},
			{nil, map[string]string{"NATS_CONTEXT": "c"}, inContext, "context c"},
			{nil, nil, c.zero, map[bool]string{true: "default"}[c.zero != ""]},
		} {
			vars := map[string]string{"XDG_CONFIG_HOME": dir}
			if step.args != nil && step.args[0] == "--"+c.flag {
				for k, v := range pair {
					vars[k] = v
				}
			}
			for k, v := range step.vars {
				vars[k] = v
			}
			n, err := resolve(step.args, vars)
			if err != nil {
				t.Errorf("%v %v: %v", step.args, step.vars, err)
				continue
			}
			if c.get(n) != step.want || n.From(c.flag) != step.from {
				t.Errorf("%v %v: %s is %q from %q, want %q from %q", step.args, step.vars, c.flag, c.get(n), n.From(c.flag), step.want, step.from)
			}
		}
	}
}

// TestOneIdentity: credentials come from one place as a whole.
func TestOneIdentity(t *testing.T) {
	dir := home(t, "", map[string]map[string]any{"c": {"url": "nats://context", "user": "cu", "password": "cp"}})
	for name, c := range map[string]struct {
		args []string
		vars map[string]string
		want string // user/password/creds/token
	}{
		"context whole":               {[]string{"--context=c"}, nil, "cu/cp//"},
		"flag drops context":          {[]string{"--context=c", "--creds=f"}, nil, "//f/"},
		"environment drops context":   {[]string{"--context=c"}, map[string]string{"NATS_TOKEN": "t"}, "///t"},
		"flag drops environment":      {[]string{"--creds=f"}, map[string]string{"NATS_USER": "eu", "NATS_PASSWORD": "ep"}, "//f/"},
		"user and password may part":  {[]string{"--user=fu"}, map[string]string{"NATS_PASSWORD": "ep"}, "fu/ep//"},
		"password for context's user": {[]string{"--context=c"}, map[string]string{"NATS_PASSWORD": "ep"}, "cu/ep//"},
	} {
		vars := map[string]string{"XDG_CONFIG_HOME": dir}
		for k, v := range c.vars {
			vars[k] = v
		}
		n, err := resolve(c.args, vars)
		got := fmt.Sprintf("%s/%s/%s/%s", n.User, string(n.Password), n.Creds, string(n.Token))
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
	}
	if _, err := resolve([]string{"--creds=f", "--user=u"}, nil); !errors.Is(err, service.ErrUsage) {
		t.Errorf("two identities: %v", err)
	}
}

// TestSelectedContext is the end of promise 1: it is used, but not once a
// server is named.
func TestSelectedContext(t *testing.T) {
	dir := home(t, "c", map[string]map[string]any{"c": {"url": "nats://context", "user": "u", "password": "p"}})
	n, err := resolve(nil, map[string]string{"XDG_CONFIG_HOME": dir})
	if err != nil || n.URL != "nats://context" || n.User != "u" || n.Context != "c" {
		t.Errorf("%v with user %q of context %q, %v", n, n.User, n.Context, err)
	}
	n, err = resolve(nil, map[string]string{"XDG_CONFIG_HOME": dir, "NATS_URL": "nats://other"})
	if err != nil || n.URL != "nats://other" || n.User != "" || n.Password != "" {
		t.Errorf("the secrets of a context go to another server: %v, user %q, %v", n, n.User, err)
	}
	n, err = resolve([]string{"--server=nats://other", "--context=c"}, map[string]string{"XDG_CONFIG_HOME": dir})
	if err != nil || n.URL != "nats://other" || n.User != "u" {
		t.Errorf("a context that is named: %v, user %q, %v", n, n.User, err)
	}
	if n, err := resolve(nil, map[string]string{"HOME": t.TempDir()}); err != nil || n.URL != service.DefaultURL {
		t.Errorf("without contexts: %v, %v", n, err)
	}
	gone := home(t, "gone", nil)
	if _, err := resolve(nil, map[string]string{"XDG_CONFIG_HOME": gone}); !errors.Is(err, service.ErrUsage) || !strings.Contains(err.Error(), "nats context select") {
		t.Errorf("a selected context without a file: %v", err)
	}
	if _, err := resolve([]string{"--server=nats://x"}, map[string]string{"XDG_CONFIG_HOME": gone}); err != nil {
		t.Errorf("a server is named: %v", err)
	}
}

// TestContextFiles: paths and references are expanded; what is not supported
// is refused.
func TestContextFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := home(t, "", map[string]map[string]any{
		"paths": {"url": "nats://h", "creds": "~/a.creds", "ca": "$CERTS/ca.pem", "tls_first": true, "unknown": 1},
		"env":   {"url": "nats://h", "user": "u", "password": "env://PW"},
		"file":  {"url": "nats://h", "token": "file://" + secret},
		"op":    {"url": "nats://h", "user": "u", "password": "op://vault/x"},
		"proxy": {"url": "nats://h", "socks_proxy": "socks5://x"},
		"seed":  {"url": "nats://h", "user_seed": "SU"},
	})
	if err := os.WriteFile(filepath.Join(dir, "nats/context/broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"XDG_CONFIG_HOME": dir, "HOME": "/home/me", "CERTS": "/certs", "PW": "from env"}
	for name, check := range map[string]func(service.NATS) bool{
		"paths": func(n service.NATS) bool {
			return n.Creds == "/home/me/a.creds" && n.CA == "/certs/ca.pem" && n.TLSFirst
		},
		"env":  func(n service.NATS) bool { return n.Password == "from env" },
		"file": func(n service.NATS) bool { return n.Token == "from file" },
		filepath.Join(dir, "nats/context/env.json"): func(n service.NATS) bool { return n.User == "u" },
	} {
		if n, err := resolve([]string{"--context", name}, vars); err != nil || !check(n) {
			t.Errorf("context %s: %v, %v", name, n, err)
		}
	}
	for name, says := range map[string]string{"op": "op://", "proxy": "socks_proxy", "seed": "user_seed", "broken": "broken.json", "none": `"none"`, "../x": "no name"} {
		if _, err := resolve([]string{"--context", name}, vars); !errors.Is(err, service.ErrUsage) || !strings.Contains(err.Error(), says) {
			t.Errorf("context %s: %v, want it to say %s", name, err, says)
		}
	}
	delete(vars, "PW")
	if _, err := resolve([]string{"--context", "env"}, vars); !errors.Is(err, service.ErrUsage) {
		t.Errorf("a reference to nothing: %v", err)
	}
}

// TestSecretsFromFiles: NATS_PASSWORD_FILE and its like.
func TestSecretsFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(file, []byte("hunter2\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := resolve(nil, map[string]string{"NATS_USER": "u", "NATS_PASSWORD_FILE": file, "DS_SERVICE_USER": "service", "DS_SERVICE_PASSWORD_FILE": file})
	if err != nil || n.Password != "hunter2" || n.From("password") != "NATS_PASSWORD_FILE" {
		t.Errorf("from a file: %q from %s, %v", string(n.Password), n.From("password"), err)
	}
	srv, ok := n.ForService()
	if !ok || srv.User != "service" || srv.Password != "hunter2" || srv.URL != n.URL {
		t.Errorf("the $SRV identity: %v %v, user %q", ok, srv, srv.User)
	}
	if n, err := resolve(nil, map[string]string{"NATS_TOKEN_FILE": file}); err != nil || n.Token != "hunter2" {
		t.Errorf("a token: %v", err)
	}
	for _, vars := range []map[string]string{
		{"NATS_PASSWORD": "x", "NATS_PASSWORD_FILE": file},
		{"NATS_TOKEN_FILE": file + ".absent"},
	} {
		if _, err := resolve(nil, vars); !errors.Is(err, service.ErrUsage) || !strings.Contains(err.Error(), "_FILE") {
			t.Errorf("%v: %v", vars, err)
		}
	}
}

// TestSecretsDoNotPrint is promise 2.
func TestSecretsDoNotPrint(t *testing.T) {
	const pw = "hunter2"
	n := service.NATS{URL: "nats://u:" + pw + "@h:4222", Password: pw, Token: pw, ServicePassword: pw}
	text := fmt.Sprintf("%v %+v %#v %s %q", n, n, n, n.Password, n.Redacted())
	b, err := json.Marshal(n.Password)
	if err != nil {
		t.Fatal(err)
	}
	if all := text + string(b); strings.Contains(all, pw) || !strings.Contains(all, "nats://h:4222") {
		t.Errorf("printed %s", all)
	}
	for _, url := range []string{"nats://u:" + pw + "@h:port", "nats://u:" + pw + "%zz@h", "nats://u:" + pw + "@", "nats://h,nats://" + pw + "\x7f@h"} {
		_, err := resolve([]string{"--server", url}, nil)
		if !errors.Is(err, service.ErrUsage) || strings.Contains(err.Error(), pw) || !strings.Contains(err.Error(), "--server") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := resolve([]string{"--tlscert=x"}, nil); !errors.Is(err, service.ErrUsage) {
		t.Errorf("a certificate without its key: %v", err)
	}
}
