package service_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"datastream/service"
)

// TestLogLooks: JSON where there is no terminal, with the service's name and
// a time that has milliseconds; console text without colour on request.
func TestLogLooks(t *testing.T) {
	var out bytes.Buffer
	log, err := service.NewLogger(&out, "muxd", service.LogConfig{}, env(nil))
	if err != nil {
		t.Fatal(err)
	}
	log.Debug().Msg("not at this level")
	log.Warn().Str("node", "n1").Msg("hello")
	var line struct{ Level, Service, Node, Message, Time string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if line.Level != "warn" || line.Service != "muxd" || line.Node != "n1" || line.Message != "hello" {
		t.Errorf("the line is %+v", line)
	}
	if at, err := time.Parse("2006-01-02T15:04:05.000Z", line.Time); err != nil || time.Since(at) > time.Hour {
		t.Errorf("its time is %q: %v", line.Time, err)
	}
	out.Reset()
	log, err = service.NewLogger(&out, "muxd", service.LogConfig{Level: "debug", Format: "console"}, env(nil))
	if err != nil {
		t.Fatal(err)
	}
	log.Debug().Msg("hello")
	if s := out.String(); !strings.Contains(s, "hello") || strings.Contains(s, "{") || strings.Contains(s, "\x1b") {
		t.Errorf("console: %q", s)
	}
}

// TestLogRefuses: wrong settings are wrong usage and name the flag.
func TestLogRefuses(t *testing.T) {
	for flag, c := range map[string]service.LogConfig{
		"--log-level": {Level: "loud"}, "DS_LOG_LEVEL": {Level: "trace"}, "--log-format": {Format: "xml"},
	} {
		if _, err := service.NewLogger(&bytes.Buffer{}, "x", c, env(nil)); !errors.Is(err, service.ErrUsage) || !strings.Contains(err.Error(), flag) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
