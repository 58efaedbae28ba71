// Package staff has the handlers of the admin API. What staff do is decided in admin and federation; the handlers bind, call and
// render.
//
// One rule: every route has rest.Privileged or rest.Admin access with an admin scope, and calls admin.Service.As the viewer for what changes
// something. There is one table and one file a resource.
package staff

import (
	"svc/admin"
	"svc/emoji"
	"svc/federation"
	"svc/server/rest"
)

// Handlers serve the admin API.
type Handlers struct {
	Admin      *admin.Service
	Emojis     *emoji.Packs
	Federation *federation.Service // nil: federation is disabled
}

// Routes returns the tables of all resources.
func (h *Handlers) Routes() []rest.Routes {
	return []rest.Routes{
		h.relayRoutes(),
		h.moderationLogRoutes(),
		h.emojiRoutes(),
		h.settingRoutes(),
	}
}
