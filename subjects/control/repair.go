package control

// A RepairRequest asks a mux to publish ranges of one stream again. Without
// ranges it asks for a beat.
type RepairRequest struct {
	Ranges []Range `json:"ranges,omitempty"`
}

// Encode is the request as it travels.
func (r RepairRequest) Encode() []byte { return encode(r) }

// DecodeRepairRequest reads a request. It wraps ErrMessage.
func DecodeRepairRequest(body []byte) (RepairRequest, error) {
	var r RepairRequest
	if err := decode("repair request", body, &r); err != nil {
		return RepairRequest{}, err
	}
	if err := checkRanges("repair request", r.Ranges); err != nil {
		return RepairRequest{}, err
	}
	return r, nil
}

// A RepairAnswer follows the frames that were sent again, on the same
// connection. What was asked for and stands in none of its lists was beyond
// what one answer may send: ask again.
type RepairAnswer struct {
	// Sent was published again just before this answer.
	Sent []Range `json:"sent,omitempty"`
	// Gone can never be sent again: it was dropped, or pushed out of the ring.
	Gone []Range `json:"gone,omitempty"`
	// Pending was assigned but not drained yet, or not assigned: it will
	// come by itself.
	Pending []Range `json:"pending,omitempty"`
}

// Encode is the answer as it travels.
func (a RepairAnswer) Encode() []byte { return encode(a) }

// DecodeRepairAnswer reads an answer. It wraps ErrMessage.
func DecodeRepairAnswer(body []byte) (RepairAnswer, error) {
	var a RepairAnswer
	if err := decode("repair answer", body, &a); err != nil {
		return RepairAnswer{}, err
	}
	for _, list := range [][]Range{a.Sent, a.Gone, a.Pending} {
		if err := checkRanges("repair answer", list); err != nil {
			return RepairAnswer{}, err
		}
	}
	return a, nil
}
