package service

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/spf13/pflag"
)

// DefaultURL is where NATS is looked for when nothing says otherwise.
const DefaultURL = "nats://127.0.0.1:4222"

// A Secret is a string that does not print.
type Secret string

// String hides the secret, and says whether there is one.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Set takes a flag's value.
func (s *Secret) Set(v string) error { *s = Secret(v); return nil }

// Type is the word that --help shows for the value.
func (s *Secret) Type() string { return "secret" }

// NATS says how to reach NATS and who we are there. Its zero value is
// DefaultURL without credentials. Fill it by hand, or with Flags and Resolve.
type NATS struct {
	URL         string // one or more, comma separated
	Context     string // name of a NATS context, or the absolute path of its file
	Creds       string // file of user credentials (JWT and seed)
	User        string // without a Password it is a token, as in the nats CLI
	Password    Secret
	Token       Secret
	NKey        string // file of a seed
	Cert        string // file; with Key
	Key         string // file
	CA          string // file
	InboxPrefix string
	TLSFirst    bool // from a context

	// The identity of the $SRV connection (P2.4); see ForService.
	ServiceUser     string
	ServicePassword Secret
	ServiceCreds    string

	from map[string]string
}

// A setting is one field with its names.
type setting struct {
	flag, short, env, usage string
	service                 bool // for daemons only
	secret                  bool // may come from a file named by <env>_FILE
	at                      func(*NATS) *string
}

var settings = []setting{
	{flag: "server", short: "s", env: "NATS_URL", usage: "NATS `urls`, comma separated (default " + DefaultURL + ")", at: func(n *NATS) *string { return &n.URL }},
	{flag: "context", env: "NATS_CONTEXT", usage: "NATS context `name` (default the selected one)", at: func(n *NATS) *string { return &n.Context }},
	{flag: "creds", env: "NATS_CREDS", usage: "user credentials `file`", at: func(n *NATS) *string { return &n.Creds }},
	{flag: "user", env: "NATS_USER", usage: "user `name`, or a token", at: func(n *NATS) *string { return &n.User }},
	{flag: "password", env: "NATS_PASSWORD", usage: "password; better in the variable, or the file that NATS_PASSWORD_FILE names", secret: true, at: func(n *NATS) *string { return (*string)(&n.Password) }},
	{flag: "token", env: "NATS_TOKEN", usage: "token; better in the variable, or the file that NATS_TOKEN_FILE names", secret: true, at: func(n *NATS) *string { return (*string)(&n.Token) }},
	{flag: "nkey", env: "NATS_NKEY", usage: "NKey seed `file`", at: func(n *NATS) *string { return &n.NKey }},
	{flag: "tlscert", env: "NATS_CERT", usage: "TLS certificate `file`", at: func(n *NATS) *string { return &n.Cert }},
	{flag: "tlskey", env: "NATS_KEY", usage: "TLS private key `file`", at: func(n *NATS) *string { return &n.Key }},
	{flag: "tlsca", env: "NATS_CA", usage: "TLS certificate authority `file`", at: func(n *NATS) *string { return &n.CA }},
	{flag: "inbox-prefix", env: "NATS_INBOX_PREFIX", usage: "subject `prefix` of answers, as _INBOX.alice", at: func(n *NATS) *string { return &n.InboxPrefix }},
	{flag: "service-user", env: "DS_SERVICE_USER", usage: "user `name` of the $SRV connection", service: true, at: func(n *NATS) *string { return &n.ServiceUser }},
	{flag: "service-password", env: "DS_SERVICE_PASSWORD", usage: "its password; better in the variable, or the file that DS_SERVICE_PASSWORD_FILE names", service: true, secret: true, at: func(n *NATS) *string { return (*string)(&n.ServicePassword) }},
	{flag: "service-creds", env: "DS_SERVICE_CREDS", usage: "credentials `file` of the $SRV connection", service: true, at: func(n *NATS) *string { return &n.ServiceCreds }},
}

// Flags adds the flags that every command has, named as in the nats CLI.
func (n *NATS) Flags(fs *pflag.FlagSet) { n.flags(fs, false) }

// ServiceFlags adds those that daemons have besides: the identity of their
// $SRV connection.
func (n *NATS) ServiceFlags(fs *pflag.FlagSet) { n.flags(fs, true) }

func (n *NATS) flags(fs *pflag.FlagSet, service bool) {
	for _, s := range settings {
		if s.service != service {
			continue
		}
		if s.secret {
			fs.Var((*Secret)(s.at(n)), s.flag, s.usage)
		} else {
			fs.StringVarP(s.at(n), s.flag, s.short, *s.at(n), s.usage)
		}
		fs.Lookup(s.flag).Annotations = map[string][]string{envKey: {s.env}}
	}
}

// Resolve completes what the command line said (fs may be nil) from the
// environment, then a NATS context, then the default. Credentials are taken
// from one of these places as a whole: a context's only when neither flags
// nor environment have any. It reads the files that name secrets, and wraps
// ErrUsage.
func (n *NATS) Resolve(fs *pflag.FlagSet, getenv func(string) string) error {
	n.from = map[string]string{}
	for _, s := range settings {
		if fs != nil && fs.Changed(s.flag) {
			n.from[s.flag] = "--" + s.flag
		} else if err := n.env(s, getenv); err != nil {
			return err
		}
	}
	if err := n.oneIdentity(); err != nil {
		return err
	}
	if err := n.fillFromContext(getenv); err != nil {
		return err
	}
	if n.URL == "" {
		n.URL, n.from["server"] = DefaultURL, "default"
	}
	return n.check()
}

