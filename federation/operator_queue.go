package federation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// QueueStatus is the state of the queues of deliveries and of incoming activities.
type QueueStatus struct {
	Hosts      []*HostQueue `json:"hosts"`
	Deliveries []*Delivery  `json:"deliveries"` // some, if the query selects them
	Incoming   struct {
		Queued int `json:"queued"`
		Failed int `json:"failed"` // of these, after at least one attempt
		Parked int `json:"parked"`
	} `json:"received"`
	FailedIncoming []*QueuedActivity `json:"failed"` // some, if the query selects them
}

// HostQueue is the queue of deliveries to a host.
type HostQueue struct {
	Host        string     `json:"host"`
	Queued      int        `json:"queued"`
	Parked      int        `json:"parked"`
	Oldest      time.Time  `json:"oldest"`
	NextAttempt *time.Time `json:"next_attempt"` // nil: none
	Attempts    int        `json:"attempts"`     // maximum of all deliveries
	LastError   string     `json:"last_error"`
	Peer        *Peer      `json:"peer"`
}

// Delivery is a queued or parked delivery.
type Delivery struct {
	ID          int64      `json:"id"`
	Host        string     `json:"host"`
	Inbox       string     `json:"inbox"`
	Type        string     `json:"type"` // of the activity
	Activity    string     `json:"activity"`
	Attempts    int        `json:"attempts"`
	QueuedAt    time.Time  `json:"queued"`
	NextAttempt *time.Time `json:"next_attempt"`
	Parked      bool       `json:"parked"`
	LastError   string     `json:"last_error"`
}

// QueuedActivity is an incoming activity that is queued or parked.
type QueuedActivity struct {
	ID          int64      `json:"id"`
	Type        string     `json:"type"`
	Activity    string     `json:"activity"`
	Signer      string     `json:"signer"`
	ReceivedAt  time.Time  `json:"received"`
	Attempts    int        `json:"attempts"`
	NextAttempt *time.Time `json:"next_attempt"`
	Parked      bool       `json:"parked"`
	LastError   string     `json:"last_error"`
}

// QueueQuery selects the deliveries and activities to list.
type QueueQuery struct {
	Host   string `json:"host"`   // deliveries to this host
	Failed bool   `json:"failed"` // parked deliveries, and incoming activities that failed
}

// QueueStatus returns the queued deliveries by host, and the incoming activities that are still queued.
func (o *Operator) QueueStatus(ctx context.Context, q QueueQuery) (*QueueStatus, error) {
	if err := normalizeHost(&q.Host); err != nil {
		return nil, err
	}
	out := &QueueStatus{Hosts: []*HostQueue{}, Deliveries: []*Delivery{}, FailedIncoming: []*QueuedActivity{}}
	state, err := o.db.QueuedActivityCounts(ctx, maxCounted)
	if err != nil {
		return nil, err
	}
	out.Incoming.Queued, out.Incoming.Failed, out.Incoming.Parked = state.Queued, state.Failed, state.Parked
	if out.Hosts, err = o.hostQueues(ctx, q); err != nil {
		return nil, err
	}
	if q.Failed {
		if out.FailedIncoming, err = o.failedActivities(ctx, ""); err != nil {
			return nil, err
		}
	}
	var rows []*store.Delivery
	switch {
	case q.Host != "":
		rows, err = o.db.DeliveriesTo(ctx, q.Host, maxListed)
	case q.Failed:
		rows, err = o.db.ParkedDeliveries(ctx, maxListed)
	}
	if err != nil {
		return nil, err
	}
	if q.Failed {
		rows = slices.DeleteFunc(rows, func(d *store.Delivery) bool { return !d.Parked })
	}
	out.Deliveries, err = o.describeDeliveries(ctx, rows)
	return out, err
}

// normalizeHost normalizes a host that the operator typed. An empty host is allowed.
func normalizeHost(host *string) error {
	if *host == "" {
		return nil
	}
	form := text.NormalizeDomain(*host)
	if form == "" {
		return errs.BadRequest("%q is not a host; give one like example.org", *host)
	}
	*host = form
	return nil
}

