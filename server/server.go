// Package server has the handlers of the client and extension API, of ActivityPub documents and inboxes, and of the pages, one file
// a resource. New joins their route tables with those of server/oauth, server/stream and server/staff, and hands them to server/rest.
//
// One rule: a handler binds parameters, calls one operation and renders its result. Operations are in social, admin and federation, the
// JSON in server/entity.
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
	Documents  *admin.Documents
	Doctor     func(context.Context) *doctor.Report // runs the checks of svc doctor
	Metrics    *rest.Metrics                        // nil: requests are not measured
	Memory     *limit.Bytes                         // for large answers; nil: no limit
	Bodies     int64                                // bytes of memory for bodies of requests; 0: 32 MiB
	TempDir    string                               // for uploads during their request; "": the system's
	Now        func() time.Time                     // nil: time.Now
	Log        *slog.Logger                         // nil: discards
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
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Resolve == nil && c.Federation != nil && c.Settings.Load().Federation.Enabled {
		c.Resolve = resolveRemote(c.Federation)
	}
	s := new(Server)
	p := parts{Config: c, pages: web.NewPages(c.Settings, c.StaticDir), health: newHealthChecker(c.DB, c.Budget, c.Admin, c.Log)}
	p.oauth = oauth.New(oauth.Config{Settings: c.Settings, DB: c.DB, Social: c.Social, Keys: c.Keys, Pages: p.pages, Now: c.Now})
	p.instance = entity.NewInstance(c.Entities)
	p.ui = pages.New(pages.Config{
		Settings: c.Settings, OAuth: p.oauth, Entities: c.Entities, Pages: p.pages, Commits: c.DB.Commits, Now: c.Now,
		Replaced: func(r *http.Request) bool { _, ok := p.frontends().selected(r); return ok },
	})
	limits := rest.NewLimits(c.Settings.Load().RateLimit)
	s.Streams = stream.NewHub(stream.Config{
		Settings: c.Settings, DB: c.DB, Entities: c.Entities, Identities: p.oauth, Limits: limits, Log: c.Log, Now: c.Now,
	})
	s.Push = stream.NewPush(stream.PushConfig{
		Settings: c.Settings, DB: c.DB, Social: c.Social, Entities: c.Entities, Keys: c.Keys, Outbound: c.Outbound, Log: c.Log, Now: c.Now,
	})
	p.streams, p.push, s.oauth, s.ui = s.Streams, s.Push, p.oauth, p.ui
	s.Server = rest.New(rest.Config{
		Memory:       c.Memory,
		Settings:     c.Settings,
		Authenticate: p.oauth.Authenticate,
		Sessions:     p.oauth.Browsers(p.ui.SignIn),
		ErrorPage:    p.oauth.ErrorPage,
		Fallback:     p.frontends().fallback,
		TempDir:      c.TempDir,
		Limits:       limits,
		Bodies:       c.Bodies,
		Metrics:      c.Metrics,
		Blocked:      c.Social.AccessBlocked,
		Log:          c.Log,
		Now:          c.Now,
	}, p.tables()...)
	return s
}

// Routes lists all endpoints, sorted by path and method.
func Routes() []rest.RouteInfo {
	return rest.Describe(parts{ui: pages.New(pages.Config{})}.tables()...)
}

// parts is what New hands to the resources.
type parts struct {
	Config
	oauth    *oauth.Service
	streams  *stream.Hub
	push     *stream.Push
	pages    *web.Pages
	ui       *pages.Handlers
	health   *healthChecker
	instance *entity.Instance
}

func (c parts) frontends() *frontends {
	h := &frontends{settings: c.Settings, oauth: c.oauth}
	if c.Frontends != nil {
		h.dir = c.Frontends.Dir()
	}
	return h
}

