package intake

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"datastream/ingestd/ledger"
	"datastream/subjects"
	"datastream/subjects/control"
)

const (
	// maxAsked bounds the lives asked for a beat at start: the muxes take these
	// requests in with everything else.
	maxAsked = 512
	// maxStrange bounds the unknown lives whose muxes were asked for a beat.
	maxStrange = 4096
	// strangeAgain is when such a mux is asked again.
	strangeAgain = time.Second
)

// A request is a repair request whose answer is awaited.
type request struct {
	stream *stream
	until  time.Time
}

// ask sends one repair request if holes are due and none is out (P7.1).
func (in *Intake) ask(s *stream, now time.Time) {
	if s.asking {
		return
	}
	ranges := s.account.Ask(now)
	if len(ranges) == 0 {
		return
	}
	in.asked++
	token := strconv.FormatUint(in.asked, 36)
	msg := &nats.Msg{
		Subject: in.cfg.Space.Repair(s.id),
		Reply:   in.prefix + token,
		Data:    control.RepairRequest{Ranges: ranges}.Encode(),
	}
	s.asking = true
	in.metrics.repairs.Inc()
	in.repairs[token] = request{stream: s, until: now.Add(in.cfg.AnswerWait)}
	if err := in.nc.PublishMsg(msg); err != nil {
		in.answered(token, control.RepairAnswer{}, false, now)
	}
}

// answer takes an answer in. The frames it speaks of came before it.
func (in *Intake) answer(m *nats.Msg, now time.Time) *stream {
	token, ok := strings.CutPrefix(m.Subject, in.prefix)
	if !ok {
		return in.refuse(m, subjects.ErrForeign)
	}
	if m.Header.Get("Status") != "" { // 503: nobody serves that stream
		return in.answered(token, control.RepairAnswer{}, false, now)
	}
	a, err := control.DecodeRepairAnswer(m.Data)
	if err != nil {
		return in.refuse(m, err)
	}
	return in.answered(token, a, true, now)
}

func (in *Intake) answered(token string, a control.RepairAnswer, ok bool, now time.Time) *stream {
	r, known := in.repairs[token]
	if !known {
		return nil // it came too late
	}
	delete(in.repairs, token)
	r.stream.asking = false
	r.stream.account.Answer(a, ok, now)
	return r.stream
}

func (in *Intake) expireRequests(now time.Time) {
	for token, r := range in.repairs {
		if now.After(r.until) {
			in.activate(in.answered(token, control.RepairAnswer{}, false, now))
		}
	}
}

// askAll asks the muxes of the youngest lives that the store knows to show
// themselves: what was on its way while nobody took it in is healed at once.
// Others beat by themselves within ten seconds.
func (in *Intake) askAll() {
	in.mu.Lock()
	defer in.mu.Unlock()
	var all []subjects.Stream
	in.ledger.Each(func(a *ledger.Account) { all = append(all, a.Stream()) })
	slices.SortFunc(all, func(a, b subjects.Stream) int { return bytes.Compare(b.Life[:], a.Life[:]) })
	for _, id := range all[:min(len(all), maxAsked)] {
		msg := &nats.Msg{Subject: in.cfg.Space.Repair(id), Reply: in.prefix + "beat", Data: control.RepairRequest{}.Encode()}
		if err := in.nc.PublishMsg(msg); err != nil {
			in.metrics.unsent.Inc()
		}
	}
}

// askForBeat asks the mux of an unknown life to show itself: a request
// without ranges. Its beat makes the life known, and what was refused
// meanwhile is a hole that repair heals.
func (in *Intake) askForBeat(id subjects.Stream, now time.Time) {
	if at, ok := in.strange[id]; ok && now.Sub(at) < strangeAgain {
		return
	}
	if len(in.strange) >= maxStrange {
		clear(in.strange)
	}
	in.strange[id] = now
	// Nobody waits for the answer, but only requests with a reply are served.
	msg := &nats.Msg{Subject: in.cfg.Space.Repair(id), Reply: in.prefix + "beat", Data: control.RepairRequest{}.Encode()}
	if err := in.nc.PublishMsg(msg); err != nil {
		delete(in.strange, id)
	}
}