// hostQueues returns the queues by host, the longest first.
func (o *Operator) hostQueues(ctx context.Context, q QueueQuery) ([]*HostQueue, error) {
	of := make(map[string]*HostQueue)
	list := []*HostQueue{}
	for _, parked := range []bool{false, true} {
		rows, err := o.db.HostQueues(ctx, parked, "", maxListedHosts)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if q.Host != "" && q.Host != r.Domain || q.Failed && !parked {
				continue
			}
			h := of[r.Domain]
			if h == nil {
				h = &HostQueue{Host: r.Domain, Oldest: r.FirstID.Time()}
				of[r.Domain], list = h, append(list, h)
			}
			if parked {
				h.Parked = r.Count
			} else {
				h.Queued, h.NextAttempt = r.Count, timePointer(&r.RunAt)
			}
			if at := r.FirstID.Time(); at.Before(h.Oldest) {
				h.Oldest = at
			}
			h.Attempts, h.LastError = max(h.Attempts, r.Attempts), cmp.Or(h.LastError, r.LastError)
		}
	}
	slices.SortStableFunc(list, func(a, b *HostQueue) int { return cmp.Compare(b.Queued+b.Parked, a.Queued+a.Parked) })
	list = list[:min(len(list), maxListed)]
	for _, h := range list {
		row, err := o.db.Host(ctx, h.Host)
		if err != nil {
			return nil, err
		}
		h.Peer = o.newPeer(row)
		if h.NextAttempt != nil && h.Peer.BackoffUntil != nil && h.Peer.BackoffUntil.After(*h.NextAttempt) {
			h.NextAttempt = h.Peer.BackoffUntil
		}
	}
	return list, nil
}

// describeDeliveries returns deliveries with the type and id of their activities.
func (o *Operator) describeDeliveries(ctx context.Context, rows []*store.Delivery) ([]*Delivery, error) {
	var ids []store.ActivityID
	for _, d := range rows {
		ids = append(ids, d.ActivityID)
	}
	activities, err := o.db.Activities(ctx, ids)
	if err != nil {
		return nil, err
	}
	bodies := make(map[store.ActivityID]activity.Object)
	for _, a := range activities {
		if bodies[a.ID], err = activity.Parse([]byte(a.Body)); err != nil {
			return nil, err
		}
	}
	list := make([]*Delivery, 0, len(rows))
	for _, d := range rows {
		doc := bodies[d.ActivityID]
		entry := &Delivery{
			ID: int64(d.ID), Host: d.Domain, Inbox: d.Inbox, Type: doc.Type(), Activity: doc.ID(), Attempts: d.Attempts,
			QueuedAt: d.ID.Time(), Parked: d.Parked, LastError: d.LastError,
		}
		if !d.Parked {
			entry.NextAttempt = timePointer(&d.RunAt)
		}
		list = append(list, entry)
	}
	return list, nil
}

// failedActivities lists incoming activities that failed. With substring, it lists all queued ones that contain it.
func (o *Operator) failedActivities(ctx context.Context, substring string) ([]*QueuedActivity, error) {
	rows, err := o.db.FailedQueuedActivities(ctx, substring, maxListed)
	if err != nil {
		return nil, err
	}
	var ids []store.AccountID
	for _, r := range rows {
		ids = append(ids, r.SignerID)
	}
	signers, err := o.db.Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	of := make(map[store.AccountID]string)
	for _, a := range signers {
		of[a.ID] = a.URI
	}
	list := make([]*QueuedActivity, 0, len(rows))
	for _, r := range rows {
		doc, err := activity.Parse([]byte(r.Body))
		if err != nil {
			doc = activity.Object{}
		}
		entry := &QueuedActivity{
			ID: int64(r.ID), Type: doc.Type(), Activity: doc.ID(), Signer: of[r.SignerID], ReceivedAt: r.ReceivedAt.Time(), Attempts: r.Attempts,
			Parked: r.Parked, LastError: r.LastError,
		}
		if !r.Parked {
			entry.NextAttempt = timePointer(&r.RunAt)
		}
		list = append(list, entry)
	}
	return list, nil
}
