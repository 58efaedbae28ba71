package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"svc/admin"
	"svc/emoji"
	"svc/federation"
	"svc/internal/config"
	"svc/internal/keys"
	"svc/media"
	"svc/server/entity"
	"svc/server/oauth"
	"svc/server/rest"
	"svc/server/staff"
	"svc/server/stream"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// Config is what a Server is made of.
type Config struct {
	Settings   *config.Config
	DB         *store.DB
	Admin      *admin.Service
	Social     *social.Service
	Entities   *entity.Builder
	Emojis     *emoji.Packs
	Media      *media.Files
	Proxy      *media.Proxy
	StaticDir  string // the operator's own files, served in place of those that come with the server; "": none
	Keys       *keys.Keys
	Federation *federation.Service // nil: there are no dealings with other servers
	Outbound   stream.Outbound     // for push messages
	Resolve    Resolver            // nil: Federation is asked
	Fallback   http.Handler        // answers what no route does outside of /api/; nil: a 404 in JSON
	TempDir    string              // for uploads while their request lasts; "": the system's
	Now        func() time.Time    // nil: time.Now
	Log        *slog.Logger        // nil: nothing is logged
}

// Server answers all requests. It is an http.Handler; Serve runs it on a listener.
type Server struct {
	*rest.Server
	Streams *stream.Hub
	Push    *stream.Push

	settings   *config.Config
	db         *store.DB
	social     *social.Service
	entities   *entity.Builder
	emojis     *emoji.Packs
	media      *media.Files
	proxy      *media.Proxy
	staticDir  string
	health     *healthChecker
	keys       *keys.Keys
	federation *federation.Service
	oauth      *oauth.Service
	staff      *staff.Handlers
	resolve    Resolver
	pages      *web.Pages
	log        *slog.Logger
	now        func() time.Time
	baseURL    string
	fallback   http.Handler
}

// New returns a server for all routes. It panics if their tables contradict each other.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Server{
		settings:   c.Settings,
		db:         c.DB,
		social:     c.Social,
		entities:   c.Entities,
		emojis:     c.Emojis,
		media:      c.Media,
		proxy:      c.Proxy,
		staticDir:  c.StaticDir,
		health:     newHealthChecker(c.DB, c.Log),
		keys:       c.Keys,
		federation: c.Federation,
		resolve:    c.Resolve,
		pages:      web.NewPages(c.Settings),
		log:        c.Log,
		now:        c.Now,
		baseURL:    c.Settings.URL().String(),
		fallback:   c.Fallback,
	}
	s.staff = &staff.Handlers{Admin: c.Admin, Federation: c.Federation}
	now := func() time.Time { return s.now() }
	s.oauth = oauth.New(oauth.Config{Settings: c.Settings, DB: c.DB, Social: c.Social, Keys: c.Keys, Pages: s.pages, Now: now})
	limits := rest.NewLimits(c.Settings.RateLimit)
	s.Streams = stream.NewHub(stream.Config{
		Settings: c.Settings, DB: c.DB, Entities: c.Entities, Identities: s.oauth, Limits: limits, Log: c.Log, Now: now,
	})
	s.Push = stream.NewPush(stream.PushConfig{
		Settings: c.Settings, DB: c.DB, Social: c.Social, Entities: c.Entities, Keys: c.Keys, Outbound: c.Outbound, Log: c.Log, Now: now,
	})
	if s.resolve == nil && s.federates() {
		s.resolve = s.resolveRemote
	}
	s.Server = rest.New(rest.Config{
		Settings:     c.Settings,
		Authenticate: s.oauth.Authenticate,
		ErrorPage:    s.pages.Error,
		Fallback:     c.Fallback,
		TempDir:      c.TempDir,
		Limits:       limits,
		Log:          c.Log,
		Now:          c.Now,
	}, s.tables()...)
	return s
}

// Routes lists all endpoints, sorted by path and method.
func Routes() []rest.RouteInfo { return rest.Describe(new(Server).tables()...) }

// tables returns the route tables of all resources. Each stands at the top of the file that has its handlers. They are the same
// for the zero Server.
func (s *Server) tables() []rest.Routes {
	return append(append(s.oauth.Routes(), s.staff.Routes()...), []rest.Routes{
		s.pageRoutes(),
		s.publicRoutes(),
		s.activityRoutes(),
		s.inboxRoutes(),
		s.webFingerRoutes(),
		s.accountRoutes(),
		s.profileRoutes(),
		s.settingsRoutes(),
		s.birthdayRoutes(),
		s.followRoutes(),
		s.endorsementRoutes(),
		s.moveRoutes(),
		s.blockRoutes(),
		s.listRoutes(),
		s.statusRoutes(),
		s.editRoutes(),
		s.pollRoutes(),
		s.scheduledRoutes(),
		s.threadRoutes(),
		s.conversationRoutes(),
		s.oembedRoutes(),
		s.reblogRoutes(),
		s.quoteRoutes(),
		s.scrobbleRoutes(),
		s.favouriteRoutes(),
		s.reactionRoutes(),
		s.bookmarkRoutes(),
		s.pinRoutes(),
		s.timelineRoutes(),
		s.notificationRoutes(),
		s.reportRoutes(),
		s.announcementRoutes(),
		s.chatRoutes(),
		s.filterRoutes(),
		s.filterV1Routes(),
		s.Push.Routes(),
		s.Streams.Routes(),
		s.mediaRoutes(),
		s.fileRoutes(),
		s.searchRoutes(),
		s.tagRoutes(),
		s.instanceRoutes(),
		s.federationStatusRoutes(),
		s.remoteRoutes(),
		s.interactRoutes(),
		s.healthRoutes(),
		s.setupRoutes(),
	}...)
}

// Serve answers what comes in on ln until ctx ends. Then it takes no new requests, closes the streams, and gives the requests under
// way some seconds.
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
