package stack

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Metrics are those of all parts on one page: each has a label that says
// whose it is, for the parts of one process count the same things.
func (s *Stack) Metrics() prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		s.mu.Lock()
		var all prometheus.Gatherers
		if s.muxd != nil {
			all = append(all, labelled(s.muxd.Registry, "muxd"))
		}
		if s.ingd != nil {
			all = append(all, labelled(s.ingd, "ingestd"))
		}
		s.mu.Unlock()
		return all.Gather()
	})
}

// labelled adds the label service to every metric that has none.
func labelled(g prometheus.Gatherer, service string) prometheus.Gatherer {
	name := "service"
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := g.Gather()
		for _, f := range families {
			for _, m := range f.Metric {
				i, found := slices.BinarySearchFunc(m.Label, name, func(l *dto.LabelPair, n string) int {
					return strings.Compare(l.GetName(), n)
				})
				if !found {
					m.Label = slices.Insert(m.Label, i, &dto.LabelPair{Name: &name, Value: &service})
				}
			}
		}
		return families, err
	})
}
