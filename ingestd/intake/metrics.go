package intake

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"datastream/ingestd/ledger"
)

// metrics are ingest's, all under ds_ingest_.
type metrics struct {
	arrived    prometheus.Counter
	duplicates prometheus.Counter
	committed  prometheus.Counter
	repairs    prometheus.Counter
	forced     prometheus.Counter
	unsent     prometheus.Counter
	forgotten  prometheus.Counter
	refused    *prometheus.CounterVec
	dropped    *prometheus.CounterVec
	failures   *prometheus.CounterVec
	commits    *prometheus.CounterVec
	messages   prometheus.Histogram
	latency    prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer, in *Intake) *metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "ds_ingest_" + name, Help: help})
		reg.MustRegister(c)
		return c
	}
	vec := func(name, help, label string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ds_ingest_" + name, Help: help}, []string{label})
		reg.MustRegister(c)
		return c
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "ds_ingest_" + name, Help: help, Buckets: buckets})
		reg.MustRegister(h)
		return h
	}
	m := &metrics{
		arrived:    counter("arrived_frames_total", "Frames that arrived, duplicates included."),
		duplicates: counter("duplicate_frames_total", "Frames dropped because their position had arrived before."),
		committed:  counter("committed_frames_total", "Frames committed, each once."),
		repairs:    counter("repair_requests_total", "Repair requests sent."),
		forced:     counter("windows_forced_total", "Windows that went on over a hole because all together held too much."),
		unsent:     counter("unsent_total", "Announcements that the connection did not take."),
		forgotten:  counter("forgotten_lives_total", "Lives that were over, or of which no beat was heard, and were forgotten to make room for others."),
		refused:    vec("refused_total", "Messages that could not be taken, by reason; frames of an unknown or forgotten life by frame.", "reason"),
		dropped:    vec("dropped_frames_total", "Frames dropped by a bound; repair may still bring them.", "bound"),
		failures:   vec("commit_failures_total", "Commits that failed or whose result was unclear, by reason.", "reason"),
		commits:    vec("commits_total", "Commits, by form.", "form"),
		messages:   histogram("commit_messages", "Messages in a commit.", prometheus.ExponentialBuckets(1, 4, 6)),
		latency:    histogram("commit_seconds", "Time from sending a commit to its acknowledgement, fsync included.", prometheus.ExponentialBuckets(0.00025, 2, 16)),
	}
	reg.MustRegister(&collector{in: in})
	return m
}

func (m *metrics) observe(j *job, took time.Duration) {
	m.latency.Observe(took.Seconds())
	if j.each {
		m.commits.WithLabelValues("single").Add(float64(len(j.msgs)))
		m.messages.Observe(1)
		return
	}
	m.commits.WithLabelValues("batch").Inc()
	m.messages.Observe(float64(len(j.msgs)))
}

// collector reads what the loop holds and the ledger counts.
type collector struct{ in *Intake }

var (
	descStreams = prometheus.NewDesc("ds_ingest_streams", "Lives in the ledger.", nil, nil)
	descHoles   = prometheus.NewDesc("ds_ingest_holes", "Open holes: positions known to be missing and not given up, in ranges.", nil, nil)
	descLost    = prometheus.NewDesc("ds_ingest_given_up_positions", "Positions given up in the lives of the ledger.", nil, nil)
	descHealed  = prometheus.NewDesc("ds_ingest_healed_positions", "Positions committed after they were given up.", nil, nil)
	descQueue   = prometheus.NewDesc("ds_ingest_queue_bytes", "Bytes of frames waiting for their commit.", nil, nil)
	descWindow  = prometheus.NewDesc("ds_ingest_window_bytes", "Bytes of frames waiting behind holes.", nil, nil)
	descInbox   = prometheus.NewDesc("ds_ingest_inbox_dropped_messages_total", "Messages dropped because the loop was behind; repair may still bring them.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descStreams, descHoles, descLost, descHealed, descQueue, descWindow, descInbox} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	in := c.in
	in.mu.Lock()
	defer in.mu.Unlock()
	gauge := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	gauge(descStreams, float64(in.ledger.Streams()))
	gauge(descHoles, float64(in.ledger.Holes()))
	var lost, healed uint64
	in.ledger.Each(func(a *ledger.Account) {
		n := a.Counts()
		lost += n.GivenUp
		healed += n.Healed
	})
	gauge(descLost, float64(lost))
	gauge(descHealed, float64(healed))
	gauge(descQueue, float64(in.queue.bytes))
	gauge(descWindow, float64(in.waiting))
	ch <- prometheus.MustNewConstMetric(descInbox, prometheus.CounterValue, float64(in.inbox.dropped.Load()))
}
