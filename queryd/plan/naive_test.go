package plan

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"datastream/queryd/syntax"
	"datastream/queryd/value"
	"datastream/queryd/view"
	"datastream/subjects"
)

// This file is a second evaluator: it works on the tree, keeps every record as
// a list of fields, looks at each position by itself, and shares no code with
// plan and view but the values and the catalog.

// a rec is a record, or a gap of the positions from … to.
type rec struct {
	row      view.Row
	all      map[string]value.Value
	frame    *view.Frame // nil of a computed row
	gap      bool
	from, to uint64
}

func (r *rec) add(name string, v value.Value) {
	if _, ok := r.all[name]; !ok {
		r.all[name] = v
		r.row.Fields = append(r.row.Fields, view.Field{Name: name, Value: v})
	}
}

func naive(s *shelf, q *syntax.Query) []string {
	recs := naiveRecords(s, q)
	var out []*rec
	for _, r := range recs {
		if naiveWhere(q, r) {
			out = append(out, r)
		}
	}
	if q.Aggregate != nil {
		out = naiveGroups(q, slices.DeleteFunc(out, func(r *rec) bool { return r.gap && q.Mode != syntax.Gaps }))
	}
	if q.Sort != nil {
		sort.SliceStable(out, func(i, j int) bool { return naiveLess(q, out[i], out[j]) })
	}
	var rows []string
	for _, r := range naivePage(q, out) {
		rows = append(rows, string(naiveSelect(q, r).AppendJSON(nil)))
	}
	return rows
}

// naiveRecords are the mode's records and gaps in default order.
func naiveRecords(s *shelf, q *syntax.Query) []*rec {
	frames := make([]*view.Frame, len(s.frames))
	for i := range s.frames {
		frames[i] = &s.frames[i]
	}
	gaps := naiveGaps(s)
	if q.Mode == syntax.Gaps {
		return slices.DeleteFunc(gaps, func(g *rec) bool { return !naiveInRange(q, g) })
	}
	switch {
	case q.Mode == syntax.Frames && q.Stream == nil:
		sort.Slice(frames, func(i, j int) bool { return naiveBefore(frames[i], frames[j]) })
	case q.Stream == nil || q.Sort != nil:
		slices.Reverse(frames)
	}
	shown := q.WithGaps != nil || q.Mode == syntax.Frames && q.Sort == nil && q.Stream == nil
	var out []*rec
	for _, f := range frames {
		for _, g := range gaps {
			if shown && g.frame == f && naiveInRange(q, g) {
				out = append(out, g)
			}
		}
		if r := naiveRecord(q, f); r != nil {
			out = append(out, r)
		}
	}
	switch q.Mode {
	case syntax.Latest:
		return naiveLatest(out)
	case syntax.Channels:
		return naiveChannels(out)
	}
	return out
}

func naiveBefore(a, b *view.Frame) bool {
	if a.Stream != b.Stream {
		return streamKey(a.Stream) < streamKey(b.Stream)
	}
	return a.Position < b.Position
}

func streamKey(s subjects.Stream) string { return string(s.Node) + " " + s.Life.String() }

func naiveInRange(q *syntax.Query, r *rec) bool {
	at, _ := r.all["timestamp"].Int64()
	if q.Since != nil && at < q.Since.Nanos || q.Until != nil && at >= q.Until.Nanos {
		return false
	}
	return q.Scope == nil || (q.Scope.Node == nil || r.all["node"].Text() == q.Scope.Node.Value) &&
		(q.Scope.Life == nil || r.all["life"].Text() == q.Scope.Life.Value)
}

