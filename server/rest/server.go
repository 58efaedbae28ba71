// Package rest is the HTTP kernel: it finds the endpoint of a request in route tables, authenticates the caller, counts rate limits,
// checks access, binds parameters, and writes answers and errors. It knows no resource and calls no package that does: it is given
// an authenticator, an error page, and tables of handlers.
//
// Two rules. A route stands in exactly one table with its access and limits beside it, and nothing is decided by comparing paths
// later. A handler returns a value and an error; status, headers, JSON and the log line are written here.
//
// Limits: 2000 connections, 128 of one address, 64 bodies of one client in transit; headers of 32 KiB; bodies of 1 MiB without files, 64 KiB of clients
// that are not known, 32 MiB of memory for all of them (bodyBudget); 1000 parameters nested 16 deep, 8 files; answers of 2 MiB for a list and 4 MiB for
// a context, large ones together an eighth of the memory; gzip of answers of 1 KiB to 1 MiB, by 16 writers of a MiB;
// rate limits as in the settings, for 50 000 clients at the same time.
package rest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/store"
)

// Config is what New needs.
type Config struct {
	Settings     *config.Live
	Authenticate Authenticator                            // nil: every request is anonymous
	ErrorPage    func(*Request, *errs.Error) http.Handler // renders errors of routes that answer in HTML
	Fallback     Handler                                  // answers GET requests outside of /api/ that have no route; nil, or a nil value: 404
	OldAddress   Handler                                  // answers GET requests outside of /api/ before their endpoint does, unless it returns nil; nil: none
	NotFound     Handler                                  // answers browsers when Fallback has no value; nil: ErrorPage does
	TempDir      string                                   // for uploads while their request lasts; "": the system's
	Sessions     Sessions                                 // of browsers, for endpoints with access Browser; nil: those are anonymous
	Limits       *Limits                                  // nil: new ones by the settings
	Bodies       int64                                    // bytes of memory for request bodies; 0: 32 MiB
	Metrics      *Metrics                                 // nil: nothing is measured
	Memory       *limit.Bytes                             // for large answers; nil: no limit
	Log          *slog.Logger                             // nil: nothing is logged
	Now          func() time.Time                         // nil: time.Now

	Blocked func(context.Context, netip.Addr) (bool, error) // whether clients with an address are refused; nil: none
	Closed  func() bool                                     // whether this server was closed permanently; nil: it was not
	Observe func(Observation)                               // gets the parameters and answers of handlers; nil: none
}

// Server answers requests by route tables. It is an http.Handler; Serve runs it on a listener.
type Server struct {
	settings     *config.Live
	authenticate Authenticator
	errorPage    func(*Request, *errs.Error) http.Handler
	sessions     Sessions
	fallback     *endpoint // nil: none
	oldAddress   Handler   // nil: none
	tempDir      string
	limits       *Limits
	bodies       *bodyBudget
	metrics      *Metrics
	memory       *limit.Bytes
	blocked      func(context.Context, netip.Addr) (bool, error)
	closed       func() bool
	log          *slog.Logger
	now          func() time.Time
	observe      func(Observation)

	proxies       []netip.Prefix
	cookieNames   []string
	secureCookies bool
	paramAlias    string // NAME_ if the API is not called svc
	router        *router
}

