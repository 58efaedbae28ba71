package federation

import (
	"context"
	"fmt"
	"slices"

	"svc/internal/errs"
	"svc/store"
)

// RetryQuery selects what to retry or drop, by one of the fields.
type RetryQuery struct {
	Host string `json:"host"` // deliveries to a host, and activities from it
	ID   int64  `json:"id"`   // of a delivery or an incoming activity
	All  bool   `json:"all"`
}

// RetryResult counts the retried or dropped deliveries and activities.
type RetryResult struct {
	Deliveries int `json:"deliveries"`
	Incoming   int `json:"received"`
}

// Retry makes queued and parked deliveries and incoming activities due now. While the server is being closed, the next deliveries are queued at once, too.
func (o *Operator) Retry(ctx context.Context, q RetryQuery) (*RetryResult, error) {
	result, err := o.change(ctx, q, queueChange{
		action: "delivery_retry", done: "retried",
		delivery: func(tx *store.Tx, id store.DeliveryID) (bool, error) {
			domain, err := tx.RetryDelivery(ctx, id)
			return domain != "", err
		},
		host: func(tx *store.Tx, host string) (int, bool, error) { return tx.RetryHost(ctx, host) },
		incoming: func(tx *store.Tx, id store.QueuedActivityID, host string) (int, error) {
			return tx.RetryQueuedActivities(ctx, id, host)
		},
	})
	if err == nil {
		err = o.db.Update(ctx, func(tx *store.Tx) error { return tx.HurryServerClosure(ctx) })
	}
	if err != nil {
		return nil, err
	}
	o.inbox.Reload()
	o.db.WakeDelivery()
	return result, nil
}

// Drop deletes queued and parked deliveries, and parked incoming activities. Those that are being sent may still arrive.
func (o *Operator) Drop(ctx context.Context, q RetryQuery) (*RetryResult, error) {
	return o.change(ctx, q, queueChange{
		action: "delivery_drop", done: "dropped",
		delivery: func(tx *store.Tx, id store.DeliveryID) (bool, error) { return tx.DropDelivery(ctx, id) },
		host:     func(tx *store.Tx, host string) (int, bool, error) { return tx.DropHostDeliveries(ctx, host) },
		incoming: func(tx *store.Tx, id store.QueuedActivityID, host string) (int, error) {
			return tx.DropParkedActivities(ctx, id, host)
		},
	})
}

// queueChange is a change of the queues: what it does with a delivery, with a batch of those for a host, and with an incoming activity, or
// with those of a host if the id is 0.
type queueChange struct {
	action, done string // of the moderation log
	delivery     func(*store.Tx, store.DeliveryID) (bool, error)
	host         func(*store.Tx, string) (n int, more bool, err error)
	incoming     func(*store.Tx, store.QueuedActivityID, string) (int, error)
}

// change runs a change on what a query selects.
func (o *Operator) change(ctx context.Context, q RetryQuery, c queueChange) (*RetryResult, error) {
	if err := normalizeHost(&q.Host); err != nil {
		return nil, err
	}
	result, hosts, what := new(RetryResult), []string{q.Host}, "for "+q.Host
	switch {
	case q.ID != 0:
		return result, o.changeOne(ctx, q.ID, c, result)
	case q.All:
		var err error
		if hosts, err = o.queuedHosts(ctx); err != nil {
			return nil, err
		}
		q.Host, what = "", "for all servers"
	case q.Host == "":
		return nil, errs.BadRequest("Give a host, an id, or all")
	}
	for _, host := range hosts {
		for more := true; more; {
			err := o.db.Update(ctx, func(tx *store.Tx) error {
				n, remaining, err := c.host(tx, host)
				result.Deliveries += n
				more = remaining
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	err := o.db.Update(ctx, func(tx *store.Tx) (err error) {
		if result.Incoming, err = c.incoming(tx, 0, q.Host); err != nil || result.Deliveries+result.Incoming == 0 {
			return err
		}
		return o.record(ctx, tx, c, fmt.Sprintf("deliveries (%d) and incoming activities (%d) %s", result.Deliveries, result.Incoming, what))
	})
	return result, err
}

// changeOne changes the delivery or the incoming activity with an id.
func (o *Operator) changeOne(ctx context.Context, id int64, c queueChange, result *RetryResult) error {
	return o.db.Update(ctx, func(tx *store.Tx) error {
		found, err := c.delivery(tx, store.DeliveryID(id))
		if err != nil {
			return err
		}
		what := "delivery"
		if found {
			result.Deliveries = 1
		} else {
			what = "incoming activity"
			if result.Incoming, err = c.incoming(tx, store.QueuedActivityID(id), ""); err != nil {
				return err
			}
			if result.Incoming == 0 {
				return errs.NotFound("No queued delivery or activity has the id %d", id)
			}
		}
		return o.record(ctx, tx, c, fmt.Sprintf("%s #%d", what, id))
	})
}

// record adds a change to the moderation log.
func (o *Operator) record(ctx context.Context, tx *store.Tx, c queueChange, what string) error {
	return tx.AddLogEntry(ctx, store.NewLogEntry(o.actor, c.action, c.done+" "+what, nil))
}

// queuedHosts returns all hosts with queued or parked deliveries.
func (o *Operator) queuedHosts(ctx context.Context) ([]string, error) {
	var hosts []string
	for _, parked := range []bool{false, true} {
		for after := ""; ; {
			rows, err := o.db.HostQueues(ctx, parked, after, maxListed)
			if err != nil {
				return nil, err
			}
			if len(rows) == 0 {
				break
			}
			for _, r := range rows {
				hosts = append(hosts, r.Domain)
				after = r.Domain
			}
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}
