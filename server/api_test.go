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

// api is a whole server on a port of its own, with a database file, as main wires it.
type api struct {
	t        testing.TB
	url      string
	settings *config.Config
	db       *store.DB
	social   *social.Service
	entities *entity.Builder
	emojis   *emoji.Packs
	keys     *keys.Keys
	server   *server.Server
	proxy    *media.Proxy
	worker   *store.Worker
	fed      *federation.Service // nil unless it may talk with this machine
	dir      string
	handler  http.Handler
	own      *caller // with the token of an app, by which people sign up; nil until somebody does
}

// cheapPasswords is the cost of the passwords of tests, which nobody wants to wait for.
var cheapPasswords = password.Cost{Memory: 64, Passes: 1, Lanes: 1}

// schemaText is the schema of the database.
var schemaText = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile("../schema.sql")
	return string(b), err
})

// emptyDatabase is the file of a database without rows, which takes a while to make.
var emptyDatabase = sync.OnceValues(func() ([]byte, error) {
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

// startAPI starts a server without rate limits. change adjusts its settings.
func startAPI(t testing.TB, change ...func(*config.Config)) *api {
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
	if file := filepath.Join(c.Data.Dir, store.File); !exists(file) {
		empty, err := emptyDatabase()
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
		elsewhere = fetch.New(fetch.Options{UserAgent: "svc/1.2.3", Own: []string{c.Host()}, AllowLoopback: true, InAll: 768})
	}
	proxied := media.ProxyFromSettings(c)
	proxied.Key, proxied.Fetch = secrets.Secret("media proxy"), fetch.New(fetch.Options{UserAgent: "svc/1.2.3 (+" + c.Server.URL + ")", Own: []string{c.Host()}, AllowLoopback: c.Federation.AllowLoopback})
	proxy, err := media.OpenProxy(db, proxied, log)
	if err != nil {
		t.Fatal(err)
	}
	var soc *social.Service
	policies := federation.NewPolicies(c, db, func() *social.Service { return soc }, emojis, elsewhere, proxy, log)
	shown := entity.FromSettings(c)
	shown.Version, shown.VAPIDPublicKey, shown.Federation = "1.2.3", secrets.VAPIDPublic(), policies.Describe()
	shown.Proxied = proxy.URL
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
	federation.Review(&people, policies, db)
	soc = social.New(db, files, people, log)
	worker := store.NewWorker(db, 2, log)
	soc.Register(worker)
	var fed *federation.Service
	if elsewhere != nil {
		dealings := federation.FromSettings(c)
		dealings.Policies, dealings.MakeKey = policies, testKey
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
		srv.EndStreams(context.Background())
		ts.Close()
		if err := errors.Join(proxy.Close(), db.Close(), files.Close()); err != nil {
			t.Error(err)
		}
	})
	return &api{
		t: t, url: c.URL().String(), settings: c, db: db, social: soc, entities: entities, emojis: emojis, keys: secrets, server: srv, proxy: proxy, worker: worker, fed: fed,
		dir: c.Data.Dir, handler: srv,
	}
}

// settle runs all jobs that are due.
func (a *api) settle() {
	a.t.Helper()
	if err := a.worker.Settle(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
}

// member is somebody with an account and a token.
type member struct {
	*caller
	id    string
	nick  string
	token string
}

// client is a registered app.
type client struct{ id, secret string }

// registerApp registers an app. Other parameters than the usual ones come as pairs.
func (a *api) registerApp(params ...string) *client {
	a.t.Helper()
	body := map[string]string{"client_name": "Test", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write follow push admin"}
	for i := 0; i+1 < len(params); i += 2 {
		body[params[i]] = params[i+1]
	}
	o := a.as(nil).send("POST", "/api/v1/apps", body).want(200).object()
	return &client{o.str("client_id"), o.str("client_secret")}
}

// grant asks for a token of the app.
func (a *api) grant(app *client, grantType string, params ...string) *answer {
	a.t.Helper()
	return a.as(nil).post("/oauth/token", append([]string{"grant_type", grantType, "client_id", app.id, "client_secret", app.secret}, params...)...)
}

const testPassword = "correct horse battery staple"

// signUp makes an account, as an app does, that may do everything a user can.
func (a *api) signUp(nick string) *member {
	a.t.Helper()
	if a.own == nil {
		a.own = &caller{a, a.grant(a.registerApp(), "client_credentials").want(200).object().str("access_token")}
	}
	token := ""
	if open := a.settings.Instance; open.RegistrationsOpen && !open.AccountApprovalRequired && !open.AccountActivationRequired {
		token = a.own.post("/api/v1/accounts", "username", nick, "email", nick+"@example.org", "password", testPassword,
			"agreement", "true").want(200).object().str("access_token")
	} else {
		token = a.admit(nick)
	}
	m := &member{caller: &caller{a, token}, nick: nick, token: token}
	account, err := a.db.AccountByName(a.t.Context(), nick, "")
	if err != nil {
		a.t.Fatal(err)
	}
	m.id = account.ID.String()
	return m
}

// admit makes an account as staff would, and returns a token for it.
func (a *api) admit(nick string) string {
	a.t.Helper()
	_, _, err := a.social.SignUp(a.t.Context(), social.Registration{
		Nickname: nick, Email: nick + "@example.org", Password: testPassword, Approved: true, Confirmed: true,
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.grant(a.registerApp(), "password", "username", nick, "password", testPassword).want(200).object().str("access_token")
}

// publish posts a status and returns it. More parameters come as pairs.
func (m *member) publish(text string, params ...string) *object {
	m.api.t.Helper()
	return m.post("/api/v1/statuses", append([]string{"status", text}, params...)...).want(200).object()
}

// as returns the caller to make requests with; nil is the anonymous.
func (a *api) as(m *member) *caller {
	if m == nil {
		return &caller{api: a}
	}
	return m.caller
}

// caller makes requests with a token, or without one.
type caller struct {
	api   *api
	token string
}

func (c *caller) get(path string, params ...string) *answer {
	c.api.t.Helper()
	if len(params) > 0 {
		path += "?" + pairs(params).Encode()
	}
	return c.do("GET", path, "", nil)
}

func (c *caller) post(path string, params ...string) *answer {
	c.api.t.Helper()
	return c.do("POST", path, "application/x-www-form-urlencoded", strings.NewReader(pairs(params).Encode()))
}

// send sends a value as JSON.
func (c *caller) send(method, path string, body any) *answer {
	c.api.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		c.api.t.Fatal(err)
	}
	return c.do(method, path, "application/json", bytes.NewReader(b))
}

func (c *caller) do(method, path, contentType string, body io.Reader) *answer {
	c.api.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = c.api.url + path
	}
	req, err := http.NewRequestWithContext(c.api.t.Context(), method, path, body)
	if err != nil {
		c.api.t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return c.request(req)
}

// request sends a request of the test's own making, with the caller's token.
func (c *caller) request(req *http.Request) *answer {
	c.api.t.Helper()
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // no redirects
	if err != nil {
		c.api.t.Fatal(err)
	}
	defer resp.Body.Close()
	var b []byte
	if resp.Header.Get("Content-Type") != "text/event-stream" { // which has no end
		if b, err = io.ReadAll(resp.Body); err != nil {
			c.api.t.Fatal(err)
		}
	}
	return &answer{t: c.api.t, what: req.Method + " " + req.URL.RequestURI(), status: resp.StatusCode, header: resp.Header, body: b}
}

// pairs makes parameters of pairs; a key may come several times.
func pairs(kv []string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(kv); i += 2 {
		v.Add(kv[i], kv[i+1])
	}
	return v
}

// answer is what came back.
type answer struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   []byte
}

// want fails the test if the status is another.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: got %d, want %d: %s", a.what, a.status, status, a.body)
	}
	return a
}

// wantError checks status and message of an error.
func (a *answer) wantError(status int, message string) {
	a.t.Helper()
	if got := a.want(status).object().str("error"); got != message {
		a.t.Errorf("%s: got error %q, want %q", a.what, got, message)
	}
}

func (a *answer) object() *object {
	a.t.Helper()
	o := &object{t: a.t}
	if err := json.Unmarshal(a.body, &o.m); err != nil {
		a.t.Fatalf("%s: %v: %s", a.what, err, a.body)
	}
	return o
}

func (a *answer) list() []*object {
	a.t.Helper()
	var rows []map[string]any
	if err := json.Unmarshal(a.body, &rows); err != nil {
		a.t.Fatalf("%s: %v: %s", a.what, err, a.body)
	}
	list := make([]*object, 0, len(rows))
	for _, m := range rows {
		list = append(list, &object{a.t, m})
	}
	return list
}

// ids returns the ids of a list.
func (a *answer) ids() []string {
	a.t.Helper()
	ids := []string{}
	for _, o := range a.list() {
		ids = append(ids, o.str("id"))
	}
	return ids
}

// object is a JSON object. Its members are found by path: "account.id", "svc.content.text/plain".
type object struct {
	t testing.TB
	m map[string]any
}

// at returns the member, and fails the test if there is none.
func (o *object) at(path string) any {
	o.t.Helper()
	var v any = o.m
	for _, key := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			o.t.Fatalf("%s: %q is in no object: %v", path, key, o.m)
		}
		if v, ok = m[key]; !ok {
			o.t.Fatalf("%s: there is no %q in %v", path, key, m)
		}
	}
	return v
}

func (o *object) has(key string) bool { _, ok := o.m[key]; return ok }

func (o *object) str(path string) string {
	o.t.Helper()
	s, ok := o.at(path).(string)
	if !ok {
		o.t.Fatalf("%s is no string: %v", path, o.at(path))
	}
	return s
}

func (o *object) num(path string) int {
	o.t.Helper()
	n, ok := o.at(path).(float64)
	if !ok {
		o.t.Fatalf("%s is no number: %v", path, o.at(path))
	}
	return int(n)
}

func (o *object) truth(path string) bool {
	o.t.Helper()
	b, ok := o.at(path).(bool)
	if !ok {
		o.t.Fatalf("%s is no boolean: %v", path, o.at(path))
	}
	return b
}

func (o *object) id() string { o.t.Helper(); return o.str("id") }

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
