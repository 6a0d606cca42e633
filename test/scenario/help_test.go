package scenario

import (
	"regexp"
	"strings"
	"testing"

	"datastream/test/harness"
)

// TestHelpNamesEveryVariable: help is no error, goes to standard output, and
// each flag shows the variable that stands for it.
func TestHelpNamesEveryVariable(t *testing.T) {
	flag := regexp.MustCompile(`^ +(?:-\w, )?--([a-z-]+)`)
	for _, x := range []struct {
		command string
		flags   []string
	}{
		{"up", []string{"dir", "listen", "http", "node", "stream", "max-age", "prefix"}},
		{"wait", []string{"timeout", "server", "creds"}},
		{"emit", []string{"node", "prefix", "server", "context", "creds", "user", "password"}},
		{"muxd", []string{"node", "http", "server", "ring-bytes", "service-user", "log-level"}},
		{"ingestd", []string{"init", "http", "server", "max-age", "service-user", "log-level"}},
	} {
		p, code := harness.Run(t, nil, harness.DS(t), x.command, "--help")
		if code != 0 || p.Stderr() != "" {
			t.Errorf("ds %s --help: exit %d, standard error %q", x.command, code, p.Stderr())
		}
		seen := map[string]bool{}
		for _, line := range strings.Split(p.Stdout(), "\n") {
			m := flag.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			seen[m[1]] = true
			if m[1] != "help" && m[1] != "version" && !regexp.MustCompile(`\[\$(DS|NATS)_[A-Z_]+\]`).MatchString(line) {
				t.Errorf("ds %s --help names no variable for --%s: %s", x.command, m[1], line)
			}
		}
		for _, f := range x.flags {
			if !seen[f] {
				t.Errorf("ds %s --help does not show --%s:\n%s", x.command, f, p.Stdout())
			}
		}
	}
	p, code := harness.Run(t, nil, harness.DS(t), "--help")
	if code != 0 {
		t.Errorf("ds --help: exit %d", code)
	}
	for _, c := range []string{"up", "wait", "emit", "muxd", "ingestd"} {
		if !regexp.MustCompile(`(?m)^  ` + c + ` `).MatchString(p.Stdout()) {
			t.Errorf("ds --help does not show %s:\n%s", c, p.Stdout())
		}
	}
}

// TestVariablesStandForFlags: what the help promises.
func TestVariablesStandForFlags(t *testing.T) {
	up := harness.Up(t)
	p, code := harness.Command{
		Path: harness.DS(t), Args: []string{"emit", "app.log", "by variable"},
		Env: []string{"NATS_URL=" + up.URL, "DS_NODE=n7"},
	}.Run(t)
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, p.Stderr())
	}
	if all := readStore(t, up.Connect(t)); len(all) != 1 || all[0].stream.Node != "n7" {
		t.Errorf("stored: %+v, want one frame of n7", all)
	}
}

// TestUnknownCommandIsUsage: a misspelt command is named, and exits 2.
func TestUnknownCommandIsUsage(t *testing.T) {
	p, code := harness.Run(t, nil, harness.DS(t), "emitt", "app.log", "x")
	if code != 2 || !strings.Contains(p.Stderr(), `"emitt"`) || !strings.Contains(p.Stderr(), "did you mean emit?") {
		t.Errorf("exit %d\n%s", code, p.Stderr())
	}
}

// TestWait: exit 0 once everything answers, 1 when the time is up, with why.
func TestWait(t *testing.T) {
	t.Run("nothing is there", func(t *testing.T) {
		url := "nats://" + harness.FreeAddr(t)
		p, code := harness.Run(t, nil, harness.DS(t), "wait", "--server", url, "--timeout", "300ms")
		if code != 1 || !strings.Contains(p.Stderr(), url) || !strings.Contains(p.Stderr(), "refused") || !strings.Contains(p.Stderr(), "300ms") {
			t.Errorf("exit %d\n%s", code, p.Stderr())
		}
	})
	t.Run("it comes up", func(t *testing.T) {
		addr := harness.FreeAddr(t)
		wait := harness.Spawn(t, nil, harness.DS(t), "wait", "--server", "nats://"+addr, "--timeout", "1m")
		harness.Spawn(t, nil, harness.DS(t), "up", "--dir", t.TempDir(), "--listen", addr, "--http", "off")
		if code := wait.Wait(t); code != 0 || wait.Stdout() != "" {
			t.Fatalf("exit %d\n%s%s", code, wait.Stdout(), wait.Stderr())
		}
		// From then on nothing is submitted in vain.
		if p, code := emit(t, "nats://"+addr, "", "app.log", "at once"); code != 0 {
			t.Errorf("ds emit: exit %d\n%s", code, p.Stderr())
		}
	})
	t.Run("a part is missing", func(t *testing.T) {
		parts := harness.NewParts(t)
		parts.StartServer(t)
		parts.Muxd(t).Serving(t)
		harness.Until(t, "ds wait names ingestd alone", func() bool {
			p, code := harness.Run(t, nil, harness.DS(t), "wait", "--server", parts.URL, "--timeout", "500ms")
			if code != 1 || !strings.Contains(p.Stderr(), "ingestd") {
				t.Fatalf("exit %d\n%s", code, p.Stderr())
			}
			return !strings.Contains(p.Stderr(), "muxd")
		})
	})
}
