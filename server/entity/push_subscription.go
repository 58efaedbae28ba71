package entity

import (
	"cmp"
	"strconv"

	"svc/store"
)

// PushSubscription is a subscription to push messages, for its owner.
type PushSubscription struct {
	ID        string           `json:"id"`
	Endpoint  string           `json:"endpoint"`
	Alerts    map[string]bool  `json:"alerts"`
	ServerKey string           `json:"server_key"`
	Policy    store.PushPolicy `json:"policy"`
	Standard  bool             `json:"standard"`
}

// PushSubscription renders a subscription. It lists all alerts, on and off, because clients expect them.
func (r *renderer) PushSubscription(p *store.PushSubscription) PushSubscription {
	alerts := make(map[string]bool)
	for _, t := range PushAlerts {
		alerts[r.AlertName(t)] = store.PushSubscriber{Alerts: p.Alerts}.Wants(t)
	}
	return PushSubscription{
		ID: strconv.FormatInt(int64(p.ID), 10), Endpoint: p.Endpoint, Alerts: alerts, ServerKey: r.VAPIDPublicKey,
		Policy: p.Policy, Standard: p.Standard,
	}
}

// AlertName returns the name by which push subscriptions ask for a type of notifications.
func (r *renderer) AlertName(t store.NotificationType) string {
	return cmp.Or(t.Kind().AlertName, r.NotificationType(t))
}

// PushAlerts are the types of notifications that can be sent as push messages.
var PushAlerts = store.NotificationTypesWhere(func(k *store.NotificationKind) bool { return k.Alert })
