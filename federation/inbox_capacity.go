package federation

import "svc/store"

// weightOf tells for how many an activity of a length counts.
func weightOf(size int) int { return 1 + size/bytesPerUnit }

// reserve makes room for one more activity of a sender, nil if there is none. The fuller the queue is, the less of it one can have: a host
// as much as is still free, one of its senders half of that.
func (q *queue) reserve(id store.AccountID, host string, weight int) *senderQueue {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.hasCapacity(id, host) {
		return nil
	}
	return q.addWeight(id, host, weight)
}

func (q *queue) hasCapacity(id store.AccountID, host string) bool {
	free := maxQueued - q.total
	if sn := q.senders[id]; free <= 0 || sn != nil && sn.weight >= free/2 {
		return false
	}
	h := q.hosts[host]
	return h == nil || h.weight < free
}

// addWeight counts one more activity of a sender.
func (q *queue) addWeight(id store.AccountID, host string, weight int) *senderQueue {
	sn := q.senders[id]
	if sn == nil {
		h := q.hosts[host]
		if h == nil {
			h = &hostQueue{name: host}
			q.hosts[host] = h
		}
		sn = &senderQueue{id: id, host: h}
		q.senders[id] = sn
	}
	q.total += weight
	sn.weight += weight
	sn.host.weight += weight
	return sn
}

// unreserve gives back what was reserved.
func (q *queue) unreserve(sn *senderQueue, weight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.removeWeight(sn, weight)
}

func (q *queue) removeWeight(sn *senderQueue, weight int) {
	q.total -= weight
	sn.weight -= weight
	if sn.host.weight -= weight; sn.host.weight == 0 {
		delete(q.hosts, sn.host.name)
	}
	if sn.weight == 0 {
		delete(q.senders, sn.id)
	}
}
