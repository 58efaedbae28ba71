package federation

import (
	"container/heap"
	"time"
)

// putOff has an activity tried again at a time.
func (q *queue) putOff(it *item, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release(it)
	it.err, it.mark, it.at = nil, 0, at
	heap.Push(&q.later, it)
	q.signal()
}

// signal tells that the next time may be another than was thought.
func (q *queue) signal() {
	select {
	case q.sooner <- struct{}{}:
	default:
	}
}

// ripen gives turns to what is to be tried again by now. It returns when the next is, the zero time if none.
func (q *queue) ripen(now time.Time) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.later) > 0 {
		if q.later[0].at.After(now) {
			return q.later[0].at
		}
		q.addSlow(heap.Pop(&q.later).(*item))
	}
	return time.Time{}
}

// laterHeap has what is to be tried again, the next first.
type laterHeap []*item

func (h laterHeap) Len() int { return len(h) }

func (h laterHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h laterHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i+1, j+1
}

func (h *laterHeap) Push(x any) {
	it := x.(*item)
	*h = append(*h, it)
	it.index = len(*h)
}

func (h *laterHeap) Pop() any {
	old := *h
	it := old[len(old)-1]
	old[len(old)-1], it.index = nil, 0
	*h = old[:len(old)-1]
	return it
}
