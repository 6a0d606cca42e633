package view

import (
	"slices"
	"strings"

	"datastream/queryd/value"
)

// frameFields are the fixed fields of the modes whose records are frames, in
// the order of a row (L4, L4.6).
var frameFields = map[Mode][]string{
	Events: {"timestamp", "node", "life", "channel", "position"},
	Logs:   {"timestamp", "node", "life", "channel", "position", "origin", "is_error", "message"},
	Frames: {"timestamp", "node", "life", "channel", "position", "kind", "size", "payload"},
	Latest: {"timestamp", "node", "life", "channel", "position", "kind", "size", "payload"},
}

// columnFields are the names of the modes whose rows are computed.
var columnFields = map[Mode][]string{Channels: channelFields, Streams: streamFields, Gaps: gapFields}

// Columns are the names of a mode's computed rows, by their numbers; nil of a
// mode whose records are frames.
func (m Mode) Columns() []string { return columnFields[m] }

// project makes rows of records: SELECT, and every field without it. It is the
// last step, so that what it leaves out still filters and sorts. (L4.5)
type project struct {
	names  []string // the fixed fields that the mode has
	cols   bool
	sel    []string // nil: all
	paths  *value.Decoder
	fields value.Fields
	row    Row
	emit   func(*Row) error
}

func newProject(s *Spec, emit func(*Row) error) *project {
	p := &project{names: frameFields[s.Mode], emit: emit}
	if c := s.Mode.Columns(); c != nil {
		p.names, p.cols = c, true
	}
	if s.Group != nil {
		p.names, p.cols = s.Group.Names, true
		return p
	}
	open := s.Mode == Events || s.Mode == Latest
	if s.Select == nil {
		if open {
			p.paths = value.All()
		}
		return p
	}
	p.sel = []string{}
	var wants []value.Want
	for _, name := range s.Select {
		if slices.Contains(p.sel, name) {
			continue
		}
		p.sel = append(p.sel, name)
		// A fixed field may have payload paths under it: SELECT payload takes
		// payload.x, too.
		if open && (name == "payload" || !slices.Contains(p.names, name)) {
			wants = append(wants, value.Want{Path: name, Tree: true})
		}
	}
	if wants != nil {
		p.paths, _ = value.Compile(wants...) // the grammar lets nothing but paths through
	}
	return p
}

func (p *project) push(r *record) error {
	p.row = Row{Fields: p.row.Fields[:0]}
	if r.gap != nil {
		p.gap(r.gap)
		return p.emit(&p.row)
	}
	if r.frame != nil {
		p.row.Sequence, p.row.Place = r.frame.Sequence, r.frame.Place
	}
	listed := p.list(r)
	if p.sel == nil {
		for i, name := range p.names {
			p.add(name, p.fixed(r, i))
		}
		for _, f := range listed {
			if !slices.Contains(p.names, f.Path) { // a fixed field keeps its name
				p.add(f.Path, f.Value)
			}
		}
		return p.emit(&p.row)
	}
	for _, name := range p.sel {
		p.selected(r, name, listed)
	}
	return p.emit(&p.row)
}

// list is the payload's fields that the row may show.
func (p *project) list(r *record) []value.Field {
	if p.paths == nil || r.frame == nil {
		return nil
	}
	class := r.channel.class
	if !class.MayHoldRecords() {
		return nil
	}
	if err := p.paths.Decode(&p.fields, r.frame.Payload); err != nil && class.Sniffed() {
		return nil
	}
	return p.fields.List()
}

// selected adds what one name of SELECT stands for: the field and all under
// it, or null where there is neither.
func (p *project) selected(r *record, name string, listed []value.Field) {
	fixed := slices.Index(p.names, name)
	found := fixed >= 0
	if found && !p.has(name) {
		p.add(name, p.fixed(r, fixed))
	}
	for _, f := range listed {
		under := strings.HasPrefix(f.Path, name) && (len(f.Path) == len(name) || f.Path[len(name)] == '.')
		if !under || fixed >= 0 && f.Path == name {
			continue
		}
		if found = true; !p.has(f.Path) {
			p.add(f.Path, f.Value)
		}
	}
	if !found && !p.has(name) {
		p.add(name, value.Value{})
	}
}

func (p *project) add(name string, v value.Value) {
	p.row.Fields = append(p.row.Fields, Field{name, v})
}

func (p *project) has(name string) bool {
	return slices.ContainsFunc(p.row.Fields, func(f Field) bool { return f.Name == name })
}

// fixed is the value of the fixed field of that number.
func (p *project) fixed(r *record, i int) value.Value {
	if p.cols {
		return r.columns[i]
	}
	return r.at(Fixed(p.names[i]))
}

// gap fills the row with a gap, whole whatever SELECT says.
func (p *project) gap(g *gap) {
	p.row.Gap = true
	var columns [8]value.Value
	for i, v := range g.columns(columns[:0]) {
		p.add(gapFields[i], v)
	}
}

func (p *project) finish() error { return nil }
func (p *project) full() bool    { return false }

// Live is true: a row is of one record.
func (p *project) Live() bool { return true }
