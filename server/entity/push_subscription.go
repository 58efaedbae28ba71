package entity

import (
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
		alerts[r.NotificationType(t)] = store.PushSubscriber{Alerts: p.Alerts}.Wants(t)
	}
	for _, name := range unsentAlerts {
		alerts[name] = false
	}
	return PushSubscription{
		ID: strconv.FormatInt(int64(p.ID), 10), Endpoint: p.Endpoint, Alerts: alerts, ServerKey: r.VAPIDPublicKey,
		Policy: p.Policy, Standard: p.Standard,
	}
}

// unsentAlerts are alerts of the reference for which there are no push messages here. Typed apps require them.
var unsentAlerts = []string{"admin.sign_up", "admin.report"}

// PushAlerts are the types of notifications that can be sent as push messages.
var PushAlerts = store.NotificationTypesWhere(func(k *store.NotificationKind) bool { return k.Alert })
