package catalog

// builtin is what the project's own producers submit, and the names that any
// producer may use for its metrics and logs.
func builtin() []entry {
	text := func(channel, origin string, isError bool) entry {
		return entry{channel: channel, kind: TextKind, origin: origin, isError: isError}
	}
	typed := func(channel string, labels, counters []string) entry {
		return entry{channel: channel, kind: Typed, labels: labels, counters: counters}
	}
	times := []string{"user_s", "nice_s", "system_s", "idle_s", "iowait_s", "irq_s", "softirq_s", "steal_s"}
	return []entry{
		text("proc.{label}.stdout", "{label}", false),
		text("proc.{label}.stderr", "{label}", true),
		typed("proc.{label}.exit", nil, nil),
		typed("host.cpu", nil, times),
		typed("host.cpu.core", []string{"core"}, times),
		typed("host.memory", nil, []string{"swap_in_bytes", "swap_out_bytes"}),
		typed("host.net", []string{"device"}, []string{"rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_errors", "tx_errors", "rx_drops", "tx_drops"}),
		typed("host.disk", []string{"device", "mount"}, []string{"read_bytes", "write_bytes", "read_ops", "write_ops", "read_ms", "write_ms", "busy_ms"}),
		typed("host.*", nil, nil),
		{channel: "metric.*", kind: Sample},
		text("log.*", "", false),
	}
}
