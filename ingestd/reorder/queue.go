package reorder

import (
	"datastream/subjects"
	"datastream/subjects/frame"
)

// A queue gives back the frames of runs in ascending positions. Runs that come
// in the order of their first positions stand in line; one that comes earlier
// than the last in line, or of which the first stretch was taken while another
// run's frames come before the rest, goes to the heap. So single frames in
// order never see the heap.
type queue struct {
	line []frame.Run // ascending by first position; line[:head] is taken
	head int
	heap []node
}

// A node is a run in the heap, with what it is ordered by.
type node struct {
	first subjects.Position
	run   frame.Run
}

// kept is how much an empty queue or list may keep for its next use.
const kept = 1024

func (q *queue) empty() bool { return q.head == len(q.line) && len(q.heap) == 0 }

// push takes a run with at least one frame.
func (q *queue) push(r frame.Run) {
	if q.head < len(q.line) && r.First() < q.line[len(q.line)-1].First() {
		q.heapPush(r)
		return
	}
	if len(q.line) == cap(q.line) && q.head > len(q.line)/2 {
		n := copy(q.line, q.line[q.head:])
		clear(q.line[n:])
		q.line, q.head = q.line[:n], 0
	}
	q.line = append(q.line, r)
}

// first is the lowest position. The queue must not be empty.
func (q *queue) first() subjects.Position {
	if q.inLine() {
		return q.line[q.head].First()
	}
	return q.heap[0].first
}

// inLine says whether the lowest position stands in line.
func (q *queue) inLine() bool {
	return q.head < len(q.line) && (len(q.heap) == 0 || q.line[q.head].First() <= q.heap[0].first)
}

// take removes the lowest frame and those that follow it in its run with
// consecutive positions. The queue must not be empty.
func (q *queue) take() frame.Run {
	if q.inLine() {
		return q.takeLine()
	}
	r := q.heap[0].run
	n := r.Consecutive(0)
	if n < r.Len() {
		rest := r.Slice(n, r.Len())
		q.heap[0] = node{rest.First(), rest}
		q.down(0)
		return r.Slice(0, n)
	}
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = node{}
	q.heap = q.heap[:last]
	q.down(0)
	q.rest()
	return r
}

func (q *queue) takeLine() frame.Run {
	r := q.line[q.head]
	n := r.Consecutive(0)
	if n < r.Len() {
		rest := r.Slice(n, r.Len())
		if q.head+1 == len(q.line) || rest.First() <= q.line[q.head+1].First() {
			q.line[q.head] = rest
			return r.Slice(0, n)
		}
		q.heapPush(rest)
	}
	q.line[q.head] = frame.Run{}
	q.head++
	q.rest()
	return r.Slice(0, n)
}

// rest puts an empty queue back to its beginning, and gives back what a flood
// made it grow to.
func (q *queue) rest() {
	if !q.empty() {
		return
	}
	q.line, q.head = q.line[:0], 0
	if cap(q.line) > kept {
		q.line = nil
	}
	if cap(q.heap) > kept {
		q.heap = nil
	}
}

func (q *queue) heapPush(r frame.Run) {
	q.heap = append(q.heap, node{r.First(), r})
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if q.heap[up].first <= q.heap[i].first {
			return
		}
		q.heap[up], q.heap[i] = q.heap[i], q.heap[up]
		i = up
	}
}

// down lets node i sink to its place.
func (q *queue) down(i int) {
	for {
		least, n := 2*i+1, len(q.heap)
		if least >= n {
			return
		}
		if right := least + 1; right < n && q.heap[right].first < q.heap[least].first {
			least = right
		}
		if q.heap[i].first <= q.heap[least].first {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