// New returns a server for the routes of all tables. It panics if the tables contradict each other.
func New(c Config, tables ...Routes) *Server {
	name := c.Settings.Load().API.Name
	s := &Server{
		settings:      c.Settings,
		authenticate:  c.Authenticate,
		errorPage:     c.ErrorPage,
		sessions:      c.Sessions,
		oldAddress:    c.OldAddress,
		tempDir:       c.TempDir,
		limits:        c.Limits,
		metrics:       c.Metrics,
		memory:        c.Memory,
		log:           c.Log,
		now:           c.Now,
		proxies:       c.Settings.Load().TrustedProxies(),
		cookieNames:   sessionCookies(name, c.Settings.Load().SecureCookies()),
		secureCookies: c.Settings.Load().SecureCookies(),
		blocked:       c.Blocked,
		closed:        c.Closed,
		observe:       c.Observe,
		bodies:        newBodyBudget(cmp.Or(c.Bodies, defaultBodyBudget)),
	}
	if c.Fallback != nil {
		s.fallback = fallbackEndpoint(c.Fallback, c.NotFound)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.limits == nil {
		s.limits = NewLimits(c.Settings.Load().RateLimit)
	}
	if name != standardName {
		s.paramAlias = name + "_"
	}
	list := endpoints(tables)
	s.limits.check(list)
	s.router = newRouter(list)
	s.metrics.register(append(list, notFoundEndpoint, notFoundPage, wrongMethodEndpoint, closedEndpoint, closedPage, s.fallback))
	return s
}

var (
	errTooManyRequests = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The server has too many requests at the moment. Try again later", RetryAfter: bodyRetry}
	errTooManyFields   = errs.New(http.StatusRequestHeaderFieldsTooLarge, "A request may have %d different headers", maxHeaderFields)
)

var errNoPage = errs.NotFound("There is no page at this address.")

// ErrClosed is the answer of a server that was closed permanently.
var ErrClosed = errs.New(http.StatusGone, "This server is closed. Its accounts and posts are deleted.")

// Endpoints of requests that no route matches, and of all requests to a server that was closed.
var (
	notFoundEndpoint = &endpoint{path: "unknown", Route: Route{Anonymous, func(*Request) (any, error) {
		return nil, errs.ErrRecordNotFound
	}}}
	notFoundPage = &endpoint{path: "unknown page", Route: Route{Anonymous.HTML(), func(*Request) (any, error) {
		return nil, errNoPage
	}}}
	wrongMethodEndpoint = &endpoint{path: "wrong method", Route: Route{Anonymous, func(*Request) (any, error) {
		return nil, errs.New(http.StatusMethodNotAllowed, "Method not allowed")
	}}}
	closedEndpoint = &endpoint{path: "closed", Route: Route{Anonymous, func(*Request) (any, error) {
		return nil, ErrClosed
	}}}
	closedPage = &endpoint{path: "closed page", Route: Route{Anonymous.HTML(), func(*Request) (any, error) {
		return nil, ErrClosed
	}}}
)

// whileOpen returns an endpoint, or the one that answers instead of it once this server was closed.
func (s *Server) whileOpen(e *endpoint, r *http.Request) *endpoint {
	switch {
	case s.closed == nil || !s.closed() || e.Access.closed:
		return e
	case e.Access.html || WantsHTML(r) && !strings.HasPrefix(r.URL.Path, "/api/"):
		return closedPage
	}
	return closedEndpoint
}

// fallbackEndpoint answers requests without a route. notFound is nil if ErrorPage shows that there is no page.
func fallbackEndpoint(handle, notFound Handler) *endpoint {
	return &endpoint{path: "fallback", Route: Route{File, func(r *Request) (any, error) {
		value, err := handle(r)
		if value != nil || err != nil {
			return value, err
		}
		switch {
		case !WantsHTML(r.Request):
		case notFound != nil:
			return notFound(r)
		case r.server.errorPage != nil:
			return r.server.errorPage(r, errNoPage), nil
		}
		return nil, errs.ErrRecordNotFound
	}}}
}

// ServeHTTP finds the endpoint of a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(min(bodyTimeout, s.settings.Load().Server.ReadTimeout)))
	}
	limitRanges(r.Header)
	path := r.URL.EscapedPath()
	setSecurityHeaders(w.Header(), path)
	crossOrigin := isCrossOrigin(path)
	if crossOrigin {
		AllowCrossOrigin(w.Header())
		exposeHeaders(w.Header(), r)
	}
	if r.Method == http.MethodOptions {
		preflight(w, r, crossOrigin)
		return
	}
	clean, ok := cleanPath(path, s.settings.Load().API.Name)
	if !ok {
		s.serve(notFoundEndpoint, w, r, nil)
		return
	}
	if e, values := s.router.find(r.Method, clean); e != nil {
		if e.Access.optional != "" && !s.settings.Load().API.Offers(e.Access.optional) {
			e, values = notFoundEndpoint, nil
		}
		s.serve(e, w, r, values)
		return
	}
	api := strings.HasPrefix(clean, "/api/")
	methods := s.router.allowed(clean)
	switch {
	case methods != nil:
		w.Header().Set("Allow", strings.Join(methods, ", "))
		s.serve(wrongMethodEndpoint, w, r, nil)
	case !api && s.fallback != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		s.serve(s.fallback, w, r, nil)
	case !api && WantsHTML(r):
		s.serve(notFoundPage, w, r, nil)
	default:
		s.serve(notFoundEndpoint, w, r, nil)
	}
}

