package view

import "datastream/queryd/value"

// A Field is a name of a row and what stands there.
type Field struct {
	Name  string
	Value value.Value
}

// A Row is one record of an answer, its fields in order (L4.6). It
// holds until the function that takes it returns.
type Row struct {
	Fields []Field
	// Gap is true of a gap row (L4.4).
	Gap bool
	// Sequence and Place are where the record's frame stands in the store;
	// zero of a row that was computed.
	Sequence uint64
	Place    int
}

// AppendJSON appends the row as one JSON object, without a newline.
func (r *Row) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range r.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(value.AppendJSONString(dst, r.Fields[i].Name), ':')
		dst = value.AppendJSON(dst, r.Fields[i].Value)
	}
	return append(dst, '}')
}

// AppendMsgpack appends the row as one MessagePack map.
func (r *Row) AppendMsgpack(dst []byte) []byte {
	dst = value.AppendMapHead(dst, len(r.Fields))
	for i := range r.Fields {
		dst = value.AppendMsgpackString(dst, r.Fields[i].Name)
		dst = value.AppendMsgpack(dst, r.Fields[i].Value)
	}
	return dst
}
