package attack_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	_ "modernc.org/sqlite"

	"svc/app/apptest"
)

// person is an account of the server under test.
type person struct {
	name, id      string
	token, cookie string // of its app, of its browser
}

// world is the server under test, the people on it, and the servers that attack it.
type world struct {
	t   *testing.T
	s   *program
	url string

	alice   *person   // a member who follows the attackers of other servers, and whose posts strangers answer
	carol   *person   // a member who follows bob only
	erin    *person   // a member who follows whom alice follows; unlike alice, she does not ask for large answers all the time
	bob     *person   // writes what carol reads
	mallory []*person // members who attack
	admin   *person
	dummy   *person // does nothing, so that staff may act on it

	remotes []*apptest.FakeServer
	next    atomic.Int64
	hosts   atomic.Int64 // clients so far
	ids     *ids
	routes  []route
	seen    seen
	few     bool                            // store less
	until   atomic.Pointer[context.Context] // of the attacks; nil: the set-up
	failed  atomic.Int64                    // deliveries that were refused
}

const password = "correct horse battery staple"

// newTemplate makes a data directory with the people.
func newTemplate(t *testing.T, binary, address string) string {
	t.Helper()
	s := &program{t: t, binary: binary, dir: tempDir(t), address: address}
	text := fmt.Sprintf("[server]\nlisten = %q\nurl = \"http://%s\"\n[storage]\nballast = 0\n", address, address)
	if err := os.WriteFile(filepath.Join(s.dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	apptest.CreateData(t, s.dir)
	for _, name := range []string{"alice", "bob", "carol", "dummy", "erin", "mallory0", "mallory1", "mallory2"} {
		s.mustRun("user", "create", name, "--email", name+"@example.org", "--password", password)
	}
	s.mustRun("user", "create", "root", "--email", "root@example.org", "--password", password, "--admin")
	return s.dir
}

// tempDir returns a folder that is removed after an interruption, too.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "svc-attack-*")
	if err != nil {
		t.Fatal(err)
	}
	remove := func() { os.RemoveAll(dir) }
	onInterrupt(remove)
	t.Cleanup(remove)
	return dir
}

// newWorld starts the server on a copy of the template, signs everybody in, and lets alice and carol read something.
func newWorld(t *testing.T, template, binary, address string, routes []route) *world {
	t.Helper()
	s := &program{t: t, binary: binary, dir: tempDir(t), address: address, group: newCgroup(t, cgroupLimit)}
	if err := os.CopyFS(s.dir, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, s: s, url: "http://" + address, routes: routes}
	s.start(settingsForSetUp)
	t.Cleanup(func() { s.stop() })
	for range 8 {
		w.remotes = append(w.remotes, startRemote(w))
	}
	w.alice, w.bob, w.carol, w.dummy, w.erin, w.admin = w.signIn("alice"), w.signIn("bob"), w.signIn("carol"), w.signIn("dummy"), w.signIn("erin"), w.signIn("root")
	for i := range 3 {
		w.mallory = append(w.mallory, w.signIn(fmt.Sprint("mallory", i)))
	}
	for _, p := range []*person{w.alice, w.carol, w.erin} {
		w.must(p, "POST", "/api/v1/accounts/"+w.bob.id+"/follow", nil)
	}
	for i := range 20 {
		w.must(w.bob, "POST", "/api/v1/statuses", url.Values{"status": {fmt.Sprintf("An ordinary post, number %d, with a few words.", i)}})
	}
	return w
}

// attacking returns the context in which remote servers send.
func (w *world) attacking() context.Context {
	if ctx := w.until.Load(); ctx != nil {
		return *ctx
	}
	return w.t.Context()
}

func (w *world) signIn(name string) *person {
	w.t.Helper()
	var app struct {
		ID           string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	const scopes = "read write follow push admin"
	w.decode(&app, nil, "POST", "/api/v1/apps", url.Values{"client_name": {"attack"}, "redirect_uris": {"urn:ietf:wg:oauth:2.0:oob"}, "scopes": {scopes}})
	var token struct {
		Token string `json:"access_token"`
	}
	w.decode(&token, nil, "POST", "/oauth/token", url.Values{"grant_type": {"password"}, "client_id": {app.ID}, "client_secret": {app.ClientSecret},
		"username": {name}, "password": {password}, "scope": {scopes}})
	p := &person{name: name, token: token.Token}
	var account struct{ ID string }
	w.decode(&account, p, "GET", "/api/v1/accounts/verify_credentials", nil)
	p.id = account.ID

	form := url.Values{"name": {name}, "password": {password}}
	req, _ := http.NewRequest("POST", w.url+"/web/sign_in", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", w.url)
	resp, err := w.client(0, 20*time.Second).Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	for _, c := range resp.Cookies() {
		if strings.HasSuffix(c.Name, "_key") {
			p.cookie = c.Name + "=" + c.Value
		}
	}
	if p.cookie == "" {
		w.t.Fatalf("%s was not signed in: %s", name, resp.Status)
	}
	return p
}

// client returns an HTTP client with an address of its own: those of members begin with 127.0, those of attackers with 127.2.
func (w *world) client(host int, timeout time.Duration) *http.Client {
	transport := &http.Transport{DialContext: dialer(host).DialContext, MaxIdleConnsPerHost: 4, DisableCompression: true}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func dialer(host int) *net.Dialer {
	d := &net.Dialer{Timeout: 10 * time.Second}
	if host > 0 {
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 2, byte(host/250), byte(host%250+1))}
	}
	return d
}

// newHost returns the number of an address that no client has.
func (w *world) newHost() int { return int(w.hosts.Add(1)) }

// authorize adds the credentials of a person, which may be nil.
func authorize(req *http.Request, p *person, byCookie bool) {
	switch {
	case p == nil:
	case byCookie:
		req.Header.Set("Cookie", p.cookie)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Set("Origin", "http://"+req.URL.Host)
	default:
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
}

// call sends a request of the set-up.
func (w *world) call(p *person, method, path string, form url.Values) (int, []byte) {
	req, err := http.NewRequest(method, w.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	authorize(req, p, false)
	return w.do(setUpClient, req)
}

var setUpClient = &http.Client{Timeout: 60 * time.Second}

func (w *world) do(c *http.Client, req *http.Request) (int, []byte) {
	resp, err := c.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, b
}

func (w *world) must(p *person, method, path string, form url.Values) []byte {
	w.t.Helper()
	status, b := w.call(p, method, path, form)
	if status != 200 {
		w.t.Fatalf("%s %s: %d %.300s", method, path, status, b)
	}
	return b
}

func (w *world) decode(v any, p *person, method, path string, form url.Values) {
	w.t.Helper()
	if err := json.Unmarshal(w.must(p, method, path, form), v); err != nil {
		w.t.Fatal(err)
	}
}

// sendJSON sends a request of the set-up that the server may refuse. It returns the id in the answer, "" if there is none.
func (w *world) sendJSON(p *person, method, path string, v any) (id string) {
	req, err := http.NewRequest(method, w.url+path, bytes.NewReader(encode(v)))
	if err != nil {
		return ""
	}
	req.Header.Set("Content-Type", "application/json")
	authorize(req, p, false)
	status, b := w.do(setUpClient, req)
	var answer struct{ ID string }
	if status != 200 || json.Unmarshal(b, &answer) != nil {
		w.failed.Add(1)
	}
	return answer.ID
}

// encode returns v as JSON without escapes for HTML, which would make it larger.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// database calls f with the database file.
func (w *world) database(f func(*sql.DB) error) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.s.dir, "data", "svc.db")+"?_pragma=busy_timeout(20000)")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	if err := f(db); err != nil {
		w.t.Fatal(err)
	}
}

// settle waits until the server has processed what it accepted.
func (w *world) settle() {
	w.t.Helper()
	w.database(func(db *sql.DB) error {
		for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			var left int
			if err := db.QueryRow(`SELECT count(*) FROM queued_activities WHERE parked = 0`).Scan(&left); err != nil {
				return err
			}
			if left == 0 || w.s.ended() {
				return nil
			}
			if time.Now().After(deadline) {
				w.t.Logf("%d activities are still queued", left)
				return nil
			}
		}
	})
}

