package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/synadia-io/orbit.go/natscontext"
)

// contextFile is a NATS context as the nats CLI writes it.
type contextFile struct {
	natscontext.Settings
	UserSeed string `json:"user_seed"`
}

// fillFromContext takes from a NATS context what has no value yet. The
// selected context is used only when nothing names a server.
func (n *NATS) fillFromContext(getenv func(string) string) error {
	name, named := n.Context, n.Context != ""
	dir := configDir(getenv)
	if !named {
		if n.URL != "" || dir == "" {
			return nil
		}
		b, err := os.ReadFile(filepath.Join(dir, "context.txt"))
		if name = strings.TrimSpace(string(b)); err != nil || name == "" {
			return nil
		}
	}
	c, err := readContext(dir, name)
	if err != nil && !named {
		return fmt.Errorf("%w; it is the selected one: choose another with `nats context select`, or say where NATS is with --server", err)
	}
	if err != nil {
		return fmt.Errorf("%w; `nats context ls` lists them", err)
	}
	n.Context = name
	if n.from["context"] == "" {
		n.from["context"] = "selected"
	}
	return n.take(c, "context "+name, getenv)
}

// configDir is the nats CLI's folder, or "" where there is no home.
func configDir(getenv func(string) string) string {
	if d := getenv("XDG_CONFIG_HOME"); d != "" {
		return filepath.Join(d, "nats")
	}
	if h := getenv("HOME"); h != "" {
		return filepath.Join(h, ".config", "nats")
	}
	return ""
}

func readContext(dir, name string) (contextFile, error) {
	var c contextFile
	path := name
	if !filepath.IsAbs(name) {
		if strings.Contains(name, "..") || strings.ContainsAny(name, `/\`) {
			return c, fmt.Errorf("read the NATS context: %w: %q is no name of a context", ErrUsage, name)
		}
		path = filepath.Join(dir, "context", name+".json")
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("read the NATS context: %w: there is no context %q", ErrUsage, name)
	}
	if err != nil {
		return c, fmt.Errorf("read the NATS context: %w: %w", ErrUsage, err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("read the NATS context: %w: %s: %w", ErrUsage, path, err)
	}
	return c, nil
}

// take fills empty settings. What this package cannot do is refused rather
// than left out: a connection without it would be another one.
func (n *NATS) take(c contextFile, from string, getenv func(string) string) error {
	for field, v := range map[string]string{
		"socks_proxy": c.SocksProxy, "nsc": c.NSCLookup, "user_jwt": c.UserJwt, "user_seed": c.UserSeed,
		"windows_cert_store": c.WinCertStoreType,
	} {
		if v != "" {
			return fmt.Errorf("read the NATS %s: %w: %s is not supported; use url, creds, user and password, token or nkey", from, ErrUsage, field)
		}
	}
	fill := map[string]string{
		"server": c.URL, "tlscert": path(c.Cert, getenv), "tlskey": path(c.Key, getenv),
		"tlsca": path(c.CA, getenv), "inbox-prefix": c.InboxPrefix,
	}
	if n.Creds == "" && n.User == "" && n.Token == "" && n.NKey == "" {
		var err error
		if c.Password, err = reference(c.Password, from, getenv); err != nil {
			return err
		}
		if c.Token, err = reference(c.Token, from, getenv); err != nil {
			return err
		}
		fill["creds"], fill["user"], fill["password"] = path(c.Creds, getenv), c.User, c.Password
		fill["token"], fill["nkey"] = c.Token, path(c.NKey, getenv)
	}
	for _, s := range settings {
		if v := fill[s.flag]; v != "" && *s.at(n) == "" {
			*s.at(n), n.from[s.flag] = v, from
		}
	}
	n.TLSFirst = n.TLSFirst || c.TLSFirst
	return nil
}

// path expands what the nats CLI expands in the path of a file.
func path(p string, getenv func(string) string) string {
	p = os.Expand(strings.TrimPrefix(p, "file://"), getenv)
	if rest, ok := strings.CutPrefix(p, "~"); ok && getenv("HOME") != "" {
		p = getenv("HOME") + rest
	}
	return p
}

// reference reads a secret that a context only refers to: env://NAME or
// file://path. Others are as they stand.
func reference(v, from string, getenv func(string) string) (string, error) {
	scheme, rest, ok := strings.Cut(v, "://")
	switch {
	case !ok:
		return v, nil
	case scheme == "env":
		if s := getenv(rest); s != "" {
			return s, nil
		}
		return "", fmt.Errorf("read the NATS %s: %w: its secret is to come from the variable %s, which is not set", from, ErrUsage, rest)
	case scheme == "file":
		b, err := os.ReadFile(path(v, getenv))
		if err != nil {
			return "", fmt.Errorf("read the NATS %s: %w: its secret: %w", from, ErrUsage, err)
		}
		return strings.TrimRight(string(b), "\r\n"), nil
	case scheme == "op" || scheme == "nsc":
		return "", fmt.Errorf("read the NATS %s: %w: secrets from %s:// are not supported; use env:// or file://", from, ErrUsage, scheme)
	}
	return v, nil
}
