package server_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestStartPage checks the start page, and that unknown paths return a page to browsers and JSON to other clients.
func TestStartPage(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.Name, c.Instance.ShortDescription = "Tea & <Biscuits>", "For friends of tea"
		c.Instance.RegistrationsOpen = false
	})
	for _, tt := range []struct {
		path, accept string
		status       int
		contentType  string
		contains     []string
	}{
		{"/", "text/html", 200, "text/html", []string{"Tea &amp; &lt;Biscuits&gt;", "For friends of tea", "Registration is closed"}},
		{"/", "", 200, "text/html", []string{"<h1>"}},
		{"/no/such/page", "text/html,*/*", 404, "text/html", []string{"There is no page at this address."}},
		{"/no/such/page", "application/json", 404, "application/json", []string{`{"error":"Record not found"}`}},
		{"/api/v1/nothing", "text/html", 404, "application/json", []string{`{"error":"Record not found"}`}},
	} {
		t.Run(tt.path+" "+tt.accept, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", tt.accept)
			a := srv.As(nil).DoRequest(req).Want(tt.status)
			if got := a.Header.Get("Content-Type"); !strings.HasPrefix(got, tt.contentType) {
				t.Errorf("Content-Type is %q", got)
			}
			for _, part := range tt.contains {
				if !strings.Contains(string(a.Body), part) {
					t.Errorf("%q is not in %s", part, a.Body)
				}
			}
		})
	}
}

// TestPublicPages checks that the pages of accounts and posts contain only posts that are visible to anonymous viewers.
func TestPublicPages(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": "Al & <i>", "note": "I like #tea"}).Want(200)
	root := alice.Publish("the root <script>alert(1)</script>")
	reply := bob.Publish("a reply", "in_reply_to_id", root.ID())
	bob.Publish("a private reply", "in_reply_to_id", root.ID(), "visibility", "private")
	unlisted := alice.Publish("not listed", "visibility", "unlisted", "spoiler_text", "folded")
	local := alice.Publish("local only", "visibility", "local")
	secret := alice.Publish("followers only", "visibility", "private")
	page := func(url string) *webPage {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/html")
		return &webPage{srv.As(nil).DoRequest(req)}
	}
	profile := page(srv.URL + "/@ALICE")
	profile.shows(200, "Al &amp; &lt;i&gt;", "@alice@", "I like", "the root", "not listed", "<summary><bdi>folded</bdi></summary>")
	profile.hides("local only", "followers only", "<script>", "a reply")
	thread := page(root.Str("url"))
	thread.shows(200, "the root", "a reply", "/@bob")
	thread.hides("a private reply", "<script>")
	page(reply.Str("url")).shows(200, "the root", "a reply")
	page(unlisted.Str("url")).shows(200, "not listed")
	for _, url := range []string{
		local.Str("url"), secret.Str("url"), srv.URL + "/@bob/" + root.ID(), srv.URL + "/@nobody", srv.URL + "/@alice/nonsense", srv.URL + "/@alice/000000000000000000",
	} {
		page(url).shows(404, "There is no page at this address.")
	}
	var want []string
	for i := range 25 {
		want = append(want, fmt.Sprintf("number %d.", i))
		bob.Publish(want[i])
	}
	first := page(srv.URL + "/@bob")
	first.shows(200, want[24], want[5])
	first.hides(want[4])
	older := regexp.MustCompile(`href="([^"]*max_id=[^"]*)"`).FindStringSubmatch(string(first.Body))
	if older == nil {
		t.Fatalf("no older posts in %s", first.Body)
	}
	second := page(srv.URL + strings.ReplaceAll(older[1], "&amp;", "&"))
	second.shows(200, want[4], want[0])
	second.hides(want[5])
}

// TestPrivateInstanceHasNoPages checks that visitors of a private instance are asked to sign in.
func TestPrivateInstanceHasNoPages(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.Public = false })
	alice := srv.SignUp("alice")
	url := alice.Publish("hello").Str("url")
	for _, u := range []string{url, srv.URL + "/@alice"} {
		a := srv.As(nil).Get(u)
		if a.Status != 302 || !strings.HasPrefix(a.Header.Get("Location"), "/web/sign_in?") || strings.Contains(string(a.Body), "hello") {
			t.Errorf("%s: %d %s", u, a.Status, a.Body)
		}
	}
}

// webPage is a response with a page.
type webPage struct{ *apptest.Response }

func (a *webPage) shows(status int, parts ...string) {
	a.T.Helper()
	a.Want(status)
	for _, p := range parts {
		if !strings.Contains(string(a.Body), p) {
			a.T.Errorf("%s: %q is missing in %s", a.Request, p, a.Body)
		}
	}
}

func (a *webPage) hides(parts ...string) {
	a.T.Helper()
	for _, p := range parts {
		if strings.Contains(string(a.Body), p) {
			a.T.Errorf("%s: %q is in %s", a.Request, p, a.Body)
		}
	}
}