// ids are the ids of what exists, as they appear in paths.
type ids struct{ values map[string][]string }

// some returns a random id of a kind.
func (i *ids) some(kind string) string {
	list := i.values[kind]
	if len(list) == 0 {
		return "1"
	}
	return list[rand.IntN(len(list))]
}

// idQueries select ids by kind: those of flakes as numbers, others as text.
var idQueries = map[string]string{
	"account":      `SELECT id FROM (SELECT id FROM accounts WHERE domain = '' ORDER BY id) UNION ALL SELECT id FROM (SELECT id FROM accounts WHERE domain != '' ORDER BY id DESC LIMIT 40)`,
	"nickname":     `SELECT nickname FROM accounts WHERE domain = '' UNION ALL SELECT * FROM (SELECT nickname || '@' || domain FROM accounts WHERE domain != '' ORDER BY id DESC LIMIT 40)`,
	"status":       `SELECT id FROM (SELECT id FROM statuses ORDER BY length(content) + length(emojis) DESC LIMIT 60) UNION ALL SELECT * FROM (SELECT id FROM statuses ORDER BY replies_count DESC LIMIT 10)`,
	"poll":         `SELECT id FROM polls ORDER BY length(options) DESC LIMIT 40`,
	"list":         `SELECT id FROM lists LIMIT 40`,
	"chat":         `SELECT id FROM chats LIMIT 40`,
	"message":      `SELECT id FROM chat_copies ORDER BY id DESC LIMIT 40`,
	"media":        `SELECT id FROM media ORDER BY length(description) DESC LIMIT 40`,
	"report":       `SELECT id FROM reports LIMIT 40`,
	"announcement": `SELECT id FROM announcements LIMIT 40`,
	"scheduled":    `SELECT id FROM scheduled_statuses LIMIT 40`,
	"conversation": `SELECT CAST(id AS TEXT) FROM direct_conversations LIMIT 40`,
	"notification": `SELECT CAST(id AS TEXT) FROM notifications ORDER BY id DESC LIMIT 40`,
	"request":      `SELECT CAST(id AS TEXT) FROM notification_requests LIMIT 40`,
	"filter":       `SELECT CAST(id AS TEXT) FROM filters LIMIT 40`,
	"keyword":      `SELECT CAST(id AS TEXT) FROM filter_keywords LIMIT 40`,
	"tag":          `SELECT name FROM tags ORDER BY length(name) DESC LIMIT 20`,
	"file":         `SELECT file FROM media WHERE file != '' LIMIT 40`,
}

// readIDs reads the ids of what exists.
func (w *world) readIDs() {
	w.t.Helper()
	w.ids = &ids{make(map[string][]string)}
	w.database(func(db *sql.DB) error {
		var worker int64
		if err := db.QueryRow(`SELECT worker FROM meta`).Scan(&worker); err != nil {
			return err
		}
		for kind, query := range idQueries {
			rows, err := db.QueryContext(context.Background(), query)
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			for rows.Next() {
				var v any
				if err := rows.Scan(&v); err != nil {
					return err
				}
				if n, ok := v.(int64); ok {
					v = flake(n, worker)
				}
				w.ids.values[kind] = append(w.ids.values[kind], fmt.Sprint(v))
			}
			rows.Close()
		}
		return nil
	})
}

// flake returns the form of an id that most paths have (store/ids.go): milliseconds, worker and sequence in base 62.
func flake(id, worker int64) string {
	n := big.NewInt(id >> 10)
	n.Lsh(n, 48).Or(n, big.NewInt(worker)).Lsh(n, 16).Or(n, big.NewInt(id&1023))
	swapped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, n.Text(62))
	return strings.Repeat("0", max(0, 18-len(swapped))) + swapped
}
