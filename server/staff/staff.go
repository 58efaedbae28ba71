// Package staff has the handlers of the admin API. What staff do is decided in admin and federation; the handlers bind, call and
// render.
//
// One rule: every route has rest.Privileged or rest.Admin access with an admin scope, and calls admin.Service.As the viewer for what changes
// something. There is one table and one file a resource.
package staff

import (
	"context"
	"sync"

	"svc/admin"
	"svc/emoji"
	"svc/federation"
	"svc/internal/config"
	"svc/internal/doctor"
	"svc/internal/errs"
	"svc/media"
	"svc/server/entity"
	"svc/server/rest"
)

// Handlers serve the admin API.
type Handlers struct {
	Settings   *config.Live
	Admin      *admin.Service
	Emojis     *emoji.Packs
	Frontends  *admin.Frontends
	Archives   *admin.Archives
	Documents  *admin.Documents
	Entities   *entity.Builder
	Media      *media.Files
	Federation *federation.Service // nil: federation is disabled
	Doctor     func(context.Context) *doctor.Report

	examining sync.Mutex // held while Doctor runs
}

// Routes returns the tables of all resources.
func (h *Handlers) Routes() []rest.Routes {
	return []rest.Routes{
		h.relayRoutes(),
		h.moderationLogRoutes(),
		h.emojiRoutes(),
		h.frontendRoutes(),
		h.archiveRoutes(),
		h.settingRoutes(),
		h.userRoutes(),
		h.userStateRoutes(),
		h.roleRoutes(),
		h.credentialRoutes(),
		h.inviteRoutes(),
		h.mediaProxyRoutes(),
		h.appRoutes(),
		h.instanceRoutes(),
		h.announcementRoutes(),
		h.ruleRoutes(),
		h.statusRoutes(),
		h.chatRoutes(),
		h.reportRoutes(),
		h.documentRoutes(),
		h.referenceAccountRoutes(),
		h.referenceReportRoutes(),
		h.domainBlockRoutes(),
		h.accessBlockRoutes(),
		h.measureRoutes(),
		h.jobRoutes(),
		h.deliveryRoutes(),
		h.serverRoutes(),
	}
}

// as returns the operations for the viewer.
func (h *Handlers) as(r *rest.Request) *admin.Service { return h.Admin.As(r.Viewer) }

// compatible returns true if the server presents itself as another product of the family. Front ends of that product expect an object in
// place of some lists of the specification.
func (h *Handlers) compatible() bool { return h.Settings.Load().API.Compatible != "" }

var errNotFound = errs.NotFound("Not found")

// notFound replaces a 404, whose text is for commands.
func notFound(err error) error {
	if errs.IsNotFound(err) {
		return errNotFound
	}
	return err
}
