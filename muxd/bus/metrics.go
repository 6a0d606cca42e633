package bus

import (
	"github.com/prometheus/client_golang/prometheus"

	"datastream/muxd/mux"
)

// metrics are the mux's, all under ds_mux_.
type metrics struct {
	submitted  prometheus.Counter
	published  prometheus.Counter
	repaired   prometheus.Counter
	intakeLost prometheus.Counter
	refused    *prometheus.CounterVec
	unsent     *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, b *Bus) *metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "ds_mux_" + name, Help: help})
		reg.MustRegister(c)
		return c
	}
	vec := func(name, help, label string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ds_mux_" + name, Help: help}, []string{label})
		reg.MustRegister(c)
		return c
	}
	m := &metrics{
		submitted:  counter("submitted_frames_total", "Frames that came in over NATS and got a position."),
		published:  counter("published_frames_total", "Frames handed to the connection, repairs included."),
		repaired:   counter("repaired_frames_total", "Frames published again because ingest asked for them."),
		intakeLost: counter("intake_lost_messages_total", "Submissions that the client library dropped because intake was behind."),
		refused:    vec("refused_total", "Messages that could not be taken, by reason.", "reason"),
		unsent:     vec("unsent_total", "Messages that the connection did not take, by kind; frames stay in the ring.", "kind"),
	}
	reg.MustRegister(&collector{bus: b})
	return m
}

// totals are what the streams that have ended counted.
type totals struct {
	assigned uint64
	dropped  [mux.Reasons]uint64
}

func (t *totals) add(c mux.Counts) {
	t.assigned += uint64(c.Assigned)
	for reason, v := range c.Dropped {
		t.dropped[reason] += v
	}
}

// collector reads what the muxes and the ring count themselves.
type collector struct{ bus *Bus }

var (
	descAssigned  = prometheus.NewDesc("ds_mux_positions_total", "Positions given.", nil, nil)
	descDropped   = prometheus.NewDesc("ds_mux_dropped_frames_total", "Positions spent on frames that were not kept, by reason.", []string{"reason"}, nil)
	descBuffered  = prometheus.NewDesc("ds_mux_buffered_frames", "Frames waiting to be published.", nil, nil)
	descStreams   = prometheus.NewDesc("ds_mux_streams", "Open streams.", nil, nil)
	descUnsettled = prometheus.NewDesc("ds_mux_unsettled_positions", "Positions given and not settled yet.", nil, nil)
	descRing      = prometheus.NewDesc("ds_mux_ring_bytes", "Bytes of frames kept for repair.", nil, nil)
	descEvicted   = prometheus.NewDesc("ds_mux_ring_evicted_frames_total", "Frames pushed out of the repair ring before they were settled.", nil, nil)
	descConflicts = prometheus.NewDesc("ds_mux_conflicts_total", "Beats of another mux for a node that was served here too.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descAssigned, descDropped, descBuffered, descStreams, descUnsettled, descRing, descEvicted, descConflicts} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	b := c.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	assigned, dropped := b.ended.assigned, b.ended.dropped
	var buffered, unsettled float64
	for _, s := range b.streams {
		n := s.mux.Counts()
		assigned += uint64(n.Assigned)
		buffered += float64(n.Frames)
		unsettled += float64(n.Assigned - s.below)
		for reason, v := range n.Dropped {
			dropped[reason] += v
		}
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	count(descAssigned, assigned)
	for reason, v := range dropped {
		count(descDropped, v, mux.Reason(reason).String())
	}
	gauge(descBuffered, buffered)
	gauge(descStreams, float64(len(b.streams)))
	gauge(descUnsettled, unsettled)
	gauge(descRing, float64(b.ring.Bytes()))
	count(descEvicted, b.ring.Evicted())
	count(descConflicts, b.nodes.Conflicts())
}
