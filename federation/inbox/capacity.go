package inbox

import "svc/store"

// weightOf returns for how many an activity with a body of a size counts.
func weightOf(size int) int { return 1 + size/bytesPerUnit }

// reserve reserves weight for an activity, and returns nil if the queue is full. The fuller the queue is, the smaller the shares: a host can have as
// much as is free, a sender half of that.
func (q *queue) reserve(sender store.AccountID, host string, weight int) *senderQueue {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.hasCapacity(sender, host) {
		return nil
	}
	return q.addWeight(sender, host, weight)
}

func (q *queue) hasCapacity(sender store.AccountID, host string) bool {
	free := maxQueued - q.weight
	if s := q.senders[sender]; free <= 0 || s != nil && s.weight >= free/2 {
		return false
	}
	h := q.hosts[host]
	return h == nil || h.weight < free
}

func (q *queue) addWeight(sender store.AccountID, host string, weight int) *senderQueue {
	s := q.senders[sender]
	if s == nil {
		h := q.hosts[host]
		if h == nil {
			h = &hostQueue{name: host}
			q.hosts[host] = h
		}
		s = &senderQueue{id: sender, host: h}
		q.senders[sender] = s
	}
	q.weight += weight
	s.weight += weight
	s.host.weight += weight
	return s
}

// unreserve gives back what reserve has reserved.
func (q *queue) unreserve(s *senderQueue, weight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.removeWeight(s, weight)
}

func (q *queue) removeWeight(s *senderQueue, weight int) {
	q.weight -= weight
	s.weight -= weight
	if s.host.weight -= weight; s.host.weight == 0 {
		delete(q.hosts, s.host.name)
	}
	if s.weight == 0 {
		delete(q.senders, s.id)
	}
}
