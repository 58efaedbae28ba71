package pages_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// sent is an answer as it was sent.
type sent struct {
	status int
	header http.Header
	body   []byte
}

// fetchAs requests a path as a browser, and returns the answer as it was sent. Headers are given as name and value.
func fetchAs(t *testing.T, b *apptest.Browser, method, path string, form url.Values, headers ...string) sent {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.BaseURL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.Origin)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	for _, c := range b.Cookies {
		req.AddCookie(c)
	}
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return sent{resp.StatusCode, resp.Header, body}
}

// zipped returns true if the body is sent as gzip.
func (a sent) zipped() bool { return a.header.Get("Content-Encoding") == "gzip" }

// TestCompressedPages requests pages of visitors and of a user with and without gzip.
func TestCompressedPages(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.API.Name = "svc" }) // compressed answers cannot be translated
	alice := srv.SignUp("alice")
	root := publishFeed(srv, alice)
	visitor, browser := srv.Browser(), alice.SignedIn()
	for _, tt := range []struct {
		as   *apptest.Browser
		path string
	}{
		{visitor, "/"}, {visitor, "/public"}, {visitor, "/@p0"}, {visitor, "/@p0/" + root}, {visitor, "/@p0.rss"}, {visitor, "/@p0.atom"},
		{visitor, "/about/api"}, {visitor, "/api/v1/timelines/public"},
		{browser, "/web"}, {browser, "/web/@p0/" + root}, {browser, "/web/settings"}, {browser, "/api/v1/timelines/home"},
	} {
		plain := fetchAs(t, tt.as, "GET", tt.path, nil, "Accept-Encoding", "gzip;q=0")
		got := fetchAs(t, tt.as, "GET", tt.path, nil, "Accept-Encoding", "gzip, br")
		head := fetchAs(t, tt.as, "HEAD", tt.path, nil, "Accept-Encoding", "gzip, br")
		if plain.zipped() || !got.zipped() || got.status != plain.status || len(got.body) > len(plain.body)/2 {
			t.Errorf("%s: %d %q with %d bytes, as it is %d %q with %d", tt.path, got.status, got.header, len(got.body), plain.status, plain.header, len(plain.body))
			continue
		}
		if tokenless(unzip(t, got.body)) != tokenless(plain.body) {
			t.Errorf("%s: the compressed page is another one", tt.path)
		}
		for _, a := range []sent{plain, got} {
			if !strings.Contains(strings.Join(a.header.Values("Vary"), ", "), "Accept-Encoding") || a.header.Get("Content-Length") != fmt.Sprint(len(a.body)) {
				t.Errorf("%s: %v", tt.path, a.header)
			}
		}
		if head.status != got.status || !head.zipped() || len(head.body) > 0 || head.header.Get("Content-Length") == "" {
			t.Errorf("HEAD %s: %d %v", tt.path, head.status, head.header)
		}
		if tt.path == "/web" && len(got.body) > 8000 {
			t.Errorf("home of 20 posts has %d bytes", len(got.body))
		}
	}
}

// drawn are the values of forms that differ in each answer.
var drawn = regexp.MustCompile(`name="(form_token|once)" value="[^"]*"`)

// tokenless returns a page without them.
func tokenless(body []byte) string { return drawn.ReplaceAllString(string(body), "") }

