package service

import (
	"runtime/debug"
	"testing"
)

// TestVersion: the stamp, else a module's version, else the revision; always
// SemVer, which the micro service asks for.
func TestVersion(t *testing.T) {
	for want, c := range map[string]struct {
		stamp string
		info  *debug.BuildInfo
	}{
		"1.2.3":                  {stamp: "v1.2.3"},
		"2.0.0":                  {info: &debug.BuildInfo{Main: debug.Module{Version: "v2.0.0"}}},
		"0.0.0-dev+0123456789ab": {info: &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}}},
		"0.0.0-dev":              {},
	} {
		got := version(c.stamp, func() (*debug.BuildInfo, bool) { return c.info, c.info != nil })
		if got != want {
			t.Errorf("version is %s, want %s", got, want)
		}
	}
}
