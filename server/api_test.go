package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"svc/emoji"
	"svc/federation"
	"svc/federation/policy"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/keys"
	"svc/internal/password"
	"svc/media"
	"svc/server"
	"svc/server/entity"
	"svc/social"
	"svc/store"
)

// Server is a whole server on a port of its own, with a database file, as main wires it.
type Server struct {
	T            testing.TB
	URL          string
	Settings     *config.Config
	DB           *store.DB
	Social       *social.Service
	Entities     *entity.Builder
	Emojis       *emoji.Packs
	Keys         *keys.Keys
	HTTP         *server.Server
	Proxy        *media.Proxy
	Worker       *store.Worker
	Federation   *federation.Service // nil unless it may talk with this machine
	Dir          string
	Handler      http.Handler
	signUpClient *Client // with the token of an app, by which people sign up; nil until somebody does
}

// cheapPasswords is the cost of the passwords of tests, which nobody wants to wait for.
var cheapPasswords = password.Cost{Memory: 64, Passes: 1, Lanes: 1}

// schemaText is the schema of the database.
var schemaText = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile("../schema.sql")
	return string(b), err
})

// databaseTemplate is the file of a database without rows, which takes a while to make.
var databaseTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "svc")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	schema, err := schemaText()
	if err != nil {
		return nil, err
	}
	db, err := store.Open(context.Background(), store.Options{Dir: dir, Schema: schema, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, store.File))
})