// TestTagsOfCompressedPages checks that a page of visitors has a weak tag when it is compressed, and is not sent again for either tag.
func TestTagsOfCompressedPages(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice").Publish(strings.Join(sentences, ""))
	visitor := srv.Browser()
	plain := fetchAs(t, visitor, "GET", "/@alice", nil, "Accept-Encoding", "identity")
	zipped := fetchAs(t, visitor, "GET", "/@alice", nil, "Accept-Encoding", "gzip, br")
	strong, weak := plain.header.Get("ETag"), zipped.header.Get("ETag")
	if !zipped.zipped() || !strings.HasPrefix(strong, `"`) || weak != "W/"+strong {
		t.Fatalf("the tags are %s and %s", strong, weak)
	}
	for _, encodings := range []string{"gzip, br", "identity"} {
		for _, tag := range []string{strong, weak} {
			a := fetchAs(t, visitor, "GET", "/@alice", nil, "Accept-Encoding", encodings, "If-None-Match", tag)
			if a.status != 304 || len(a.body) > 0 || a.zipped() || a.header.Get("Content-Length") != "" || !strings.Contains(strings.Join(a.header.Values("Vary"), ", "), "Accept-Encoding") {
				t.Errorf("%s for %s: %d %v", tag, encodings, a.status, a.header)
			}
		}
	}
	part := fetchAs(t, visitor, "GET", "/@alice", nil, "Accept-Encoding", "gzip, br", "Range", "bytes=0-99")
	if part.status != 206 || part.zipped() || !bytes.Equal(part.body, plain.body[:100]) || part.header.Get("ETag") != strong {
		t.Errorf("a range: %d %v", part.status, part.header)
	}
	if a := fetchAs(t, visitor, "GET", "/@alice", nil, "Accept-Encoding", "gzip, br", "Range", "bytes=0-99", "If-Range", weak); a.status != 200 {
		t.Errorf("a range for a weak tag: %d", a.status)
	}
}

