package gate

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"
)

// a is a request whose config holds the fields.
func a(fields string) string { return `{"stream_name":"S","config":{` + fields + `}}` }

// TestRefusals is promises 1, 2, 3 and 6: what is refused, why, and that the
// answer says so in JetStream's form.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ body, reason, says string }{
		"nothing":          {"", reasonForm, "EOF"},
		"no JSON":          {"x", reasonForm, "invalid"},
		"no object":        {`[]`, reasonForm, "array"},
		"two requests":     {a("") + a(""), reasonForm, "follows"},
		"long":             {a(`"description":"` + strings.Repeat("x", maxBody) + `"`), reasonSize, "65536"},
		"unknown field":    {a(`"direct":true`), reasonForm, `"direct"`},
		"unknown outside":  {`{"stream_name":"S","config":{},"more":1}`, reasonForm, `"more"`},
		"no stream":        {`{"config":{}}`, reasonStream, "S alone"},
		"another stream":   {`{"stream_name":"KV_S","config":{}}`, reasonStream, "KV_S"},
		"the last counts":  {`{"stream_name":"S","Stream_Name":"T","config":{}}`, reasonStream, "T"},
		"deliver":          {a(`"deliver_subject":"$JS.API.STREAM.DELETE.S"`), reasonDeliver, "$JS.API.STREAM.DELETE.S"},
		"deliver upper":    {a(`"DELIVER_SUBJECT":"$KV.S.head"`), reasonDeliver, "$KV.S.head"},
		"deliver folded":   {a(`"deliver_ſubject":"$KV.S.head"`), reasonDeliver, "$KV.S.head"},
		"deliver last":     {a(`"deliver_subject":"_INBOX.x","deliver_subject":"ds.beat.n"`), reasonDeliver, "ds.beat.n"},
		"deliver escaped":  {a(`"deliver\u005fsubject":"ds.beat.n"`), reasonDeliver, "ds.beat.n"},
		"two configs":      {`{"stream_name":"S","config":{"deliver_subject":"ds.beat.n"},"Config":{}}`, reasonDeliver, "ds.beat.n"},
		"deliver wild":     {a(`"deliver_subject":"_INBOX.>"`), reasonDeliver, "_INBOX.>"},
		"deliver wild 2":   {a(`"deliver_subject":"_INBOX.*.x"`), reasonDeliver, "_INBOX.*.x"},
		"deliver near":     {a(`"deliver_subject":"_INBOXES.x"`), reasonDeliver, "_INBOXES.x"},
		"deliver bare":     {a(`"deliver_subject":"_INBOX."`), reasonDeliver, "_INBOX."},
		"deliver line":     {a(`"deliver_subject":"_INBOX.x\r\nPUB ds.beat.n 0"`), reasonDeliver, "_INBOX.x"},
		"idle":             {a(`"inactive_threshold":3600000000001`), reasonIdle, "durable"},
		"idle, named":      {a(`"name":"n","inactive_threshold":9000000000000`), reasonIdle, "durable"},
		"unknown policy":   {a(`"ack_policy":"sometimes"`), reasonForm, "sometimes"},
		"number too large": {a(`"opt_start_seq":99999999999999999999`), reasonForm, "opt_start_seq"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := rewrite([]byte(c.body), "S")
			var no *refusal
			if !errors.As(err, &no) {
				t.Fatalf("it is handed on as %s, %v", out, err)
			}
			var answer struct {
				Type  string
				Error *jetstream.APIError
			}
			if err := json.Unmarshal(no.encode(), &answer); err != nil || answer.Error == nil {
				t.Fatalf("the answer is %s, %v", no.encode(), err)
			}
			if no.reason != c.reason || !strings.Contains(answer.Error.Description, c.says) {
				t.Errorf("the reason is %s, and the answer %s", no.reason, no.encode())
			}
			if answer.Error.Code != 400 || answer.Error.ErrorCode != codeRefused || !strings.HasSuffix(answer.Type, "consumer_create_response") {
				t.Errorf("the answer is %s", no.encode())
			}
		})
	}
}

// TestHandedOnAsUnderstood is promise 3: what is handed on reads as what came,
// and has each key once, in JetStream's spelling.
func TestHandedOnAsUnderstood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-Z0-9 "\\<é]{0,12}`)
		r := request{Stream: "S", Action: rapid.SampledFrom([]string{"", "create", "update"}).Draw(t, "action"), Pedantic: rapid.Bool().Draw(t, "pedantic")}
		r.Config = jetstream.ConsumerConfig{
			Name: text.Draw(t, "name"), Durable: text.Draw(t, "durable"), Description: text.Draw(t, "description"),
			DeliverPolicy: jetstream.DeliverPolicy(rapid.IntRange(0, 5).Draw(t, "deliver")),
			AckPolicy:     jetstream.AckPolicy(rapid.IntRange(0, 2).Draw(t, "ack")),
			OptStartSeq:   rapid.Uint64().Draw(t, "seq"), FilterSubjects: rapid.SliceOfN(text, 1, 4).Draw(t, "filters"),
			InactiveThreshold: time.Duration(rapid.Int64Range(0, int64(maxIdle)).Draw(t, "idle")),
			HeadersOnly:       rapid.Bool().Draw(t, "headers"), Metadata: map[string]string{"k": text.Draw(t, "meta")},
			DeliverSubject: rapid.SampledFrom([]string{"", "_INBOX.x", "_INBOX.x.y"}).Draw(t, "to"),
		}
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		out, err := rewrite(body, "S")
		if err != nil {
			t.Fatal(err)
		}
		var again request
		if err := json.Unmarshal(out, &again); err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%s\nis handed on as\n%s (%v)", body, out, err)
		}
	})
	out, err := rewrite([]byte(`{"STREAM_NAME":"T","stream_name":"S","config":{"Deliver_Subject":"ds.beat.n","deliver_subject":"_INBOX.x"}}`), "S")
	if err != nil || strings.Contains(string(out), "ds.beat") || strings.Contains(string(out), "Deliver_Subject") || strings.Contains(string(out), `"T"`) {
		t.Errorf("handed on as %s, %v", out, err)
	}
}

// FuzzRewrite: whatever comes, what is handed on keeps promises 1 and 2 and
// comes out of the gate as it went in.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(a(`"deliver_subject":"_INBOX.x","idle_heartbeat":1`)))
	f.Add([]byte(a(`"Deliver_subject":"ds.beat.n"`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := rewrite(body, "S")
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if to := r.Config.DeliverSubject; r.Stream != "S" || to != "" && !strings.HasPrefix(to, "_INBOX.") {
			t.Errorf("handed on: %s", out)
		}
		again, err := rewrite(out, "S")
		if len(out) <= maxBody && (err != nil || string(again) != string(out)) {
			t.Errorf("%s is handed on as %s, %v", out, again, err)
		}
	})
}
