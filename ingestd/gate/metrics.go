package gate

import "github.com/prometheus/client_golang/prometheus"

// metrics are the gate's, all under ds_gate_.
type metrics struct {
	requests prometheus.Counter
	refused  *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, dropped func() float64) *metrics {
	m := &metrics{
		requests: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ds_gate_requests_total", Help: "Requests of users to make a consumer.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ds_gate_refused_total", Help: "Requests of users to make a consumer that were refused or not answered, by reason.",
		}, []string{"reason"}),
	}
	reg.MustRegister(m.requests, m.refused, prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "ds_gate_overrun_total", Help: "Requests of users to make a consumer that were dropped because they came too fast.",
	}, dropped))
	return m
}