// TestFormTokens checks that each answer has another form token, that all of them work, and that nothing else does.
func TestFormTokens(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	id := bob.Publish("hello").ID()
	browser := alice.SignedIn()
	token := func(b *apptest.Browser) string { return b.Get("/web").Want(200).Forms[0].Fields.Get("form_token") }
	press := func(token string) int {
		return browser.Post("/web/do/api/v1/statuses/"+id+"/favourite", url.Values{"form_token": {token}}).Status
	}
	first, second := token(browser), token(browser)
	decode := func(text string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || len(b) != 64 {
			t.Fatalf("%s: %d bytes, %v", text, len(b), err)
		}
		return b
	}
	a, b := decode(first), decode(second)
	hash := make([]byte, 32)
	for i := range hash {
		hash[i] = a[i] ^ a[32+i]
		if hash[i] != b[i]^b[32+i] {
			t.Fatal("the tokens do not hide the same")
		}
	}
	if bytes.Equal(a[:32], b[:32]) || bytes.Equal(a[32:], b[32:]) {
		t.Error("two answers have one token")
	}
	changed := func(i int) string {
		c := bytes.Clone(a)
		c[i] ^= 1
		return base64.RawURLEncoding.EncodeToString(c)
	}
	encode := base64.RawURLEncoding.EncodeToString
	for _, tt := range []struct {
		name, token string
		want        int
	}{
		{"one of a page", first, 302},
		{"one of another page", second, 302},
		{"one that was used", first, 302},
		{"of a page from before the update", encode(hash), 302},
		{"none", "", 403},
		{"another pad", changed(0), 403},
		{"another hash", changed(63), 403},
		{"of another session of the account", token(alice.SignedIn()), 403},
		{"of another account", token(bob.SignedIn()), 403},
		{"pad and hash of two answers", encode(append(bytes.Clone(a[:32]), b[32:]...)), 403},
		{"only zeros", encode(make([]byte, 64)), 403},
		{"only zeros, as before", encode(make([]byte, 32)), 403},
		{"the pad alone", encode(a[:32]), 403},
		{"cut", first[:len(first)-1], 403},
		{"longer", first + "A", 403},
		{"with an end", first + "==", 403},
		{"with a line break", first + "\n", 403},
		{"much longer", strings.Repeat("A", 100_000), 403},
		{"no base64", strings.Repeat("*", 86), 403},
	} {
		if got := press(tt.token); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestPollsOfTwoSessions checks that a post with a poll, which is kept as HTML, has the token of the session that it is shown to.
func TestPollsOfTwoSessions(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	poll := alice.PublishPoll([]string{"Herons", "Storks"})
	path := "/web/@alice/" + poll.ID()
	tokens := make(map[string]bool)
	for _, name := range []string{"bob", "carol"} {
		browser := srv.SignUp(name).SignedIn()
		browser.Get(path).Want(200)
		page := browser.Get(path).Want(200, "Herons")
		token := page.Forms[0].Fields.Get("form_token")
		for _, f := range page.Forms {
			if got := f.Fields.Get("form_token"); strings.HasPrefix(f.Action, "/web/do/") && got != token {
				t.Errorf("%s: a form of the page has the token %q, another %q", name, got, token)
			}
		}
		tokens[token] = true
		page.Press("Vote", "choices[]", "0").Want(302)
	}
	if len(tokens) != 2 {
		t.Errorf("the sessions have the tokens %v", tokens)
	}
	if now := alice.Get("/api/v1/statuses/" + poll.ID()).Want(200).Object().Int("poll.votes_count"); now != 2 {
		t.Errorf("%d votes", now)
	}
	srv.Browser().Get("/@alice/"+poll.ID()).Want(200, "Herons")
}

// TestSecretsAreNotCompressed requests answers with secrets: tokens, codes and links that need no other credentials. Each is long enough to be
// compressed.
func TestSecretsAreNotCompressed(t *testing.T) {
	srv, admin, browser := staff(t)
	long := strings.Repeat("herons ", 200)
	srv.SignUp("bob")
	var callbacks []string
	for i := range 8 {
		callbacks = append(callbacks, fmt.Sprintf("https://app.example/%d/%s", i, strings.Repeat("callback/", 10)))
	}
	app := srv.RegisterApp("redirect_uris", "https://app.example/callback")
	for i := range 20 {
		admin.Post("/api/v1/svc/admin/users/invite_token").Want(200)
		admin.SendJSON("POST", "/api/v1/svc/admin/oauth_app", map[string]any{"name": fmt.Sprint("App ", i), "redirect_uris": "https://app.example/callback", "scopes": []string{"read"}}).Want(200)
	}
	token := browser.Get("/web").Want(200).Forms[0].Fields.Get("form_token")
	form := func(pairs ...string) url.Values {
		v := url.Values{"form_token": {token}}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return v
	}
	visitor := srv.Browser()
	authorize := "?response_type=code&client_id=" + app.ID + "&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&state=" + url.QueryEscape(long)
	for _, tt := range []struct {
		name         string
		as           *apptest.Browser
		method, path string
		form         url.Values
		secret       bool
	}{
		{"authorization of an app", browser, "GET", "/oauth/authorize" + authorize, nil, true},
		{"authorization of an app, signed out", visitor, "GET", "/oauth/authorize" + authorize, nil, true},
		{"registration of an app", visitor, "POST", "/api/v1/apps", url.Values{"client_name": {"App"}, "redirect_uris": {strings.Join(callbacks, "\n")}}, true},
		{"signing in", visitor, "GET", "/web/sign_in", nil, true},
		{"signing up", visitor, "GET", "/auth/sign_up", nil, true},
		{"an invitation", visitor, "GET", "/registration/some-token", nil, true},
		{"following from another server", browser, "GET", "/ostatus_subscribe?acct=bob", nil, true},
		{"the secret of the second factor", browser, "POST", "/web/settings/two_factor/setup", form(), true},
		{"invites", browser, "GET", "/web/admin/invites", nil, true},
		{"apps of the server", browser, "GET", "/web/admin/apps", nil, true},
		{"apps of the server, by the API", browser, "GET", "/api/v1/svc/admin/oauth_app", nil, true},
		{"invites, by the API", browser, "GET", "/api/v1/svc/admin/users/invites", nil, true},
		{"backups", browser, "GET", "/web/settings/data", nil, true},
		{"home", browser, "GET", "/web", nil, false},
		{"settings", browser, "GET", "/web/settings", nil, false},
		{"rules", browser, "GET", "/web/admin/rules", nil, false},
	} {
		a := fetchAs(t, tt.as, tt.method, tt.path, tt.form, "Accept-Encoding", "gzip")
		if a.zipped() == tt.secret || len(a.body) < 1<<10 {
			t.Errorf("%s: %d, encoding %q, %d bytes", tt.name, a.status, a.header.Get("Content-Encoding"), len(a.body))
		}
	}
	for site, want := range map[string]bool{"cross-site": false, "same-site": false, "same-origin": true, "none": true} {
		if a := fetchAs(t, browser, "GET", "/web/search?access_token=x&q=herons", nil, "Accept-Encoding", "gzip", "Sec-Fetch-Site", site); a.status != 200 || a.zipped() != want {
			t.Errorf("a page that a link of %s leads to: %d, encoding %q", site, a.status, a.header.Get("Content-Encoding"))
		}
	}
}
