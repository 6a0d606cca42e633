package catalog

import (
	"strings"
	"sync"
)

// rememberedChannels is how many classes each of the cache's generations holds:
// with both, about 30 MB of channels of usual length.
const rememberedChannels = 1 << 16

// A cache holds the classes of the channels last asked for, in two
// generations: when the young one is full it becomes the old one, and the old
// one is forgotten. What is found in the old one is young again.
type cache struct {
	limit int

	mu         sync.RWMutex
	young, old map[string]*Class
	forgotten  uint64
}

func newCache(limit int) *cache { return &cache{limit: limit, young: map[string]*Class{}} }

func (c *cache) get(channel string) *Class {
	c.mu.RLock()
	k, young := c.young[channel]
	if !young {
		k = c.old[channel]
	}
	c.mu.RUnlock()
	if k != nil && !young {
		c.put(strings.Clone(channel), k)
	}
	return k
}

func (c *cache) put(channel string, k *Class) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.young) >= c.limit {
		c.forgotten += uint64(len(c.old))
		c.young, c.old = make(map[string]*Class, c.limit), c.young
	}
	delete(c.old, channel)
	c.young[channel] = k
}

func (c *cache) stats() (held int, forgotten uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.young) + len(c.old), c.forgotten
}