// Start starts a server without rate limits. change adjusts its settings.
func Start(t testing.TB, change ...func(*config.Config)) *Server {
	t.Helper()
	ts := httptest.NewUnstartedServer(nil)
	c := config.Default()
	c.RateLimit.Enabled = false
	c.Server.URL = "http://" + ts.Listener.Addr().String()
	c.Data.Dir = t.TempDir()
	for _, f := range change {
		f(c)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	schema, err := schemaText()
	if err != nil {
		t.Fatal(err)
	}
	if file := filepath.Join(c.Data.Dir, store.File); !fileExists(file) {
		empty, err := databaseTemplate()
		if err == nil {
			err = os.WriteFile(file, empty, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	db, err := store.Open(t.Context(), store.Options{Dir: c.Data.Dir, Schema: schema, Log: log, BlockersVisible: c.Accounts.BlockersVisible, Federated: c.Federation.AllowLoopback})
	if err != nil {
		t.Fatal(err)
	}
	emojis, err := emoji.Open(filepath.Join(c.Data.Dir, "emoji"), log)
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := keys.Open(filepath.Join(c.Data.Dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	var elsewhere *fetch.Client
	if c.Federation.AllowLoopback { // tests reach nothing but this machine
		elsewhere = fetch.New(fetch.Options{UserAgent: "svc/1.2.3", OwnHosts: []string{c.Host()}, AllowLoopback: true, MaxRequests: 768})
	}
	proxied := media.ProxyFromSettings(c)
	proxied.Key, proxied.Fetch = secrets.Secret("media proxy"), fetch.New(fetch.Options{UserAgent: "svc/1.2.3 (+" + c.Server.URL + ")", OwnHosts: []string{c.Host()}, AllowLoopback: c.Federation.AllowLoopback})
	proxy, err := media.OpenProxy(db, proxied, log)
	if err != nil {
		t.Fatal(err)
	}
	policies := policy.New(c, policy.Deps{Log: log, Now: db.Now, Accounts: db, HasEmoji: emojis.Has, CheckNetwork: federation.MayFetch})
	shown := entity.FromSettings(c)
	shown.Version, shown.VAPIDPublicKey, shown.Federation = "1.2.3", secrets.VAPIDPublic(), policies.Describe()
	shown.ProxyURL = proxy.URL
	entities := entity.New(db, emojis, shown)
	files, err := media.Open(filepath.Join(c.Data.Dir, "media"), media.Limits{Pixels: c.Media.MaxPixels})
	if err != nil {
		t.Fatal(err)
	}
	people := social.FromSettings(c)
	if elsewhere != nil {
		people.Fetch = elsewhere
	}
	people.Passwords = password.New(cheapPasswords)
	people.Policies = policies
	soc := social.New(db, files, people, log)
	worker := store.NewWorker(db, 2, log)
	soc.Register(worker)
	var fed *federation.Service
	if elsewhere != nil {
		dealings := federation.FromSettings(c)
		dealings.Policies, dealings.GenerateKey = policies, Key
		fed = federation.New(db, soc, emojis, elsewhere, secrets, dealings, log)
		if err := fed.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		fed.Register(worker)
	}
	srv := server.New(server.Config{
		Settings: c, DB: db, Social: soc, Entities: entities, Emojis: emojis, Keys: secrets, Log: log,
		Federation: fed,
		Media:      files, Proxy: proxy, StaticDir: filepath.Join(c.Data.Dir, "static"),
		Outbound: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	})
	srv.Register(worker)
	proxy.Register(worker)
	ts.Config.Handler = srv
	ts.Start()
	t.Cleanup(func() {
		srv.Streams.Close(context.Background())
		ts.Close()
		if err := errors.Join(proxy.Close(), db.Close(), files.Close()); err != nil {
			t.Error(err)
		}
	})
	return &Server{
		T: t, URL: c.URL().String(), Settings: c, DB: db, Social: soc, Entities: entities, Emojis: emojis, Keys: secrets, HTTP: srv, Proxy: proxy, Worker: worker, Federation: fed,
		Dir: c.Data.Dir, Handler: srv,
	}
}

// RunJobs runs all jobs that are due.
func (a *Server) RunJobs() {
	a.T.Helper()
	if err := a.Worker.Settle(a.T.Context()); err != nil {
		a.T.Fatal(err)
	}
}

// User is somebody with an account and a token.
type User struct {
	*Client
	ID       string
	Nickname string
	Token    string
}

// App is a registered app.
type App struct{ ID, Secret string }

// RegisterApp registers an app. Other parameters than the usual ones come as pairs.
func (a *Server) RegisterApp(params ...string) *App {
	a.T.Helper()
	body := map[string]string{"client_name": "Test", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write follow push admin"}
	for i := 0; i+1 < len(params); i += 2 {
		body[params[i]] = params[i+1]
	}
	o := a.As(nil).SendJSON("POST", "/api/v1/apps", body).Want(200).Object()
	return &App{o.Str("client_id"), o.Str("client_secret")}
}

// Grant asks for a token of the app.
func (a *Server) Grant(app *App, grantType string, params ...string) *Response {
	a.T.Helper()
	return a.As(nil).Post("/oauth/token", append([]string{"grant_type", grantType, "client_id", app.ID, "client_secret", app.Secret}, params...)...)
}

const Password = "correct horse battery staple"

// SignUp makes an account, as an app does, that may do everything a user can.
func (a *Server) SignUp(nick string) *User {
	a.T.Helper()
	if a.signUpClient == nil {
		a.signUpClient = &Client{a, a.Grant(a.RegisterApp(), "client_credentials").Want(200).Object().Str("access_token")}
	}
	token := ""
	if open := a.Settings.Instance; open.RegistrationsOpen && !open.AccountApprovalRequired && !open.AccountActivationRequired {
		token = a.signUpClient.Post("/api/v1/accounts", "username", nick, "email", nick+"@example.org", "password", Password,
			"agreement", "true").Want(200).Object().Str("access_token")
	} else {
		token = a.createUser(nick)
	}
	m := &User{Client: &Client{a, token}, Nickname: nick, Token: token}
	account, err := a.DB.AccountByName(a.T.Context(), nick, "")
	if err != nil {
		a.T.Fatal(err)
	}
	m.ID = account.ID.String()
	return m
}

// createUser makes an account as staff would, and returns a token for it.
func (a *Server) createUser(nick string) string {
	a.T.Helper()
	_, _, err := a.Social.SignUp(a.T.Context(), social.Registration{
		Nickname: nick, Email: nick + "@example.org", Password: Password, Approved: true, Confirmed: true,
	})
	if err != nil {
		a.T.Fatal(err)
	}
	return a.Grant(a.RegisterApp(), "password", "username", nick, "password", Password).Want(200).Object().Str("access_token")
}

// Publish posts a status and returns it. More parameters come as pairs.
func (m *User) Publish(text string, params ...string) *Object {
	m.Server.T.Helper()
	return m.Post("/api/v1/statuses", append([]string{"status", text}, params...)...).Want(200).Object()
}

// As returns the caller to make requests with; nil is the anonymous.
func (a *Server) As(m *User) *Client {
	if m == nil {
		return &Client{Server: a}
	}
	return m.Client
}

// Client makes requests with a token, or without one.
type Client struct {
	Server *Server
	Token  string
}

func (c *Client) Get(path string, params ...string) *Response {
	c.Server.T.Helper()
	if len(params) > 0 {
		path += "?" + Pairs(params).Encode()
	}
	return c.Do("GET", path, "", nil)
}

func (c *Client) Post(path string, params ...string) *Response {
	c.Server.T.Helper()
	return c.Do("POST", path, "application/x-www-form-urlencoded", strings.NewReader(Pairs(params).Encode()))
}

// SendJSON sends a value as JSON.
func (c *Client) SendJSON(method, path string, body any) *Response {
	c.Server.T.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		c.Server.T.Fatal(err)
	}
	return c.Do(method, path, "application/json", bytes.NewReader(b))
}

func (c *Client) Do(method, path, contentType string, body io.Reader) *Response {
	c.Server.T.Helper()
	if strings.HasPrefix(path, "/") {
		path = c.Server.URL + path
	}
	req, err := http.NewRequestWithContext(c.Server.T.Context(), method, path, body)
	if err != nil {
		c.Server.T.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return c.DoRequest(req)
}

// DoRequest sends a request of the test's own making, with the caller's token.
func (c *Client) DoRequest(req *http.Request) *Response {
	c.Server.T.Helper()
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // no redirects
	if err != nil {
		c.Server.T.Fatal(err)
	}
	defer resp.Body.Close()
	var b []byte
	if resp.Header.Get("Content-Type") != "text/event-stream" { // which has no end
		if b, err = io.ReadAll(resp.Body); err != nil {
			c.Server.T.Fatal(err)
		}
	}
	return &Response{T: c.Server.T, Request: req.Method + " " + req.URL.RequestURI(), Status: resp.StatusCode, Header: resp.Header, Body: b}
}

// Pairs makes parameters of pairs; a key may come several times.
func Pairs(kv []string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(kv); i += 2 {
		v.Add(kv[i], kv[i+1])
	}
	return v
}

// Response is what came back.
type Response struct {
	T       testing.TB
	Request string
	Status  int
	Header  http.Header
	Body    []byte
}

// Want fails the test if the status is another.
func (a *Response) Want(status int) *Response {
	a.T.Helper()
	if a.Status != status {
		a.T.Fatalf("%s: got %d, want %d: %s", a.Request, a.Status, status, a.Body)
	}
	return a
}

// WantError checks status and message of an error.
func (a *Response) WantError(status int, message string) {
	a.T.Helper()
	if got := a.Want(status).Object().Str("error"); got != message {
		a.T.Errorf("%s: got error %q, want %q", a.Request, got, message)
	}
}

func (a *Response) Object() *Object {
	a.T.Helper()
	o := &Object{T: a.T}
	if err := json.Unmarshal(a.Body, &o.Fields); err != nil {
		a.T.Fatalf("%s: %v: %s", a.Request, err, a.Body)
	}
	return o
}

func (a *Response) List() []*Object {
	a.T.Helper()
	var rows []map[string]any
	if err := json.Unmarshal(a.Body, &rows); err != nil {
		a.T.Fatalf("%s: %v: %s", a.Request, err, a.Body)
	}
	list := make([]*Object, 0, len(rows))
	for _, m := range rows {
		list = append(list, &Object{a.T, m})
	}
	return list
}

// IDs returns the ids of a list.
func (a *Response) IDs() []string {
	a.T.Helper()
	ids := []string{}
	for _, o := range a.List() {
		ids = append(ids, o.Str("id"))
	}
	return ids
}

// Object is a JSON object. Its members are found by path: "account.id", "svc.content.text/plain".
type Object struct {
	T      testing.TB
	Fields map[string]any
}

// At returns the member, and fails the test if there is none.
func (o *Object) At(path string) any {
	o.T.Helper()
	var v any = o.Fields
	for _, key := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			o.T.Fatalf("%s: %q is in no object: %v", path, key, o.Fields)
		}
		if v, ok = m[key]; !ok {
			o.T.Fatalf("%s: there is no %q in %v", path, key, m)
		}
	}
	return v
}

func (o *Object) Has(key string) bool { _, ok := o.Fields[key]; return ok }

func (o *Object) Str(path string) string {
	o.T.Helper()
	s, ok := o.At(path).(string)
	if !ok {
		o.T.Fatalf("%s is no string: %v", path, o.At(path))
	}
	return s
}

func (o *Object) Int(path string) int {
	o.T.Helper()
	n, ok := o.At(path).(float64)
	if !ok {
		o.T.Fatalf("%s is no number: %v", path, o.At(path))
	}
	return int(n)
}

func (o *Object) Bool(path string) bool {
	o.T.Helper()
	b, ok := o.At(path).(bool)
	if !ok {
		o.T.Fatalf("%s is no boolean: %v", path, o.At(path))
	}
	return b
}

func (o *Object) ID() string { o.T.Helper(); return o.Str("id") }

func fileExists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
