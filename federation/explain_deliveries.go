package federation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"svc/internal/activity"
	"svc/store"
)

// States of the delivery of a post to a host.
const (
	deliveryQueued      = "queued"
	deliveryParked      = "parked"
	deliveryRefused     = "refused"   // and not repeated
	deliveryDone        = "delivered" // it was queued, and nothing is left of it
	deliveryPending     = "not queued yet"
	deliveryLater       = "followed later"              // the post was not sent, because all recipients there followed after it
	deliveryUnreachable = "dropped: unreachable"        // the host did not answer before the post, nor since
	deliveryUnknown     = "not known any more"          // results of deliveries are kept for a week only
	deliveryUncertain   = "delivered or followed later" // the author approves followers, and when is not stored
)

// PostRecipient is a host that a local post is for, and the state of its deliveries there.
type PostRecipient struct {
	Host      string      `json:"host"`
	State     string      `json:"state"`
	LastError string      `json:"last_error"`
	Queued    []*Delivery `json:"queued"` // also of edits
}

// rank sorts hosts that the post did not reach before others.
func (r *PostRecipient) rank() int {
	switch r.State {
	case deliveryRefused, deliveryParked:
		return 0
	case deliveryDone:
		return 2
	}
	return 1
}

// hostAddress returns the address of a host that was given without a scheme, and whether an address has no path: it is about the host.
func hostAddress(address string) (string, bool) {
	if strings.ContainsAny(address, ".:") && !strings.ContainsAny(address, "@/") {
		address = "https://" + address + "/"
	}
	u, err := url.Parse(address)
	return address, err == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == ""
}

// explainDeliveries adds what waits for a host.
func (o *Operator) explainDeliveries(ctx context.Context, e *Explanation) error {
	rows, err := o.db.DeliveriesTo(ctx, e.Host, maxListed)
	if err != nil {
		return err
	}
	e.Deliveries, err = o.describeDeliveries(ctx, rows)
	return err
}

// explainRecipients adds the hosts that a local post is for, and those with deliveries of it, with their states.
func (o *Operator) explainRecipients(ctx context.Context, e *Explanation, st *store.Status) error {
	if !st.Federated() {
		return nil
	}
	hosts := make(map[string]*PostRecipient)
	add := func(host string) *PostRecipient {
		if hosts[host] == nil {
			hosts[host] = &PostRecipient{Host: host, Queued: []*Delivery{}}
		}
		return hosts[host]
	}
	if err := o.addAudience(ctx, st, func(host string) *PostRecipient {
		if hosts[host] == nil && len(hosts) >= maxListedHosts {
			return nil
		}
		return add(host)
	}); err != nil {
		return err
	}
	rows, err := o.db.DeliveriesAbout(ctx, int64(st.ID), maxListedHosts)
	if err != nil {
		return err
	}
	deliveries, err := o.describeDeliveries(ctx, rows)
	if err != nil {
		return err
	}
	for _, d := range deliveries {
		to := add(d.Host)
		to.Queued = append(to.Queued, d)
		if to.State != deliveryQueued {
			to.State = map[bool]string{true: deliveryParked, false: deliveryQueued}[d.Parked]
		}
		if d.LastError != "" {
			to.LastError = d.LastError
		}
	}
	refusals, err := o.db.Refusals(ctx, st.URI)
	if err != nil {
		return err
	}
	for _, r := range refusals { // the latest first
		if r.URI != st.URI {
			continue // of an activity about it
		}
		if to := add(r.Domain); to.State != deliveryQueued && to.State != deliveryParked {
			to.State, to.LastError = deliveryRefused, r.Reason
		}
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		e.Recipients = append(e.Recipients, hosts[host])
	}
	slices.SortStableFunc(e.Recipients, func(a, b *PostRecipient) int { return cmp.Compare(a.rank(), b.rank()) })
	return nil
}

// addAudience adds the hosts of a post's audience, with what is known if nothing is queued for them. A result is not stored: a delivery
// that succeeded is deleted. So the state follows from what else is stored.
func (o *Operator) addAudience(ctx context.Context, st *store.Status, add func(host string) *PostRecipient) error {
	outbox := &Outbox{db: o.db}
	named, followers, early, err := outbox.explainedAudience(ctx, st)
	if err != nil {
		return err
	}
	author, err := o.db.Account(ctx, st.AccountID)
	if err != nil {
		return err
	}
	pending, err := o.db.IsPublishing(ctx, st.ID)
	if err != nil {
		return err
	}
	since, err := o.UnreachableHosts(ctx)
	if err != nil {
		return err
	}
	set := func(inboxes []string, state string) {
		for _, inbox := range inboxes {
			host, err := activity.Host(inbox, o.Settings.AllowLoopback)
			if err != nil {
				continue
			}
			to := add(host)
			if to == nil {
				return
			}
			to.State = state
			unreachable, ok := since[host]
			switch {
			case pending:
				to.State = deliveryPending
			case state == deliveryLater:
			case ok && unreachable <= st.CreatedAt:
				to.State = deliveryUnreachable
			case o.db.Now().Sub(st.ID.Time()) > store.DeliveryResultTTL:
				to.State = deliveryUnknown
			}
		}
	}
	followed := deliveryDone
	if author.Locked {
		followed = deliveryUncertain
	}
	set(followers, deliveryLater)
	set(early, followed)
	set(named, deliveryDone)
	return nil
}

// incomingState says what became of an activity with one of the ids, or about it.
func (e *Explanation) incomingState(names []string) string {
	for _, r := range e.Refusals {
		if slices.Contains(names, r.Activity) || !e.Seen && e.Status == nil && e.Account == nil {
			return "refused: " + r.Reason
		}
	}
	switch {
	case len(e.Queued) > 0 && e.Queued[0].Parked:
		return fmt.Sprintf("failed after %d attempts: %s", e.Queued[0].Attempts, e.Queued[0].LastError)
	case len(e.Queued) > 0:
		return "queued"
	case e.Seen, e.Status != nil:
		return "accepted"
	}
	return "not seen"
}
