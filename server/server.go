package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"svc/emoji"
	"svc/federation"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/keys"
	"svc/internal/password"
	"svc/media"
	"svc/server/entity"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// Config is what a Server is made of.
type Config struct {
	Settings     *config.Config
	DB           *store.DB
	Social       *social.Service
	Entities     *entity.Builder
	Emojis       *emoji.Packs
	Media        *media.Files
	Proxy        *media.Proxy
	StaticDir    string // the operator's own files, served in place of those that come with the server; "": none
	Keys         *keys.Keys
	Federation   *federation.Service // nil: there are no dealings with other servers
	Outbound     Outbound            // what requests to others go through; needed for push messages only
	Authenticate Authenticator       // nil: by the tokens and passwords in DB
	Resolve      Resolver            // nil: Federation is asked
	Fallback     http.Handler        // answers what no route does outside of /api/; nil: a 404 in JSON
	TempDir      string              // for uploads while their request lasts; "": the system's
	Log          *slog.Logger        // nil: nothing is logged
}

// Outbound sends requests to other servers. It does not connect to addresses that are not public, and follows no redirects.
type Outbound interface {
	Do(*http.Request) (*http.Response, error)
}

// Server answers requests. It is an http.Handler; Serve runs it on a listener.
type Server struct {
	settings           *config.Config
	db                 *store.DB
	social             *social.Service
	entities           *entity.Builder
	emojis             *emoji.Packs
	media              *media.Files
	proxy              *media.Proxy
	staticDir          string
	health             *healthChecker
	keys               *keys.Keys
	federation         *federation.Service
	outbound           Outbound
	pushHostBackoff    backoffs // of push services
	pushAccountBackoff backoffs
	slowPush           time.Duration
	passwords          *password.Hasher
	identities         *identityCache
	hub                *hub
	passwordCache      *passwordCache
	authenticate       Authenticator
	resolve            Resolver
	fallback           http.Handler
	tempDir            string
	log                *slog.Logger
	now                func() time.Time

	baseURL     string
	pagePolicy  string
	proxies     []netip.Prefix
	cookieNames []string
	paramAlias  string // NAME_ where the interface is not called svc
	router      *router
	buckets     map[string]*bucket
	windows     *windows
}

// New returns a server for all routes. It panics if their tables contradict each other.
func New(c Config) *Server { return newServer(c, allRoutes()) }

func newServer(c Config, tables []routes) *Server {
	name := c.Settings.API.Name
	s := &Server{
		settings:           c.Settings,
		db:                 c.DB,
		social:             c.Social,
		entities:           c.Entities,
		emojis:             c.Emojis,
		media:              c.Media,
		proxy:              c.Proxy,
		staticDir:          c.StaticDir,
		keys:               c.Keys,
		federation:         c.Federation,
		outbound:           c.Outbound,
		pushHostBackoff:    newBackoffs(maxHostBackoff),
		pushAccountBackoff: newBackoffs(maxAccountBackoff),
		slowPush:           slowPush,
		authenticate:       c.Authenticate,
		resolve:            c.Resolve,
		fallback:           c.Fallback,
		tempDir:            c.TempDir,
		log:                c.Log,
		now:                time.Now,
		baseURL:            c.Settings.URL().String(),
		pagePolicy:         web.Policy(mediaSources(c.Settings)...),
		proxies:            c.Settings.TrustedProxies(),
		cookieNames:        sessionCookies(name),
		buckets:            buckets(c.Settings.RateLimit),
		windows:            newWindows(),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.health = newHealthChecker(c.DB, s.log)
	if c.Social != nil {
		s.passwords = c.Social.Passwords
	}
	if c.DB != nil && c.Authenticate == nil {
		s.identities = newIdentityCache(c.DB)
		s.hub = newHub(s) // after the identities: what was revoked is forgotten by the time it hears of it
		s.passwordCache = newPasswordCache()
		s.authenticate = s.authenticateFromDB
	}
	if s.resolve == nil && s.federates() {
		s.resolve = s.resolveRemote
	}
	if name != standardName {
		s.paramAlias = name + "_"
	}
	list := endpoints(tables)
	checkLimits(list, s.buckets)
	s.router = newRouter(list, s.serve)
	return s
}

// notFoundEndpoint answers what nothing else does, elsewhere what the fallback does.
var (
	notFoundEndpoint = &endpoint{path: "unknown", route: route{anonymous, func(*Server, *Request) (any, error) {
		return nil, errs.ErrRecordNotFound
	}}}
	fallbackEndpoint = &endpoint{path: "fallback", route: route{anonymous, func(s *Server, _ *Request) (any, error) {
		return s.fallback, nil
	}}}
)

// ServeHTTP finds the endpoint of a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(min(bodyTimeout, s.settings.Server.ReadTimeout)))
	}
	setSecurityHeaders(w.Header())
	path := r.URL.EscapedPath()
	crossOrigin := isCrossOrigin(path)
	if crossOrigin {
		allowCrossOrigin(w.Header())
	}
	if r.Method == http.MethodOptions {
		preflight(w, r, crossOrigin)
		return
	}
	clean, ok := cleanPath(path, s.settings.API.Name)
	if !ok {
		s.serve(notFoundEndpoint, w, r, nil)
		return
	}
	if handle, values := s.router.find(r.Method, clean); handle != nil {
		handle(w, r, values)
		return
	}
	switch api := strings.HasPrefix(clean, "/api/"); {
	case s.fallback != nil && !api:
		s.serve(fallbackEndpoint, w, r, nil)
	case !api && wantsPage(r):
		s.serve(pageNotFound, w, r, nil)
	default:
		s.serve(notFoundEndpoint, w, r, nil)
	}
}

