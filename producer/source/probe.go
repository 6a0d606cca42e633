package source

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
)

// A probe measures each kind; tests script one.
type probe struct {
	cpu    func(context.Context) ([]CPU, error)
	cores  func(context.Context) ([]CPU, error)
	memory func(context.Context) ([]Memory, error)
	net    func(context.Context) ([]Net, error)
	disk   func(context.Context) ([]Disk, error)
	load   func(context.Context) ([]Load, error)
}

// machine is the probe of this machine.
func machine() probe {
	whole, cores := busy{}, busy{}
	return probe{
		cpu:    func(ctx context.Context) ([]CPU, error) { return readCPU(ctx, whole, false) },
		cores:  func(ctx context.Context) ([]CPU, error) { return readCPU(ctx, cores, true) },
		memory: readMemory,
		net:    readNet,
		disk:   readDisk,
		load:   readLoad,
	}
}

// busy remembers the times of each core, to tell usage from one reading to the
// next.
type busy map[string]cpu.TimesStat

// usage is the share of time not idle since the core was last asked about, or
// nil for want of an earlier reading or of any time between.
func (b busy) usage(now cpu.TimesStat) *float64 {
	was, ok := b[now.CPU]
	b[now.CPU] = now
	total := allTime(now) - allTime(was)
	if !ok || total <= 0 {
		return nil
	}
	idle := now.Idle + now.Iowait - was.Idle - was.Iowait
	pct := min(max(100*(1-idle/total), 0), 100) // iowait may fall
	return &pct
}

// allTime is the sum of what a core did; guest time is inside user and nice.
func allTime(t cpu.TimesStat) float64 {
	return t.User + t.Nice + t.System + t.Idle + t.Iowait + t.Irq + t.Softirq + t.Steal
}

func readCPU(ctx context.Context, b busy, perCore bool) ([]CPU, error) {
	times, err := cpu.TimesWithContext(ctx, perCore)
	if err != nil {
		return nil, err
	}
	cores := 0
	if !perCore {
		cores, err = cpu.CountsWithContext(ctx, true)
	}
	all := make([]CPU, 0, len(times))
	for _, t := range times {
		r := CPU{
			UsagePct: b.usage(t), Cores: cores,
			User: t.User, Nice: t.Nice, System: t.System, Idle: t.Idle,
			IOWait: t.Iowait, IRQ: t.Irq, SoftIRQ: t.Softirq, Steal: t.Steal,
		}
		if perCore {
			r.Core = strings.TrimPrefix(t.CPU, "cpu")
		}
		all = append(all, r)
	}
	return all, err
}

func readMemory(ctx context.Context) ([]Memory, error) {
	v, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return nil, err
	}
	r := Memory{
		Total: v.Total, Available: v.Available, Used: v.Used, Free: v.Free,
		Cached: v.Cached, Buffers: v.Buffers, UsagePct: v.UsedPercent,
	}
	s, err := mem.SwapMemoryWithContext(ctx)
	if err == nil {
		r.SwapTotal, r.SwapUsed, r.SwapFree, r.SwapIn, r.SwapOut = s.Total, s.Used, s.Free, s.Sin, s.Sout
	}
	return []Memory{r}, err
}

func readNet(ctx context.Context) ([]Net, error) {
	counters, err := net.IOCountersWithContext(ctx, true)
	all := make([]Net, 0, len(counters))
	for _, n := range counters {
		all = append(all, Net{
			Device: n.Name, RxBytes: n.BytesRecv, TxBytes: n.BytesSent,
			RxPackets: n.PacketsRecv, TxPackets: n.PacketsSent,
			RxErrors: n.Errin, TxErrors: n.Errout, RxDrops: n.Dropin, TxDrops: n.Dropout,
		})
	}
	slices.SortFunc(all, func(a, b Net) int { return cmp.Compare(a.Device, b.Device) })
	return all, err
}

// readDisk puts what a device did beside how full it is. Only devices of their
// own are asked how full they are: a network's file system can hang.
func readDisk(ctx context.Context) ([]Disk, error) {
	found := map[string]*Disk{}
	at := func(device string) *Disk {
		name := deviceName(device)
		if found[name] == nil {
			found[name] = &Disk{Device: name}
		}
		return found[name]
	}
	counters, errIO := disk.IOCountersWithContext(ctx)
	for name, c := range counters {
		if c.ReadCount+c.WriteCount == 0 {
			continue // the many loop and ram devices that nobody uses
		}
		at(name).DiskIO = &DiskIO{
			ReadBytes: c.ReadBytes, WriteBytes: c.WriteBytes, ReadOps: c.ReadCount, WriteOps: c.WriteCount,
			ReadTime: c.ReadTime, WriteTime: c.WriteTime, Busy: c.IoTime,
		}
	}
	errSpace := readSpace(ctx, at)
	all := make([]Disk, 0, len(found))
	for _, d := range found {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b Disk) int { return cmp.Compare(a.Device, b.Device) })
	return all, errors.Join(errIO, errSpace)
}

// readSpace fills in how full each device is; of several mounts of one, the
// first.
func readSpace(ctx context.Context, at func(string) *Disk) error {
	mounts, err := disk.PartitionsWithContext(ctx, false)
	var failed []error
	seen := map[string]bool{}
	for _, m := range mounts {
		// A bind mount shows a file system a second time, or a single file.
		name := deviceName(m.Device)
		if slices.Contains(m.Opts, "bind") || seen[name] {
			continue
		}
		seen[name] = true
		u, err := disk.UsageWithContext(ctx, m.Mountpoint)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		at(m.Device).DiskSpace = &DiskSpace{Mount: m.Mountpoint, Total: u.Total, Used: u.Used, Free: u.Free, UsagePct: u.UsedPercent}
	}
	return errors.Join(append(failed, err)...)
}

// deviceName is a device without its folder, as its counters are called.
func deviceName(device string) string { return path.Base(device) }

func readLoad(ctx context.Context) ([]Load, error) {
	l, err := load.AvgWithContext(ctx)
	if err != nil {
		return nil, err
	}
	return []Load{{Load1: l.Load1, Load5: l.Load5, Load15: l.Load15}}, nil
}
