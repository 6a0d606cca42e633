package frame

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"datastream/subjects"
)

// FuzzDecode is promises 1 and 2: whatever the headers and body, Decode does
// not panic; what it takes is what the headers say by plain arithmetic, and
// encodes to the very same message.
func FuzzDecode(f *testing.F) {
	f.Add("7", true, "5,2,3+4", true, []byte("hello\nhi\nbye"))
	f.Add("0", true, "0,0,0", true, []byte("\n\n"))
	f.Add("0", true, "1", true, []byte("a"))
	f.Add("18446744073709551614", true, "", false, []byte(""))
	f.Add("18446744073709551610", true, "1,1+18446744073709551615", true, []byte("a\nb"))
	f.Add("0", true, "18446744073709551615,1", true, []byte("a\nb"))
	f.Add("0", true, "1,18446744073709551615,1", true, []byte("a\nb"))
	f.Add("", false, "1+1", true, []byte("a"))
	f.Fuzz(func(t *testing.T, pos string, hasPos bool, run string, hasRun bool, body []byte) {
		h := map[string][]string{}
		if hasPos {
			h[HeaderPos] = []string{pos}
		}
		if hasRun {
			h[HeaderRun] = []string{run}
		}
		kept := bytes.Clone(body)
		r, err := Decode("c", h, body)
		if !bytes.Equal(body, kept) {
			t.Fatal("Decode changed the body")
		}
		checkHead(t, h, body, r, err)
		if err != nil {
			return
		}
		if !hasPos || r.First().String() != pos {
			t.Fatalf("first position %s of %q", r.First(), pos)
		}
		checkBody(t, r, body)
		if hasRun {
			checkLengths(t, r, run)
		}
		again, err := Decode("c", wire(r), r.Body())
		if err != nil || !same(again, r) {
			t.Fatalf("encoded and decoded again: %v, %v", frames(again), err)
		}
	})
}

// FuzzDecodeSubmission is the same for submissions, and that none of them has
// a hole.
func FuzzDecodeSubmission(f *testing.F) {
	f.Add("5,2,3", true, []byte("hello\nhi\nbye"))
	f.Add("1,1+1", true, []byte("a\nb"))
	f.Add("", true, []byte(""))
	f.Add("", true, []byte("a"))
	f.Add("", false, []byte("a\nb"))
	f.Fuzz(func(t *testing.T, run string, hasRun bool, body []byte) {
		h := map[string][]string{}
		if hasRun {
			h[HeaderRun] = []string{run}
		}
		r, err := DecodeSubmission("c", h, body)
		if err != nil {
			return
		}
		if r.Len() == 0 {
			if !hasRun || run != "" || len(body) > 0 {
				t.Fatalf("%q with %d bytes was taken for a mark", run, len(body))
			}
			return
		}
		checkBody(t, r, body)
		if r.First() != 0 || r.Consecutive(0) != r.Len() {
			t.Fatalf("positions %v, want 0 … %d", frames(r), r.Len()-1)
		}
		if hasRun {
			checkLengths(t, r, run)
			h[HeaderRun] = []string{r.Header()}
			if r.Len() == 1 {
				delete(h, HeaderRun)
			}
		}
		again, err := DecodeSubmission("c", h, r.Body())
		if err != nil || !same(again, r) {
			t.Fatalf("encoded and decoded again: %v, %v", frames(again), err)
		}
	})
}

// checkBody holds a run to its body: the payloads in order, a newline between
// two of them, and nothing else.
func checkBody(t *testing.T, r Run, body []byte) {
	t.Helper()
	var payloads [][]byte
	size := 0
	for i := range r.Len() {
		payloads = append(payloads, r.Payload(i))
		size += len(r.Payload(i))
	}
	if !bytes.Equal(bytes.Join(payloads, []byte("\n")), body) || !bytes.Equal(r.Body(), body) {
		t.Fatalf("payloads %q and body %q, want %q", payloads, r.Body(), body)
	}
	if r.Bytes() != size || r.Cost() != size+r.Len()*(len(r.Channel)+Overhead) {
		t.Fatalf("%d bytes, cost %d; want %d bytes", r.Bytes(), r.Cost(), size)
	}
}

// checkHead holds DecodeHead to Decode: it agrees wherever Decode takes the
// message, and believes newlines alone where Decode does not.
func checkHead(t *testing.T, h map[string][]string, body []byte, r Run, err error) {
	t.Helper()
	head, headErr := DecodeHead("c", h, len(body))
	if headErr == nil && err != nil {
		mended := bytes.Clone(body)
		end := 0
		for _, e := range head.entries[:head.Len()-1] {
			end += int(e.len)
			mended[end] = '\n'
			end++
		}
		r, err = Decode("c", h, mended)
	}
	if (err == nil) != (headErr == nil) {
		t.Fatalf("by its head: %v; with its body: %v", headErr, err)
	}
	if err != nil {
		return
	}
	if head.Len() != r.Len() || head.Bytes() != r.Bytes() || head.Cost() != r.Cost() || head.Header() != r.Header() || head.First() != r.First() {
		t.Fatalf("by its head %s %q, %d bytes; with its body %s %q, %d bytes",
			head.First(), head.Header(), head.Bytes(), r.First(), r.Header(), r.Bytes())
	}
}

// checkLengths holds a run to its header by arithmetic that cannot overflow.
func checkLengths(t *testing.T, r Run, header string) {
	t.Helper()
	items := strings.Split(header, ",")
	if len(items) != r.Len() {
		t.Fatalf("%d frames of %q", r.Len(), header)
	}
	next := new(big.Int).SetUint64(uint64(r.First()))
	for i, item := range items {
		length, skip, _ := strings.Cut(item, "+")
		if n, ok := new(big.Int).SetString(length, 10); !ok || n.Cmp(big.NewInt(int64(len(r.Payload(i))))) != 0 {
			t.Fatalf("frame %d of %q has %d bytes", i, header, len(r.Payload(i)))
		}
		if n, ok := new(big.Int).SetString(skip, 10); ok {
			next.Add(next, n)
		}
		if next.Cmp(new(big.Int).SetUint64(uint64(r.Pos(i)))) != 0 || r.Pos(i) > subjects.MaxPosition {
			t.Fatalf("frame %d of %q has position %s, want %s", i, header, r.Pos(i), next)
		}
		next.Add(next, big.NewInt(1))
	}
	if r.Len() > 1 && r.Header() != header {
		t.Fatalf("header %q, taken as %q", r.Header(), header)
	}
}

// FuzzHeaders: the header values that are taken are printed as they came.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{"1/1/0", "18446744073709551615/1/9223372036854775807", "1/2/-3", "p:0", "p:q:1", ":", "//", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := ParseCommit(s); err == nil && (c.String() != s || c.Last() < c.First || c.First == 0 || c.Instant < 0) {
			t.Errorf("commit %q taken as %+v", s, c)
		}
		if q, err := ParseSeq(s); err == nil && (q.String() != s || q.Producer == "" || len(q.Producer) > MaxProducer) {
			t.Errorf("seq %q taken as %+v", s, q)
		}
	})
}