var (
	frameOptions      = []string{"DENY"}
	noSniff           = []string{"nosniff"}
	referrerPolicy    = []string{"same-origin"}
	permissionsPolicy = []string{"interest-cohort=()"}
)

func setSecurityHeaders(h http.Header) {
	h["X-Frame-Options"] = frameOptions
	h["X-Content-Type-Options"] = noSniff
	h["Referrer-Policy"] = referrerPolicy
	h["Permissions-Policy"] = permissionsPolicy
}

// serve has a request answered by an endpoint. values are the parameters of its path, as they stand there.
func (s *Server) serve(e *endpoint, w http.ResponseWriter, hr *http.Request, values httprouter.Params) {
	r := &Request{Request: hr, ID: requestID(hr), server: s, endpoint: e, header: w.Header(), status: http.StatusOK, start: time.Now()}
	r.header["X-Request-Id"] = []string{r.ID}
	r.address = s.clientAddress(hr)
	r.limitBody(w)
	defer func() {
		if r.params != nil {
			r.params.close()
		}
	}()
	status := s.handleAndRespond(w, r, values)
	if s.log.Enabled(hr.Context(), slog.LevelDebug) {
		s.log.LogAttrs(hr.Context(), slog.LevelDebug, "request", slog.String("request", r.ID),
			slog.String("method", hr.Method), slog.String("route", e.path), slog.Int("status", status),
			slog.Duration("took", time.Since(r.start)))
	}
}

// handleAndRespond goes the way of every request: who is it, is it too much, may they, do it, say so.
func (s *Server) handleAndRespond(w http.ResponseWriter, r *Request, values httprouter.Params) (status int) {
	defer func() {
		if v := recover(); v != nil {
			status = s.respondPanic(w, r, v)
		}
	}()
	value, err := s.handle(r, values)
	return s.respond(w, r, value, err)
}

func (s *Server) handle(r *Request, values httprouter.Params) (any, error) {
	for _, p := range values {
		text, ok := decodeSegment(p.Value)
		if !ok {
			return nil, errs.ErrRecordNotFound
		}
		r.values = append(r.values, text)
	}
	refused, err := s.identify(r)
	if err != nil {
		return nil, err
	}
	if err := s.throttle(r); err != nil {
		return nil, err
	}
	if err := s.checkAccess(r, refused); err != nil {
		return nil, err
	}
	return r.endpoint.handle(s, r)
}

// panicError makes an error of what a panic was about.
func panicError(v any) error { return fmt.Errorf("panic: %v\n%s", v, debug.Stack()) }

// respondPanic turns a panic into an answer, if there is still one to give, and ends the connection otherwise.
func (s *Server) respondPanic(w http.ResponseWriter, r *Request, v any) int {
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := panicError(v)
	if r.started {
		s.logError(r, slog.LevelError, err)
		panic(http.ErrAbortHandler)
	}
	return s.respondError(w, r, err)
}
