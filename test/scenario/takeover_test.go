package scenario

import (
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"datastream/subjects"
	"datastream/test/harness"
)

// TestOwnMuxTakesItsNodeOver starts a node's own mux beside a gateway while
// somebody goes on publishing. Nothing is lost, and from the mux's first beat
// on everything is committed once, in that mux's life; when it stops, the
// gateway takes the node back (P5.5).
func TestOwnMuxTakesItsNodeOver(t *testing.T) {
	parts := harness.NewParts(t)
	parts.Pipe(t)
	nc := parts.Connect(t)
	beats := subscribe(t, nc, "ds.beat.n1.*")
	p := &publisher{nc: nc, t: t}

	p.until("the gateway serves n1", beats, func(b beatSeen) bool { return b.Gateway })
	own := parts.Muxd(t, "--node", "n1")
	var life subjects.Life
	p.until("n1's own mux beats", beats, func(b beatSeen) bool {
		if !b.Gateway {
			life = b.stream.Life
		}
		return !b.Gateway
	})
	firstOwn := p.n // publishing of this one began after the beat was heard
	for range 500 {
		p.publish()
	}
	lastOwn := p.n
	own.Serving(t)

	second := parts.Muxd(t, "--node", "n1")
	if code := second.Wait(t); code != 1 || !strings.Contains(second.Stderr(), `another muxd serves --node "n1"`) || !strings.Contains(second.Stderr(), "nats micro info muxd") {
		t.Errorf("a second mux for n1: exit %d\n%s", code, second.Stderr())
	}
	if code := own.Stop(t); code != 0 {
		t.Errorf("n1's own mux: exit %d", code)
	}
	for !parseBeat(t, next(t, beats)).Closed { // the last of own's
	}
	firstBack := p.n
	back := commit(t, nc, "ds.submit.n1.app.log", strconv.Itoa(p.n))
	p.n++

	harness.Until(t, "everything published is stored", func() bool { return len(count(readStore(t, nc))) >= p.n })
	at := map[int][]subjects.Life{}
	for _, k := range readStore(t, nc) {
		at[atoi(t, k.payload)] = append(at[atoi(t, k.payload)], k.stream.Life)
	}
	for i := range p.n {
		lives := at[i]
		switch {
		case len(lives) == 0:
			t.Errorf("%d is lost", i)
		case i < firstOwn && len(lives) > 2:
			t.Errorf("%d, before or during the take-over, is stored %d times", i, len(lives))
		case i >= firstOwn && len(lives) != 1:
			t.Errorf("%d, after the take-over, is stored %d times", i, len(lives))
		case i >= firstOwn && i < lastOwn && lives[0] != life:
			t.Errorf("%d, after the first beat of life %v, is in life %v", i, life, lives[0])
		case i >= firstBack && (lives[0] == life || lives[0] != back.Life):
			t.Errorf("%d, after the last beat of life %v, is in life %v", i, life, lives[0])
		}
	}
}

// A publisher publishes numbers to node n1, one after the other.
type publisher struct {
	t  *testing.T
	nc *nats.Conn
	n  int
}

// publish publishes the next number and waits until the server has it.
func (p *publisher) publish() {
	p.t.Helper()
	err := p.nc.Publish("ds.submit.n1.app.log", []byte(strconv.Itoa(p.n)))
	if err == nil {
		err = p.nc.FlushTimeout(harness.Patience)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.n++
}

// until publishes until a beat is as wanted.
func (p *publisher) until(what string, beats *nats.Subscription, wanted func(beatSeen) bool) {
	p.t.Helper()
	harness.Until(p.t, what, func() bool {
		p.publish()
		for n, _, _ := beats.Pending(); n > 0; n-- {
			if wanted(parseBeat(p.t, next(p.t, beats))) {
				return true
			}
		}
		return false
	})
}

// TestMuxWithoutCredentialsIsRefused: anybody may submit, nobody without a
// daemon's password may be a mux, which says so; the gateway goes on (P2.3).
func TestMuxWithoutCredentialsIsRefused(t *testing.T) {
	up := harness.Up(t)
	mux := harness.Command{
		Path: harness.DS(t), Args: []string{"muxd", "--node", "n1", "--http", "off"}, Env: []string{"NATS_URL=" + up.URL},
	}.Spawn(t)
	mux.WaitFor(t, "NATS does not permit this")
	a := commit(t, up.Connect(t), "ds.submit.n1.app.log", "the gateway takes it")
	for _, k := range readStore(t, up.Connect(t)) {
		if k.stream.Life != a.Life {
			t.Errorf("%+v is of another life than %v", k, a.Life)
		}
	}
}
