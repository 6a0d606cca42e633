package view

import "datastream/queryd/value"

// channelFields are the names of a row of CHANNELS (L4).
var channelFields = []string{"node", "life", "channel", "kind", "frames", "timestamp"}

// channels counts the frames of each channel of each stream (L1).
type channels struct {
	m    *room
	next operator
	out  *record
	rows map[source]*counted
}

type counted struct {
	stream  *stream
	channel *channel
	frames  uint64
	last    int64
}

func (c *channels) push(r *record) error {
	k := c.rows[source{r.frame.Stream, r.frame.Channel}]
	if k == nil {
		if err := c.m.grow(heldOverhead + len(r.channel.name)); err != nil {
			return err
		}
		k = &counted{stream: r.stream, channel: r.channel}
		c.rows[source{r.stream.of, r.channel.name}] = k
	}
	k.frames++
	k.last = max(k.last, r.frame.Instant)
	return nil
}

func (c *channels) finish() error {
	for _, k := range c.rows {
		c.out.setColumns([]value.Value{k.stream.node, k.stream.life, k.channel.value,
			value.OfString(k.channel.class.Kind.Field()), value.OfUint(k.frames), value.OfTime(k.last)})
		if err := c.next.push(c.out); err != nil {
			return err
		}
	}
	return c.next.finish()
}

func (c *channels) full() bool { return c.next.full() }

// Live is false: a count grows.
func (c *channels) Live() bool { return false }
