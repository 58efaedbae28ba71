// Package server has the handlers of the client and extension API, of ActivityPub documents and inboxes, and of the pages, one file
// a resource. New joins their route tables with those of server/oauth, server/stream and server/staff, and hands them to server/rest.
//
// One rule: a handler binds parameters, calls one operation and renders its result. Operations are in social, admin and federation, the
// JSON in server/entity.
//
// The files by subject:
//
//   - assembly: server.go, setup.go, health.go, probe.go
//   - what handlers share: lookup.go, render.go, filtered_page.go, visibilities.go, negotiate.go
//   - accounts: accounts.go, profile.go, follows.go, blocks.go, move.go, directory.go, featured_tags.go, mascot.go, lists.go,
//     collections.go, suggestions.go
//   - statuses: statuses.go, edits.go, status_actions.go, contexts.go, async_refreshes.go, polls.go, quotes.go, reactions.go, bookmarks.go, scheduled.go,
//     translations.go, language_names.go, interaction_requests.go
//   - timelines and finding: timelines.go, trends.go, search.go, tags.go, filters.go, filters_v1.go
//   - notifications: notifications.go, notification_groups.go, notification_policy.go, announcements.go
//   - messages: conversations.go, chats.go
//   - media and emoji: media.go, emoji_packs.go
//   - data of a user: imports.go, archives.go, exports.go, backups.go, scrobbles.go, reports.go, annual_reports.go
//   - the server itself: instance.go, instance_texts.go, openapi.go
//   - other servers: activitypub.go, activitypub_inbox.go, old_addresses.go, webfinger.go, remote.go
//   - pages and front ends: public_pages.go, interact.go, oembed.go, frontends.go, files.go
package server

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"svc/admin"
	"svc/emoji"
	"svc/federation"
	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/doctor"
	"svc/internal/keys"
	"svc/internal/limit"
	"svc/internal/translate"
	"svc/media"
	"svc/moving"
	"svc/server/entity"
	"svc/server/oauth"
	"svc/server/pages"
	"svc/server/rest"
	"svc/server/staff"
	"svc/server/stream"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// Config is what New needs.
type Config struct {
	Settings   *config.Live
	DB         *store.DB
	Admin      *admin.Service
	Social     *social.Service
	Entities   *entity.Builder
	Emojis     *emoji.Packs
	EmojiPeers *emoji.Remote
	Media      *media.Files
	Archives   *media.Archives // backups of accounts
	Proxy      *media.Proxy
	Budget     *media.Budget // nil: the health check does not show the storage
	StaticDir  string        // the operator's files, which replace those of the program; "": none
	Keys       *keys.Keys
	Federation *federation.Service       // nil: the server does not federate
	Outbound   stream.Outbound           // for push messages
	Translator func() *translate.Service // returns nil if posts are not translated
	Resolve    Resolver                  // nil: uses Federation
	Frontends  *admin.Frontends
	Importer   *moving.Importer
	Imported   *admin.Archives
	Documents  *admin.Documents
	Doctor     func(context.Context) *doctor.Report // runs the checks of svc doctor
	Ready      func() bool                          // whether requests should be sent here
	Metrics    *rest.Metrics                        // nil: requests are not measured
	Memory     *limit.Bytes                         // for large answers; nil: no limit
	Bodies     int64                                // bytes of memory for bodies of requests; 0: 32 MiB
	TempDir    string                               // for uploads during their request; "": the system's
	Now        func() time.Time                     // nil: time.Now
	Log        *slog.Logger                         // nil: discards
	Observe    func(rest.Observation)               // gets the parameters and answers of handlers; nil: none
}

// Server answers all requests. It is an http.Handler; Serve runs it on a listener.
type Server struct {
	*rest.Server
	Streams *stream.Hub
	Push    *stream.Push
	oauth   *oauth.Service
	ui      *pages.Handlers
}

// CacheStats returns the state of the caches by name.
func (s *Server) CacheStats() map[string]cache.Stats {
	stats := s.oauth.CacheStats()
	maps.Copy(stats, s.ui.CacheStats())
	return stats
}

// New returns a server for all routes. It panics if their tables contradict each other.
func New(c Config) *Server {
	p := newParts(c)
	return &Server{
		Streams: p.streams, Push: p.push, oauth: p.oauth, ui: p.ui,
		Server: rest.New(rest.Config{
			Memory:       p.Memory,
			Settings:     p.Settings,
			Authenticate: p.oauth.Authenticate,
			Sessions:     p.oauth.Browsers(p.ui.SignIn),
			ErrorPage:    p.oauth.ErrorPage,
			Fallback:     p.frontends.fallback,
			NotFound:     p.ui.NotFound,
			OldAddress:   (&activityPub{p}).oldAddress,
			TempDir:      p.TempDir,
			Limits:       p.limits,
			Bodies:       p.Bodies,
			Metrics:      p.Metrics,
			Blocked:      p.Social.AccessBlocked,
			Closed:       p.DB.ServerClosed,
			Log:          p.Log,
			Now:          p.Now,
			Observe:      p.Observe,
		}, p.tables()...),
	}
}

// Routes lists all endpoints, sorted by path and method.
func Routes() []rest.RouteInfo {
	return rest.Describe((&parts{ui: pages.New(pages.Config{})}).tables()...)
}

// parts are shared by the resources: the Config of the server, and the values that are made of it once.
type parts struct {
	Config
	oauth        *oauth.Service
	streams      *stream.Hub
	push         *stream.Push
	limits       *rest.Limits
	pages        *web.Pages
	ui           *pages.Handlers
	instance     *entity.Instance
	customEmojis *entity.CustomEmojis
	frontends    *frontends
	lookup       *lookup
	render       *renderer
}

