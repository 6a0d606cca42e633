package emit_test

import (
	"fmt"

	"datastream/producer/emit"
	"datastream/subjects"
	"datastream/subjects/frame"
)

// printer stands for a mux in the same program.
type printer struct{}

func (printer) Submit(n subjects.Node, r frame.Run) bool {
	for i := range r.Len() {
		fmt.Printf("%s %s %s\n", n, r.Channel, r.Payload(i))
	}
	return true
}

// A Trainer is a subsystem that knows nothing of the pipe. It exposes one
// observer, an interface of its own with one method.
type Trainer struct {
	Observer StepObserver // may be nil
}

// A StepObserver is told of every step a Trainer makes. It must not wait.
type StepObserver interface {
	Step(n int, loss float64)
}

// Run trains for a while.
func (t *Trainer) Run() {
	for n, loss := 1, 1.0; n <= 2; n, loss = n+1, loss/2 {
		if t.Observer != nil {
			t.Observer.Step(n, loss)
		}
	}
}

// steps is what the node installs: an observer whose body is a submission.
type steps struct{ h emit.Handle }

func (s steps) Step(n int, loss float64) {
	s.h.Submit("trainer.step", fmt.Appendf(nil, `{"n":%d,"loss":%g}`, n, loss))
}

// A subsystem exposes one observer interface; the node that runs it installs one
// whose body is Submit. So the subsystem does not depend on the pipe, and is
// never held up by it.
func Example_observer() {
	h := emit.InProcess(printer{}, "n1")
	t := Trainer{Observer: steps{h}}
	t.Run()
	// Output:
	// n1 trainer.step {"n":1,"loss":1}
	// n1 trainer.step {"n":2,"loss":0.5}
}

func ExampleEmit() {
	h := emit.InProcess(printer{}, "n1")
	type load struct {
		CPU  float64 `json:"cpu"`
		Host string  `json:"host,omitempty"`
	}
	if err := emit.Emit(h, "host.load", load{CPU: 0.25}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(emit.Emit(h, "host.load", 0.25))
	// Output:
	// n1 host.load {"cpu":0.25}
	// encode record as JSON: not a record: float64 becomes 0.25; it must be a struct or a map
}

func ExampleEmitMsgpack() {
	record := map[string]any{"cpu": 1}
	b, _ := emit.Msgpack(record)
	fmt.Printf("%x\n", b)
	fmt.Println(emit.EmitMsgpack(emit.InProcess(printer{}, "n1"), "host.load", []int{1}))
	// Output:
	// 81a363707501
	// encode record as MessagePack: not a record: []int becomes no map; it must be a struct or a map
}
