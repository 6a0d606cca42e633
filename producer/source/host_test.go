package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"

	"datastream/subjects"
)

// fields decodes the records of a channel.
func fields(t *testing.T, p *pipe, c subjects.Channel) (all []map[string]any) {
	t.Helper()
	for _, s := range p.frames(c) {
		var m map[string]any
		if err := json.Unmarshal([]byte(s), &m); err != nil {
			t.Fatalf("%s: %v in %s", c, err, s)
		}
		all = append(all, m)
	}
	return all
}

// TestHostMeasuresThisMachine is promise 1 on whatever machine runs it.
func TestHostMeasuresThisMachine(t *testing.T) {
	p := newPipe()
	h, err := NewHost(shelf{p}, HostConfig{Every: 20 * time.Millisecond, Cores: true, OnNotice: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	eventually(t, "five ticks", func() bool { return h.Stats().Ticks >= 5 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	cpus := fields(t, p, ChannelCPU)
	if _, known := cpus[0]["usage_pct"]; known || cpus[0]["cores"].(float64) < 1 {
		t.Errorf("the first record cannot know a usage, and knows the cores: %v", cpus[0])
	}
	for _, m := range cpus[1:] {
		if pct, known := m["usage_pct"]; known && (pct.(float64) < 0 || pct.(float64) > 100) {
			t.Errorf("usage of %v %%", pct)
		}
	}
	mem := fields(t, p, ChannelMemory)[0]
	if mem["total_bytes"].(float64) < 1<<20 || mem["available_bytes"].(float64) > mem["total_bytes"].(float64) {
		t.Errorf("memory: %v", mem)
	}
	for _, want := range []struct {
		channel subjects.Channel
		field   string
	}{{ChannelCore, "core"}, {ChannelNet, "device"}, {ChannelNet, "rx_bytes"}, {ChannelLoad, "load1"}, {ChannelCPU, "user_s"}} {
		for _, m := range fields(t, p, want.channel) {
			if _, ok := m[want.field]; !ok {
				t.Errorf("%s without %s: %v", want.channel, want.field, m)
			}
		}
	}
	if n := len(fields(t, p, ChannelLoad)); n < 4 {
		t.Errorf("%d records of load in 5 ticks", n)
	}
}

// scripted is a probe that gives one record of each kind.
func scripted() probe {
	return probe{
		cpu:    func(context.Context) ([]CPU, error) { return []CPU{{Cores: 2}}, nil },
		cores:  func(context.Context) ([]CPU, error) { return []CPU{{Core: "0"}, {Core: "1"}}, nil },
		memory: func(context.Context) ([]Memory, error) { return []Memory{{}}, nil },
		net:    func(context.Context) ([]Net, error) { return []Net{{Device: "lo"}}, nil },
		disk:   func(context.Context) ([]Disk, error) { return []Disk{{Device: "sda"}}, nil },
		load:   func(context.Context) ([]Load, error) { return []Load{{}}, nil },
	}
}

// TestHostTicks is promise 1: at once, and then each tick.
func TestHostTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipe()
		h, _ := NewHost(shelf{p}, HostConfig{})
		h.probe = scripted()
		ctx, cancel := context.WithTimeout(context.Background(), 2500*time.Millisecond)
		defer cancel()
		go func() { _ = h.Run(ctx) }()
		synctest.Wait()
		if n := len(p.frames(ChannelCPU)); n != 1 {
			t.Errorf("%d records at once", n)
		}
		<-ctx.Done()
		synctest.Wait()
		if n := len(p.frames(ChannelCPU)); n != 3 {
			t.Errorf("%d records in 2.5 s", n)
		}
		if n := len(p.frames(ChannelCore)); n != 0 {
			t.Errorf("%d records of cores that nobody wanted", n)
		}
		if s := h.Stats(); s != (HostStats{Ticks: 3, Records: 15}) {
			t.Errorf("%+v", s)
		}
	})
}

// TestHostGoesOnWithoutAKind is promise 2.
func TestHostGoesOnWithoutAKind(t *testing.T) {
	p, told := newPipe(), []string{}
	h, _ := NewHost(shelf{p}, HostConfig{OnNotice: func(s string) { told = append(told, s) }})
	h.probe = scripted()
	h.probe.disk = func(context.Context) ([]Disk, error) { return []Disk{{Device: "sda"}}, errors.New("sdb is on fire") }
	h.probe.net = func(context.Context) ([]Net, error) { return make([]Net, maxDevices+7), nil }
	for range 3 {
		h.tick(context.Background())
	}
	if len(told) != 1 || !strings.Contains(told[0], "host.disk") || !strings.Contains(told[0], "on fire") {
		t.Errorf("told %q", told)
	}
	if s := h.Stats(); s.Failed != 3 || s.Bounded != 21 || s.Records != uint64(3*(4+maxDevices)) {
		t.Errorf("%+v", s)
	}
	if n := len(p.frames(ChannelDisk)); n != 3 {
		t.Errorf("%d records of the disk that can be measured", n)
	}
}

// TestDiskRecordIsFlat: what a device did and how full it is stand side by side,
// and what does not apply is absent.
func TestDiskRecordIsFlat(t *testing.T) {
	b, _ := json.Marshal(Disk{Device: "sda", DiskIO: &DiskIO{ReadBytes: 7}})
	if s := string(b); !strings.HasPrefix(s, `{"device":"sda","read_bytes":7,`) || strings.Contains(s, "used_bytes") {
		t.Error(s)
	}
}

// TestUsageIsADifference: usage comes from two readings of the same core.
func TestUsageIsADifference(t *testing.T) {
	b := busy{}
	read := func(core string, user, idle float64) string {
		pct := b.usage(cpu.TimesStat{CPU: core, User: user, Idle: idle})
		if pct == nil {
			return "none"
		}
		return fmt.Sprintf("%.0f", *pct)
	}
	got := []string{read("0", 10, 10), read("1", 0, 0), read("0", 11, 13), read("0", 11, 13), read("1", 5, 0), read("0", 12, 12)}
	if s := strings.Join(got, " "); s != "none none 25 none 100 none" {
		t.Error(s)
	}
}

func TestHostIsChecked(t *testing.T) {
	if _, err := NewHost(nil, HostConfig{}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	if _, err := NewHost(shelf{}, HostConfig{Every: -1}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}