var (
	frameOptions   = []string{"DENY"}
	noSniff        = []string{"nosniff"}
	referrerPolicy = []string{"same-origin"}
)

// setSecurityHeaders sets the headers that all answers have. Answers of the API link to nothing, so they need no Referrer-Policy. A map
// of more than eight headers costs twice as much.
func setSecurityHeaders(h http.Header, path string) {
	h["X-Frame-Options"] = frameOptions
	h["X-Content-Type-Options"] = noSniff
	if !strings.HasPrefix(path, "/api/") {
		h["Referrer-Policy"] = referrerPolicy
	}
}

// serve answers a request by an endpoint. values are the parameters of its path, still encoded.
func (s *Server) serve(e *endpoint, w http.ResponseWriter, hr *http.Request, values httprouter.Params) {
	if open := s.whileOpen(e, hr); open != e {
		e, values = open, nil
	}
	r := &Request{Request: hr, ID: requestID(hr), server: s, endpoint: e, header: w.Header(), status: http.StatusOK, start: time.Now(), secret: e.Access.secret}
	r.header["X-Request-Id"] = []string{r.ID}
	r.address = s.clientAddress(hr)
	end, ok := beginRequest(hr)
	defer end()
	r.limitBody(w)
	defer func() {
		r.releaseBody()
		if r.params != nil {
			r.params.close()
		}
		r.memory.Release()
	}()
	status := 0 // if the answer is aborted
	s.metrics.start()
	defer func() { s.metrics.finish(r, status) }()
	switch {
	case !ok:
		status = s.respondError(w, r, errTooManyRequests)
	case len(hr.Header) > maxHeaderFields:
		status = s.respondError(w, r, errTooManyFields)
	case strings.Count(hr.URL.RawQuery, "&") > maxKeys: // handlers may parse it with net/url, which has no such limit
		status = s.respondError(w, r, errTooMany)
	default:
		status = s.handleAndRespond(w, r, values)
	}
	level := slog.LevelDebug
	if s.settings.Load().Log.Access {
		level = slog.LevelInfo
	}
	if s.log.Enabled(hr.Context(), level) {
		s.log.LogAttrs(hr.Context(), level, "request", slog.String("request", r.ID),
			slog.String("method", hr.Method), slog.String("route", e.path), slog.Int("status", status),
			slog.Duration("duration", time.Since(r.start)), slog.String("address", r.address.String()))
	}
}

// handleAndRespond runs the handler and writes its answer, an error or the 500 of a panic.
func (s *Server) handleAndRespond(w http.ResponseWriter, r *Request, values httprouter.Params) (status int) {
	defer func() {
		if v := recover(); v != nil {
			status = s.respondPanic(w, r, v)
		}
	}()
	value, err := s.handle(r, values)
	return s.respond(w, r, value, err)
}

var errBlockedNetwork = errs.Forbidden("Access from your network is blocked")

// checkNetwork refuses clients in blocked networks. A proxy is not refused, because many clients share its address.
func (s *Server) checkNetwork(r *Request) error {
	if s.blocked == nil || !r.address.IsValid() || r.FromProxy() {
		return nil
	}
	blocked, err := s.blocked(r.Context(), r.address)
	if err == nil && blocked {
		err = errBlockedNetwork
	}
	return err
}

