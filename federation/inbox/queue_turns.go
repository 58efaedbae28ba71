package inbox

import (
	"slices"
	"time"
)

// maxTurnWait is how long the sender of an activity waits for its turn before the activity is stored.
const maxTurnWait = time.Second

// addTurn puts an activity that is not in the database behind the earlier ones of its sender. The request that brought it processes it when
// its turn comes. That is cheaper than storing it, passing it to a worker and deleting it.
func (q *queue) addTurn(a *Activity) {
	a.turn = make(chan bool, 1)
	q.turns++
	a.sender.waiting = append(a.sender.waiting, a)
	q.schedule(a.sender)
}

// giveTurn begins an activity that waited for its turn and was taken out of its sender's queue. If it shares its object with a slow one, it has to
// be stored instead.
func (q *queue) giveTurn(a *Activity) {
	q.turns--
	s := a.sender
	if !slices.ContainsFunc(s.slow, a.sharesRef) {
		a.turn <- true
		return
	}
	q.release(a)
	a.turn <- false
	s.busy = false
	q.schedule(s)
}

// waitForTurn waits until an activity is to be processed. It returns false if the activity has to be stored.
func (q *queue) waitForTurn(a *Activity) bool {
	if a.turn == nil {
		return true
	}
	defer func() { a.turn = nil }()
	timer := time.NewTimer(maxTurnWait)
	defer timer.Stop()
	select {
	case begin := <-a.turn:
		return begin
	case <-timer.C:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	s := a.sender
	i := slices.Index(s.waiting, a)
	if i < 0 { // its turn has come meanwhile
		return <-a.turn
	}
	q.turns--
	s.waiting = slices.Delete(s.waiting, i, i+1)
	if s.scheduled && len(s.waiting) == 0 {
		q.unschedule(s)
	}
	q.release(a)
	return false
}

// unschedule takes back the turn of a sender.
func (q *queue) unschedule(s *senderQueue) {
	s.scheduled = false
	s.host.ready = slices.DeleteFunc(s.host.ready, func(other *senderQueue) bool { return other == s })
	if len(s.host.ready) == 0 {
		q.fast = slices.DeleteFunc(q.fast, func(h *hostQueue) bool { return h == s.host })
	}
}

// release gives back what start has taken for an activity that is not processed.
func (q *queue) release(a *Activity) {
	q.bytes -= len(a.Row.Body)
	q.removeWeight(a.sender, a.weight)
}
