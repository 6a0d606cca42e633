package source

import (
	"context"
	"fmt"
	"sync"
	"time"

	"datastream/producer/emit"
	"datastream/subjects"
)

// The channels of Host.
const (
	ChannelCPU    subjects.Channel = "host.cpu"
	ChannelCore   subjects.Channel = "host.cpu.core" // apart, so that no core is pooled with the whole
	ChannelMemory subjects.Channel = "host.memory"
	ChannelNet    subjects.Channel = "host.net"
	ChannelDisk   subjects.Channel = "host.disk"
	ChannelLoad   subjects.Channel = "host.load"
)

// DefaultEvery is how often Host measures.
const DefaultEvery = time.Second

// maxDevices bounds the records of one kind in one tick.
const maxDevices = 256

// A CPU is a record of ChannelCPU, and with a core of ChannelCore. The times
// are counters since boot, over all cores.
type CPU struct {
	Core     string   `json:"core,omitempty"`
	UsagePct *float64 `json:"usage_pct,omitempty"` // since the record before; absent in the first
	Cores    int      `json:"cores,omitempty"`
	User     float64  `json:"user_s"`
	Nice     float64  `json:"nice_s"`
	System   float64  `json:"system_s"`
	Idle     float64  `json:"idle_s"`
	IOWait   float64  `json:"iowait_s"`
	IRQ      float64  `json:"irq_s"`
	SoftIRQ  float64  `json:"softirq_s"`
	Steal    float64  `json:"steal_s"`
}

// A Memory is a record of ChannelMemory.
type Memory struct {
	Total     uint64  `json:"total_bytes"`
	Available uint64  `json:"available_bytes"`
	Used      uint64  `json:"used_bytes"`
	Free      uint64  `json:"free_bytes"`
	Cached    uint64  `json:"cached_bytes"`
	Buffers   uint64  `json:"buffers_bytes"`
	UsagePct  float64 `json:"usage_pct"`
	SwapTotal uint64  `json:"swap_total_bytes"`
	SwapUsed  uint64  `json:"swap_used_bytes"`
	SwapFree  uint64  `json:"swap_free_bytes"`
	SwapIn    uint64  `json:"swap_in_bytes"`  // a counter
	SwapOut   uint64  `json:"swap_out_bytes"` // a counter
}

// A Net is a record of ChannelNet, one for each interface; all but the device
// are counters.
type Net struct {
	Device    string `json:"device"`
	RxBytes   uint64 `json:"rx_bytes"`
	TxBytes   uint64 `json:"tx_bytes"`
	RxPackets uint64 `json:"rx_packets"`
	TxPackets uint64 `json:"tx_packets"`
	RxErrors  uint64 `json:"rx_errors"`
	TxErrors  uint64 `json:"tx_errors"`
	RxDrops   uint64 `json:"rx_drops"`
	TxDrops   uint64 `json:"tx_drops"`
}

// A Disk is a record of ChannelDisk, one for each device that was ever used or
// is mounted.
type Disk struct {
	Device string `json:"device"`
	*DiskIO
	*DiskSpace
}

// DiskIO is what a device has done: counters.
type DiskIO struct {
	ReadBytes  uint64 `json:"read_bytes"`
	WriteBytes uint64 `json:"write_bytes"`
	ReadOps    uint64 `json:"read_ops"`
	WriteOps   uint64 `json:"write_ops"`
	ReadTime   uint64 `json:"read_ms"`
	WriteTime  uint64 `json:"write_ms"`
	Busy       uint64 `json:"busy_ms"`
}

// DiskSpace is how full a mounted device is.
type DiskSpace struct {
	Mount    string  `json:"mount"`
	Total    uint64  `json:"total_bytes"`
	Used     uint64  `json:"used_bytes"`
	Free     uint64  `json:"free_bytes"`
	UsagePct float64 `json:"usage_pct"`
}

// A Load is a record of ChannelLoad.
type Load struct {
	Load1  float64 `json:"load1"`
	Load5  float64 `json:"load5"`
	Load15 float64 `json:"load15"`
}

// A HostConfig is what a Host may be told. The zero value will do.
type HostConfig struct {
	Every    time.Duration // between two records of a kind; default DefaultEvery
	Cores    bool          // a record for each core, too
	OnNotice func(string)  // told, once a kind, what cannot be measured; must not block
}

// HostStats counts what a Host has done.
type HostStats struct {
	Ticks   uint64
	Records uint64
	Failed  uint64 // measurements of a kind that failed
	Bounded uint64 // records left out: a kind with more than 256 devices
}

// A Host submits what its machine does, one record a tick and device.
type Host struct {
	to    emit.Handle
	cfg   HostConfig
	probe probe
	told  map[subjects.Channel]bool

	mu    sync.Mutex
	stats HostStats
}

// NewHost makes a Host. It wraps ErrConfig.
func NewHost(to emit.Handle, c HostConfig) (*Host, error) {
	if c.Every == 0 {
		c.Every = DefaultEvery
	}
	if c.OnNotice == nil {
		c.OnNotice = func(string) {}
	}
	if to == nil || c.Every < 0 {
		return nil, fmt.Errorf("make host source: %w: no handle, or a tick of %s", ErrConfig, c.Every)
	}
	return &Host{to: to, cfg: c, probe: machine(), told: map[subjects.Channel]bool{}}, nil
}

// Run measures at once and then each tick, until ctx ends; it returns nil. A
// tick that comes while the one before still measures is left out.
func (h *Host) Run(ctx context.Context) error {
	t := time.NewTicker(h.cfg.Every)
	defer t.Stop()
	for ctx.Err() == nil {
		h.tick(ctx)
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// Stats is what has been done so far.
func (h *Host) Stats() HostStats {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stats
}

func (h *Host) tick(ctx context.Context) {
	h.count(func(s *HostStats) { s.Ticks++ })
	measure(ctx, h, ChannelCPU, h.probe.cpu)
	if h.cfg.Cores {
		measure(ctx, h, ChannelCore, h.probe.cores)
	}
	measure(ctx, h, ChannelMemory, h.probe.memory)
	measure(ctx, h, ChannelNet, h.probe.net)
	measure(ctx, h, ChannelDisk, h.probe.disk)
	measure(ctx, h, ChannelLoad, h.probe.load)
}

// measure submits the records of one kind. What cannot be measured here leaves
// the other kinds alone; what could be measured before an error still counts.
func measure[R any](ctx context.Context, h *Host, c subjects.Channel, read func(context.Context) ([]R, error)) {
	all, err := read(ctx)
	if extra := len(all) - maxDevices; extra > 0 {
		all = all[:maxDevices]
		h.count(func(s *HostStats) { s.Bounded += uint64(extra) })
	}
	for _, r := range all {
		if e := emit.Emit(h.to, c, r); e != nil {
			err = e
			continue
		}
		h.count(func(s *HostStats) { s.Records++ })
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	h.count(func(s *HostStats) { s.Failed++ })
	if !h.told[c] {
		h.told[c] = true
		h.cfg.OnNotice(fmt.Sprintf("measure %s: %v", c, err))
	}
}

func (h *Host) count(f func(*HostStats)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.stats)
}
