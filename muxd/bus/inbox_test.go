package bus

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/stack/server"
	"datastream/subjects"
	"datastream/subjects/control"
	"datastream/test/harness"
)

// TestRepairAnswersGoToDaemonsToo: a daemon's own inbox has the prefix of the
// mux's own. A repair is answered there, a submission is not (P2.4).
func TestRepairAnswersGoToDaemonsToo(t *testing.T) {
	r := still(t, Config{}, nats.CustomInboxPrefix(server.InboxPrefix))
	now := time.Now()
	id := tenFrames(t, r, now)
	inbox, err := r.other.SubscribeSync(server.InboxPrefix + ".>")
	if err != nil {
		t.Fatal(err)
	}
	ask := string(control.RepairRequest{Ranges: []control.Range{{From: 0, To: 9}}}.Encode())
	to := subjects.Default().Repair(id)
	for _, reply := range []string{"evil", server.InboxPrefix, "_PIPES.x", ""} {
		r.publish(to, reply, ask)
	}
	r.publish(subjects.Default().Submit("n1", "a"), server.InboxPrefix+".submission", "x")
	r.pump(now)
	r.repair()
	r.wantCounts("refused_total", map[string]float64{"reply": 5})
	r.publish(to, server.InboxPrefix+".repair", ask)
	r.pump(now)
	r.repair()
	m, err := inbox.NextMsg(harness.Patience)
	if err != nil || m.Subject != server.InboxPrefix+".repair" {
		t.Fatalf("the first message in the inbox is %+v, %v", m, err)
	}
	if _, err := control.DecodeRepairAnswer(m.Data); err != nil {
		t.Error(err)
	}
}