// tables returns the route tables of all resources. They are the same for empty parts.
func (c parts) tables() []rest.Routes {
	lookup := &lookup{settings: c.Settings, db: c.DB, federation: c.Federation, resolve: c.Resolve}
	render := &renderer{db: c.DB, entities: c.Entities}
	activityPub := &activityPub{settings: c.Settings, db: c.DB, federation: c.Federation, oauth: c.oauth, lookup: lookup}
	statuses := &statuses{db: c.DB, social: c.Social, admin: c.Admin, entities: c.Entities, lookup: lookup, render: render}
	notifications := &notifications{db: c.DB, social: c.Social, entities: c.Entities, lookup: lookup}
	emojis := &entity.CustomEmojis{Packs: c.Emojis, Settings: c.Settings}
	uploads := &uploads{db: c.DB, social: c.Social, entities: c.Entities, emojis: c.Emojis, media: c.Media, proxy: c.Proxy}
	packs := &emojiPacks{admin: c.Admin, packs: c.Emojis, remote: c.EmojiPeers}
	filters := &filters{db: c.DB, social: c.Social}
	frontends := c.frontends()
	return slices.Concat(c.oauth.Routes(), c.ui.Routes(), (&staff.Handlers{Settings: c.Settings, Admin: c.Admin, Emojis: c.Emojis, Frontends: c.Frontends, Documents: c.Documents, Federation: c.Federation, Entities: c.Entities, Media: c.Media, Doctor: c.Doctor}).Routes(), []rest.Routes{
		(&publicPages{frontends: frontends, documents: activityPub, ui: c.ui}).routes(),
		frontends.routes(),
		activityPub.routes(),
		activityPub.inboxRoutes(),
		activityPub.webFingerRoutes(),
		(&accounts{db: c.DB, social: c.Social, entities: c.Entities, lookup: lookup, render: render}).routes(),
		(&profile{db: c.DB, settings: c.Settings, social: c.Social, entities: c.Entities, media: c.Media, keys: c.Keys, render: render, now: c.Now}).routes(),
		(&follows{db: c.DB, social: c.Social, entities: c.Entities, lookup: lookup, render: render}).routes(),
		(&aliases{settings: c.Settings, db: c.DB, social: c.Social, federation: c.Federation, oauth: c.oauth, lookup: lookup}).routes(),
		(&imports{db: c.DB, social: c.Social}).routes(),
		(&exports{social: c.Social}).routes(),
		(&backups{social: c.Social, archives: c.Archives}).routes(),
		(&blocks{db: c.DB, social: c.Social, render: render}).routes(),
		(&lists{db: c.DB, social: c.Social, render: render}).routes(),
		statuses.routes(),
		(&contexts{db: c.DB, entities: c.Entities, lookup: lookup}).routes(),
		statuses.editRoutes(),
		statuses.actionRoutes(),
		(&polls{db: c.DB, social: c.Social, entities: c.Entities, lookup: lookup}).routes(),
		(&scheduled{db: c.DB, social: c.Social, entities: c.Entities}).routes(),
		(&conversations{db: c.DB, social: c.Social, entities: c.Entities, render: render}).routes(),
		(&oEmbeds{settings: c.Settings, db: c.DB}).routes(),
		(&interactionRequests{db: c.DB, social: c.Social, entities: c.Entities}).routes(),
		(&quotes{db: c.DB, social: c.Social, lookup: lookup, render: render}).routes(),
		(&scrobbles{db: c.DB, social: c.Social, entities: c.Entities, lookup: lookup}).routes(),
		(&reactions{settings: c.Settings, social: c.Social, entities: c.Entities, emojis: c.Emojis, lookup: lookup, render: render}).routes(),
		(&bookmarks{db: c.DB, social: c.Social, entities: c.Entities, emojis: c.Emojis, render: render}).routes(),
		(&timelines{settings: c.Settings, db: c.DB, entities: c.Entities, lookup: lookup, render: render}).routes(),
		notifications.routes(),
		notifications.groupRoutes(),
		notifications.policyRoutes(),
		(&reports{social: c.Social, entities: c.Entities}).routes(),
		(&announcements{social: c.Social, entities: c.Entities}).routes(),
		(&chats{db: c.DB, social: c.Social, entities: c.Entities}).routes(),
		filters.routes(),
		filters.v1Routes(),
		uploads.routes(),
		packs.routes(),
		uploads.mascotRoutes(),
		(&probe{settings: c.Settings, keys: c.Keys, federation: c.Federation, now: c.Now}).routes(),
		(&files{settings: c.Settings, staticDir: c.StaticDir, frontends: frontends}).routes(),
		(&search{settings: c.Settings, db: c.DB, entities: c.Entities, resolve: c.Resolve, lookup: lookup, render: render}).routes(),
		(&tags{db: c.DB, social: c.Social, entities: c.Entities}).routes(),
		(&directory{settings: c.Settings, db: c.DB, entities: c.Entities, render: render}).routes(),
		(&instanceTexts{settings: c.Settings, staticDir: c.StaticDir}).routes(),
		(&translations{db: c.DB, settings: c.Settings, entities: c.Entities, lookup: lookup, translator: c.Translator}).routes(),
		(&featuredTags{db: c.DB, social: c.Social, entities: c.Entities, lookup: lookup}).routes(),
		(&instance{federation: c.Federation, settings: c.Settings, documents: c.instance, emojis: emojis, lookup: lookup}).routes(),
		(&remoteInteractions{settings: c.Settings, db: c.DB, federation: c.Federation, oauth: c.oauth, lookup: lookup, log: c.Log}).routes(),
		(&interactions{settings: c.Settings, db: c.DB, social: c.Social, entities: c.Entities, oauth: c.oauth, pages: c.pages, resolve: c.Resolve, lookup: lookup}).routes(),
		(&setupPage{db: c.DB, social: c.Social, oauth: c.oauth, keys: c.Keys}).routes(),
		c.health.routes(),
		c.push.Routes(),
		c.streams.Routes(),
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