// newParts makes what the resources share.
func newParts(c Config) *parts {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Resolve == nil && c.Federation != nil && c.Settings.Load().Federation.Enabled {
		c.Resolve = resolveRemote(c.Federation)
	}
	p := &parts{
		Config: c, limits: rest.NewLimits(c.Settings.Load().RateLimit), pages: web.NewPages(c.Settings, c.StaticDir),
		instance: entity.NewInstance(c.Entities), customEmojis: &entity.CustomEmojis{Packs: c.Emojis, Settings: c.Settings},
	}
	p.lookup, p.render, p.frontends = &lookup{p}, &renderer{p}, &frontends{parts: p}
	if c.Frontends != nil {
		p.frontends.dir = c.Frontends.Dir()
	}
	p.oauth = oauth.New(oauth.Config{Settings: c.Settings, DB: c.DB, Social: c.Social, Keys: c.Keys, Pages: p.pages, Now: c.Now})
	p.ui = pages.New(pages.Config{
		Settings: c.Settings, OAuth: p.oauth, Entities: c.Entities, Pages: p.pages, Commits: c.DB.Commits, Now: c.Now, Waiting: c.DB.Waiting, Markers: c.DB.Markers,
		Replaced: func(r *http.Request) bool { _, ok := p.frontends.selected(r); return ok },
	})
	p.streams = stream.NewHub(stream.Config{
		Settings: c.Settings, DB: c.DB, Entities: c.Entities, Identities: p.oauth, Limits: p.limits, Log: c.Log, Now: c.Now,
	})
	p.push = stream.NewPush(stream.PushConfig{
		Settings: c.Settings, DB: c.DB, Social: c.Social, Entities: c.Entities, Keys: c.Keys, Outbound: c.Outbound, Log: c.Log, Now: c.Now,
	})
	return p
}

// tables returns the route tables of all resources. They are the same for empty parts.
func (p *parts) tables() []rest.Routes {
	activityPub, statuses, notifications, filters, uploads := &activityPub{p}, &statuses{p}, &notifications{p}, &filters{p}, &uploads{p}
	return slices.Concat(p.oauth.Routes(), p.ui.Routes(), (&staff.Handlers{Settings: p.Settings, Admin: p.Admin, Emojis: p.Emojis, Frontends: p.Frontends, Archives: p.Imported, Documents: p.Documents, Federation: p.Federation, Entities: p.Entities, Media: p.Media, Doctor: p.Doctor}).Routes(), []rest.Routes{
		(&publicPages{p}).routes(),
		p.frontends.routes(),
		activityPub.routes(),
		activityPub.inboxRoutes(),
		activityPub.webFingerRoutes(),
		(&accounts{p}).routes(),
		(&profile{p}).routes(),
		(&follows{p}).routes(),
		(&aliases{p}).routes(),
		(&imports{p}).routes(),
		(&archives{p}).routes(),
		(&exports{p}).routes(),
		(&backups{p}).routes(),
		(&blocks{p}).routes(),
		(&lists{p}).routes(),
		statuses.routes(),
		(&contexts{p}).routes(),
		(&asyncRefreshes{p}).routes(),
		statuses.editRoutes(),
		statuses.actionRoutes(),
		(&polls{p}).routes(),
		(&scheduled{p}).routes(),
		(&conversations{p}).routes(),
		(&oEmbeds{p}).routes(),
		(&interactionRequests{p}).routes(),
		(&collections{p}).routes(),
		(&quotes{p}).routes(),
		(&scrobbles{p}).routes(),
		(&reactions{p}).routes(),
		(&bookmarks{p}).routes(),
		(&timelines{p}).routes(),
		notifications.routes(),
		notifications.groupRoutes(),
		notifications.policyRoutes(),
		(&reports{p}).routes(),
		(&announcements{p}).routes(),
		(&chats{p}).routes(),
		filters.routes(),
		filters.v1Routes(),
		uploads.routes(),
		(&emojiPacks{p}).routes(),
		uploads.mascotRoutes(),
		(&probe{p}).routes(),
		(&files{p}).routes(),
		(&search{p}).routes(),
		(&tags{p}).routes(),
		(&directory{p}).routes(),
		(&suggestions{p}).routes(),
		(&instanceTexts{p}).routes(),
		(&translations{p}).routes(),
		(&featuredTags{p}).routes(),
		(&instance{p}).routes(),
		(&trends{parts: p}).routes(),
		(&annualReports{p}).routes(),
		newAPIDescription(p).routes(),
		(&remoteInteractions{p}).routes(),
		(&interactions{p}).routes(),
		(&setupPage{p}).routes(),
		(&healthChecker{parts: p, startedAt: time.Now()}).routes(),
		p.push.Routes(),
		p.streams.Routes(),
	})
}

// Serve accepts connections on ln until ctx ends. Then it closes the streams and gives pending requests rest.ShutdownTimeout.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	var streams sync.WaitGroup
	streams.Add(1)
	stop := context.AfterFunc(ctx, func() {
		defer streams.Done()
		stopping, cancel := context.WithTimeout(context.Background(), rest.ShutdownTimeout)
		defer cancel()
		s.Streams.Close(stopping)
	})
	err := s.Server.Serve(ctx, ln)
	if !stop() {
		streams.Wait()
	}
	return err
}

// Register registers the jobs of the server.
func (s *Server) Register(w *store.Worker) { s.Push.Register(w) }
