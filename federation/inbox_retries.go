package federation

import (
	"container/heap"
	"time"
)

// retryLater has an activity tried again at a time.
func (q *queue) retryLater(it *item, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropContent(it)
	it.err, it.seenMark, it.retryAt = nil, 0, at
	heap.Push(&q.retries, it)
	q.signal()
}

// signal tells that the next time may be another than was thought.
func (q *queue) signal() {
	select {
	case q.rescheduled <- struct{}{}:
	default:
	}
}

// scheduleDue gives turns to what is to be tried again by now. It returns when the next is, the zero time if none.
func (q *queue) scheduleDue(now time.Time) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.retries) > 0 {
		if q.retries[0].retryAt.After(now) {
			return q.retries[0].retryAt
		}
		q.addSlow(heap.Pop(&q.retries).(*item))
	}
	return time.Time{}
}

// retryHeap has what is to be tried again, the next first.
type retryHeap []*item

func (h retryHeap) Len() int { return len(h) }

func (h retryHeap) Less(i, j int) bool { return h[i].retryAt.Before(h[j].retryAt) }

func (h retryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i+1, j+1
}

func (h *retryHeap) Push(x any) {
	it := x.(*item)
	*h = append(*h, it)
	it.index = len(*h)
}

func (h *retryHeap) Pop() any {
	old := *h
	it := old[len(old)-1]
	old[len(old)-1], it.index = nil, 0
	*h = old[:len(old)-1]
	return it
}
