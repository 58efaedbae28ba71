package federation

import "svc/store"

// weightOf tells for how many an activity of a length counts.
func weightOf(size int) int { return 1 + size/lengthOfOne }

// reserve makes room for one more activity of a sender, nil if there is none. The fuller the queue is, the less of it one can have: a host
// as much as is still free, one of its senders half of that.
func (q *queue) reserve(id store.AccountID, host string, weight int) *sender {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.hasRoom(id, host) {
		return nil
	}
	return q.count(id, host, weight)
}

func (q *queue) hasRoom(id store.AccountID, host string) bool {
	free := maxWaiting - q.total
	if sn := q.senders[id]; free <= 0 || sn != nil && sn.count >= free/2 {
		return false
	}
	h := q.hosts[host]
	return h == nil || h.count < free
}

// count counts one more activity of a sender.
func (q *queue) count(id store.AccountID, host string, weight int) *sender {
	sn := q.senders[id]
	if sn == nil {
		h := q.hosts[host]
		if h == nil {
			h = &sendingHost{name: host}
			q.hosts[host] = h
		}
		sn = &sender{id: id, host: h}
		q.senders[id] = sn
	}
	q.total += weight
	sn.count += weight
	sn.host.count += weight
	return sn
}

// forgo gives back what was reserved.
func (q *queue) forgo(sn *sender, weight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.uncount(sn, weight)
}

func (q *queue) uncount(sn *sender, weight int) {
	q.total -= weight
	sn.count -= weight
	if sn.host.count -= weight; sn.host.count == 0 {
		delete(q.hosts, sn.host.name)
	}
	if sn.count == 0 {
		delete(q.senders, sn.id)
	}
}