func naiveRecord(q *syntax.Query, f *view.Frame) *rec {
	class := testCatalog.Classify(f.Channel)
	r := &rec{all: map[string]value.Value{}, frame: f}
	r.add("timestamp", value.OfTime(f.Instant))
	r.add("node", value.OfString(string(f.Stream.Node)))
	r.add("life", value.OfString(f.Stream.Life.String()))
	r.add("channel", value.OfString(string(f.Channel)))
	r.add("position", value.OfUint(uint64(f.Position)))
	if q.Pattern != nil && !glob(q.Pattern.Value, string(f.Channel)) || !naiveInRange(q, r) {
		return nil
	}
	var fields value.Fields
	isRecord := class.IsRecord(f.Payload)
	_ = value.All().Decode(&fields, f.Payload)
	switch q.Mode {
	case syntax.Events:
		if !isRecord {
			return nil
		}
	case syntax.Logs:
		if !class.IsText(f.Payload) || !naiveFrom(q, class.Origin) {
			return nil
		}
		line := bytes.TrimSuffix(f.Payload, []byte("\n"))
		if len(line) < len(f.Payload) {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		r.add("origin", value.OfString(class.Origin))
		r.add("is_error", value.OfBool(class.IsError))
		r.add("message", textOrBytes(line))
		return r
	default:
		r.add("kind", value.OfString(class.Kind.Field()))
		r.add("size", value.OfInt(int64(len(f.Payload))))
		r.add("payload", textOrBytes(f.Payload))
		if q.Mode == syntax.Frames || !isRecord {
			return r
		}
	}
	for _, x := range fields.List() {
		r.add(x.Path, x.Value)
	}
	return r
}

func textOrBytes(b []byte) value.Value {
	if utf8.Valid(b) {
		return value.OfString(string(b))
	}
	return value.OfBinary(b)
}

func naiveFrom(q *syntax.Query, origin string) bool {
	return q.From == nil || slices.ContainsFunc(q.From.Origins, func(p *syntax.Pattern) bool {
		return glob(strings.ToLower(p.Value), strings.ToLower(origin))
	})
}

func glob(pattern, s string) bool {
	return regexp.MustCompile(`(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + `$`).MatchString(s)
}

// naiveGaps looks at each position of each stream up to its highest committed.
func naiveGaps(s *shelf) []*rec {
	stored := map[subjects.Stream]map[uint64]*view.Frame{}
	last := map[subjects.Stream]int64{}
	for i := range s.frames {
		f := &s.frames[i]
		if stored[f.Stream] == nil {
			stored[f.Stream] = map[uint64]*view.Frame{}
		}
		stored[f.Stream][uint64(f.Position)] = f
		last[f.Stream] = max(last[f.Stream], f.Instant)
	}
	var streams []subjects.Stream
	for st := range stored {
		streams = append(streams, st)
	}
	sort.Slice(streams, func(i, j int) bool { return streamKey(streams[i]) < streamKey(streams[j]) })
	var out []*rec
	for _, st := range streams {
		evicted := func(p uint64) bool {
			return s.more[st] != nil && slices.ContainsFunc(s.more[st].Evicted, func(i view.Interval) bool {
				return uint64(i.From) <= p && p <= uint64(i.To)
			})
		}
		top := uint64(0)
		for p := range uint64(64) {
			if stored[st][p] != nil || evicted(p) {
				top = p
			}
		}
		for p := uint64(0); p <= top; p++ {
			if stored[st][p] != nil {
				continue
			}
			to := p
			for to < top && stored[st][to+1] == nil && evicted(to+1) == evicted(p) {
				to++
			}
			at := last[st]
			var beyond *view.Frame
			for x := to; x <= top && beyond == nil; x++ {
				if beyond = stored[st][x]; beyond != nil {
					at = beyond.Instant
				}
			}
			cause := "lost"
			if evicted(p) {
				cause = "evicted"
			}
			g := &rec{all: map[string]value.Value{}, gap: true, from: p, to: to, frame: beyond}
			g.add("node", value.OfString(string(st.Node)))
			g.add("life", value.OfString(st.Life.String()))
			g.add("gap_from", value.OfUint(p))
			g.add("gap_to", value.OfUint(to))
			g.add("missing", value.OfUint(to-p+1))
			g.add("cause", value.OfString(cause))
			g.add("timestamp", value.OfTime(at))
			out = append(out, g)
			p = to
		}
	}
	return out
}

func naiveLatest(recs []*rec) []*rec {
	var out []*rec
	for _, r := range recs {
		higher := slices.ContainsFunc(recs, func(o *rec) bool {
			return o.frame.Stream == r.frame.Stream && o.frame.Channel == r.frame.Channel && o.frame.Position > r.frame.Position
		})
		if !higher {
			out = append(out, r)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return orderKey(out[i]) < orderKey(out[j]) })
	return out
}

// orderKey orders texts folded, then by their bytes (L7).
func orderKey(r *rec) string { return strings.ToLower(sourceKey(r)) + " " + sourceKey(r) }

func sourceKey(r *rec) string { return streamKey(r.frame.Stream) + " " + string(r.frame.Channel) }

func naiveChannels(recs []*rec) []*rec {
	byKey := map[string][]*rec{}
	var keys []string
	for _, r := range recs {
		k := orderKey(r)
		if byKey[k] == nil {
			keys = append(keys, k)
		}
		byKey[k] = append(byKey[k], r)
	}
	sort.Strings(keys)
	var out []*rec
	for _, k := range keys {
		c, first := &rec{all: map[string]value.Value{}}, byKey[k][0]
		var last int64
		for _, r := range byKey[k] {
			last = max(last, r.frame.Instant)
		}
		for _, name := range []string{"node", "life", "channel", "kind"} {
			c.add(name, first.all[name])
		}
		c.add("frames", value.OfInt(int64(len(byKey[k]))))
		c.add("timestamp", value.OfTime(last))
		out = append(out, c)
	}
	return out
}

// naiveLess is SORT and its ties: a computed row's are its default order, in
// which the rows stand already.
func naiveLess(q *syntax.Query, a, b *rec) bool {
	for _, k := range q.Sort {
		c := naiveCompare(a.all[k.Field.Name], b.all[k.Field.Name])
		if k.Desc {
			c = -c
		}
		if c != 0 {
			return c < 0
		}
	}
	if a.frame == nil || b.frame == nil || a.gap {
		return q.Aggregate != nil && naiveKeysLess(q, a, b)
	}
	if a.frame.Sequence != b.frame.Sequence {
		return a.frame.Sequence > b.frame.Sequence
	}
	return a.frame.Place > b.frame.Place
}

// naivePage is SKIP and TAKE, or with STREAM and no SORT the last of TAKE. A
// gap is where the next record would be.
func naivePage(q *syntax.Query, recs []*rec) []*rec {
	isGap := func(r *rec) bool { return r.gap && q.Mode != syntax.Gaps }
	n := uint64(0)
	for _, r := range recs {
		if !isGap(r) {
			n++
		}
	}
	from, to := uint64(0), uint64(1<<40)
	if q.Skip != nil {
		from = q.Skip.Value
	}
	if q.Take != nil {
		to = from + q.Take.Value
		if q.Stream != nil && q.Sort == nil && q.Take.Value > 0 {
			from, to = max(from, n-min(n, q.Take.Value)), 1<<40
		}
	}
	var out []*rec
	at := uint64(0)
	for _, r := range recs {
		if at >= from && at < to {
			out = append(out, r)
		}
		if !isGap(r) {
			at++
		}
	}
	return out
}

func naiveSelect(q *syntax.Query, r *rec) *view.Row {
	if q.Select == nil || r.gap && q.Mode != syntax.Gaps {
		return &r.row
	}
	out := &rec{all: map[string]value.Value{}}
	for _, f := range q.Select {
		found := false
		for _, x := range r.row.Fields {
			if x.Name == f.Name || strings.HasPrefix(x.Name, f.Name+".") {
				out.add(x.Name, x.Value)
				found = true
			}
		}
		if !found {
			out.add(f.Name, value.Value{})
		}
	}
	return &out.row
}
