package invariant

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"datastream/test/harness"
)

// A rawClient speaks the protocol by hand: it sends what no library would.
type rawClient struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// rawClient connects without credentials.
func (p *pipe) rawClient(t testing.TB) *rawClient {
	t.Helper()
	u, err := url.Parse(p.URL())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(2 * harness.Patience))
	c := &rawClient{t: t, conn: conn, in: bufio.NewReader(conn)}
	c.write(`CONNECT {"verbose":false,"pedantic":false,"protocol":1,"headers":true,"lang":"raw","version":"1"}` + "\r\n")
	c.sync()
	return c
}

func (c *rawClient) write(s string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(s)); err != nil {
		c.t.Fatal(err)
	}
}

// pub publishes; reply may be empty.
func (c *rawClient) pub(subject, reply, payload string) {
	c.t.Helper()
	c.write(fmt.Sprintf("PUB %s %s %d\r\n%s\r\n", subject, reply, len(payload), payload))
}

// sync waits until the server has taken in everything.
func (c *rawClient) sync() {
	c.t.Helper()
	c.write("PING\r\n")
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			c.t.Fatalf("the server has cut the raw client off: %v", err)
		}
		switch {
		case strings.HasPrefix(line, "PONG"):
			return
		case strings.HasPrefix(line, "PING"):
			c.write("PONG\r\n")
		case strings.HasPrefix(line, "-ERR"):
			c.t.Logf("the server says %s", strings.TrimSpace(line))
		}
	}
}