// handle authenticates the caller, counts the request, checks access and calls the handler.
func (s *Server) handle(r *Request, values httprouter.Params) (any, error) {
	if err := s.checkNetwork(r); err != nil {
		return nil, err
	}
	if err := r.setPathValues(values); err != nil {
		return nil, err
	}
	refused, err := s.identify(r)
	if err != nil {
		return nil, err
	}
	r.admitBody()
	if err := s.limits.count(r, s.now()); err != nil {
		return nil, err
	}
	if refused, err = s.identifyByBody(r, refused); err != nil {
		return nil, err
	}
	return s.handleAdmitted(r, refused)
}

// setPathValues decodes the values of the path's parameters.
func (r *Request) setPathValues(values httprouter.Params) error {
	for _, p := range values {
		text, ok := decodeSegment(p.Value)
		if !ok {
			return errs.ErrRecordNotFound
		}
		r.values = append(r.values, text)
	}
	return nil
}

// handleAdmitted checks access and calls the handler for a caller that is identified and within its limits.
func (s *Server) handleAdmitted(r *Request, refused error) (any, error) {
	if value, err := s.answerOldAddress(r); value != nil || err != nil {
		return value, err
	}
	if err := s.checkAccess(r, refused); err != nil {
		return nil, err
	}
	if r.endpoint.deletes() {
		r.Request = r.WithContext(store.AllowWhenFull(r.Context()))
	}
	if r.reads() {
		return r.read()
	}
	value, err := r.endpoint.Handle(r)
	if err != nil {
		return nil, err
	}
	return r.Readable(value, r.endpoint.reads...)
}

// answerOldAddress answers a request for an address that other software made. It returns nil for others, and once this server was closed.
func (s *Server) answerOldAddress(r *Request) (any, error) {
	if s.oldAddress == nil || r.Method != http.MethodGet && r.Method != http.MethodHead || strings.HasPrefix(r.URL.Path, "/api/") ||
		r.endpoint == closedEndpoint || r.endpoint == closedPage {
		return nil, nil
	}
	return s.oldAddress(r)
}

// read calls the handler of a request that reads. If it reads more than small answers do, or there is no memory for its answer, its result is
// dropped, and it is called again when there is memory.
func (r *Request) read() (value any, err error) {
	root := r.root()
	if root.retried || root.large {
		return r.endpoint.Handle(r)
	}
	ctx := r.Context()
	if r.Viewer == nil && r.Token == nil {
		ctx = store.WithAnonymous(ctx)
	}
	limited, end := store.WithReadBudget(ctx, smallRead)
	defer end() // because some handlers return what goes on reading
	before := root.entityBytes
	root.retried, root.noMemory = true, false
	r.Request = r.WithContext(limited)
	if value, err = r.endpoint.Handle(r); err == nil && r == root {
		_, err = r.takeSized(value)
	}
	root.retried = false
	if !root.noMemory && !store.ReadBudgetExceeded(limited) { // handlers may answer with what they could read
		return value, err
	}
	value = nil // which may be large
	root.memory.Release()
	if err := r.takeLarge(); err != nil {
		return nil, err
	}
	r.Request, r.entityBytes, r.counted = r.WithContext(store.WithoutReadBudget(ctx)), 0, 0
	root.entityBytes = before
	return r.endpoint.Handle(r)
}

// PanicError returns the error of a recovered panic, with the stack.
func PanicError(v any) error { return fmt.Errorf("panic: %v\n%s", v, debug.Stack()) }

// respondPanic answers 500 for a panic, or aborts the connection if the answer has begun.
func (s *Server) respondPanic(w http.ResponseWriter, r *Request, v any) int {
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := PanicError(v)
	if r.started {
		r.logError(slog.LevelError, err)
		panic(http.ErrAbortHandler)
	}
	return s.respondError(w, r, err)
}