// From says where a setting, named by its flag, came from: "--server",
// "NATS_URL", "context x", "default", or "" when it has no value.
func (n *NATS) From(flag string) string { return n.from[flag] }

func (n *NATS) env(s setting, getenv func(string) string) error {
	v, from := getenv(s.env), s.env
	if s.secret {
		if file := getenv(s.env + "_FILE"); file != "" {
			if v != "" {
				return fmt.Errorf("read the environment: %w: %s and %s_FILE are both set; unset one", ErrUsage, s.env, s.env)
			}
			b, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("read %s_FILE: %w: %w", s.env, ErrUsage, err)
			}
			v, from = strings.TrimRight(string(b), "\r\n"), s.env+"_FILE"
		}
	}
	if v != "" {
		*s.at(n), n.from[s.flag] = v, from
	}
	return nil
}

// identities are the ways to say who we are.
var identities = []string{"creds", "user", "token", "nkey"}

// oneIdentity drops the environment's identity when the command line has
// another, and refuses two from the same place.
func (n *NATS) oneIdentity() error {
	byFlag, byEnv := []string{}, []string{}
	for _, flag := range identities {
		switch from := n.from[flag]; {
		case strings.HasPrefix(from, "--"):
			byFlag = append(byFlag, flag)
		case from != "":
			byEnv = append(byEnv, flag)
		}
	}
	if len(byFlag) > 0 {
		for _, flag := range byEnv {
			n.clear(flag)
			if flag == "user" && !strings.HasPrefix(n.from["password"], "--") {
				n.clear("password")
			}
		}
		byEnv = nil
	}
	if both := append(byFlag, byEnv...); len(both) > 1 {
		return fmt.Errorf("read the NATS settings: %w: %s and %s both say who we are; give one", ErrUsage, n.from[both[0]], n.from[both[1]])
	}
	return nil
}

func (n *NATS) clear(flag string) {
	for _, s := range settings {
		if s.flag == flag {
			*s.at(n) = ""
			delete(n.from, flag)
		}
	}
}

// check refuses what nats.go would complain about with the secrets in its
// text.
func (n *NATS) check() error {
	for _, u := range strings.Split(n.URL, ",") {
		if _, err := parseURL(u); err != nil {
			return fmt.Errorf("read the NATS settings: %w: a URL from %s cannot be read (%s); it should look like %s", ErrUsage, n.from["server"], err, DefaultURL)
		}
	}
	if (n.Cert == "") != (n.Key == "") {
		return fmt.Errorf("read the NATS settings: %w: --tlscert and --tlskey go together", ErrUsage)
	}
	return nil
}

// parseURL reads a server's address, leniently as nats.go does. Its error
// does not repeat the address.
func parseURL(s string) (*url.URL, error) {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "://") {
		s = "nats://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		// A bad port or escape is quoted by its error, and may be a password.
		text, _, _ := strings.Cut(err.Error(), `"`)
		return nil, errors.New(strings.TrimSpace(text))
	}
	if u.Host == "" {
		return nil, errors.New("no host")
	}
	return u, nil
}

// Redacted is the URLs without user and password, for people.
func (n *NATS) Redacted() string {
	all := n.URL
	if all == "" {
		all = DefaultURL
	}
	var out []string
	for _, s := range strings.Split(all, ",") {
		if u, err := parseURL(s); err == nil {
			u.User = nil
			out = append(out, u.String())
		}
	}
	return strings.Join(out, ",")
}

// String is Redacted: it shows no secret, not even one inside a URL.
func (n NATS) String() string { return n.Redacted() }

// GoString hides secrets from %#v.
func (n NATS) GoString() string { return n.Redacted() }

// ForService is the same server with the identity of the $SRV connection, and
// whether there is one: without it the connection falls back to n's own.
func (n NATS) ForService() (NATS, bool) {
	if n.ServiceUser == "" && n.ServiceCreds == "" {
		return n, false
	}
	n.User, n.Password, n.Creds = n.ServiceUser, n.ServicePassword, n.ServiceCreds
	n.Token, n.NKey = "", ""
	return n, true
}

// options are nats.go's for these settings.
func (n *NATS) options() ([]nats.Option, error) {
	var o []nats.Option
	switch {
	case n.Creds != "":
		if _, err := os.Stat(n.Creds); err != nil {
			return nil, fmt.Errorf("read the credentials: %w", err)
		}
		o = append(o, nats.UserCredentials(n.Creds))
	case n.NKey != "":
		k, err := nats.NkeyOptionFromSeed(n.NKey)
		if err != nil {
			return nil, fmt.Errorf("read the NKey seed of %s: %w", n.NKey, err)
		}
		o = append(o, k)
	case n.Token != "":
		o = append(o, nats.Token(string(n.Token)))
	case n.User != "" && n.Password == "":
		o = append(o, nats.Token(n.User))
	case n.User != "":
		o = append(o, nats.UserInfo(n.User, string(n.Password)))
	}
	if n.Cert != "" {
		o = append(o, nats.ClientCert(n.Cert, n.Key))
	}
	if n.CA != "" {
		o = append(o, nats.RootCAs(n.CA))
	}
	if n.TLSFirst {
		o = append(o, nats.TLSHandshakeFirst())
	}
	if n.InboxPrefix != "" {
		o = append(o, nats.CustomInboxPrefix(n.InboxPrefix))
	}
	return o, nil
}
