package federation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// setFields sets the fields of a user, one for each value.
func setFields(m *apptest.User, values ...string) *apptest.Object {
	m.Server.T.Helper()
	fields := []map[string]any{}
	for i, v := range values {
		fields = append(fields, map[string]any{"name": fmt.Sprint("field ", i), "value": v})
	}
	return m.UpdateProfile(map[string]any{"fields_attributes": fields})
}

// verifiedFields returns which fields of an account are verified, by their position.
func verifiedFields(srv *apptest.Server, id string) (verified []string) {
	srv.T.Helper()
	for i, f := range srv.As(nil).Get("/api/v1/accounts/" + id).Want(200).Object().At("fields").([]any) {
		if at := f.(map[string]any)["verified_at"]; at != nil {
			if _, err := time.Parse("2006-01-02T15:04:05.000Z", at.(string)); err != nil {
				srv.T.Error(err)
			}
			verified = append(verified, fmt.Sprint(i))
		}
	}
	return verified
}

// runLinkChecks makes the recurring job of link checks due, and runs the jobs of the next hours.
func runLinkChecks(srv *apptest.Server) {
	srv.T.Helper()
	err := srv.DB.Update(srv.T.Context(), func(tx *store.Tx) error { return tx.RunRecurringNow(srv.T.Context(), store.CheckLinks{}) })
	if err != nil {
		srv.T.Fatal(err)
	}
	srv.RunJobs()
	for range 4 {
		srv.Advance(time.Hour)
		srv.RunJobs()
	}
}

const mePage = `<html><head><title>x</title></head><body><p><a class="x" rel="nofollow ME" href="%s">me</a>`

func TestVerifiedLinks(t *testing.T) {
	for _, tt := range []struct {
		name, page string // URL is that of the profile, ID that of the actor
		header     http.Header
		status     int
		want       bool
	}{
		{"a link", `<a href="URL" rel="me">x</a>`, nil, 200, true},
		{"a link in the head, to the actor", `<head><link rel="me" href="ID"></head>`, nil, 200, true},
		{"a header", `<p>nothing`, http.Header{"Link": {`</style>; rel=preload, <URL>; rel="x me"`}}, 200, true},
		{"a header about another page", `<p>nothing`, http.Header{"Link": {`<URL>; rel=me; anchor="/other"`}}, 200, false},
		{"no link", `URL`, nil, 200, false},
		{"a link without rel", `<a href="URL">x</a>`, nil, 200, false},
		{"a link to another account", `<a href="URLs" rel="me">x</a>`, nil, 200, false},
		{"an error with a link", `<a href="URL" rel="me">x</a>`, nil, 404, false},
		{"another error with a link", `<a href="URL" rel="me">x</a>`, nil, 503, false},
		{"another media type", `<a href="URL" rel="me">x</a>`, http.Header{"Content-Type": {"text/plain"}}, 200, false},
		{"behind a large page", strings.Repeat(" ", 2<<20) + `<a href="URL" rel="me">x</a>`, nil, 200, false},
		{"endless redirects", "", http.Header{"Location": {"/me"}}, 302, false},
		{"a redirect to a private address", "", http.Header{"Location": {"http://10.0.0.1/"}}, 302, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, site := apptest.StartWithFake(t)
			alice := srv.SignUp("alice")
			profile := alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object().Str("url")
			page := strings.NewReplacer("URL", profile, "ID", alice.URI())
			site.Check = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				w.Header().Set("Content-Type", "text/html")
				for k, v := range tt.header {
					w.Header().Set(k, page.Replace(v[0]))
				}
				w.WriteHeader(tt.status)
				fmt.Fprint(w, page.Replace(tt.page))
				return false
			}
			if got := setFields(alice, "text", site.URL+"/me").At("source.fields").([]any)[1].(map[string]any)["verified_at"]; got != nil {
				t.Errorf("source has verified_at %v", got)
			}
			srv.RunJobs()
			want := []string{}
			if tt.want {
				want = append(want, "1")
			}
			apptest.WantList(t, "verified fields", verifiedFields(srv, alice.ID), want...)
		})
	}
}

// TestVerifiedLinkOverTime changes a field and its page: the mark goes with the value, with the link, and if the page is away for long.
func TestVerifiedLinkOverTime(t *testing.T) {
	srv, site := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	page := fmt.Sprintf(mePage, alice.Get("/api/v1/accounts/"+alice.ID).Want(200).Object().Str("url"))
	respond := func(status int, body string) { site.Respond("/me", status, "text/html", []byte(body)) }
	want := func(what string, fields ...string) {
		t.Helper()
		apptest.WantList(t, what, verifiedFields(srv, alice.ID), fields...)
	}
	respond(200, "no link yet")
	setFields(alice, site.URL+"/me")
	srv.RunJobs()
	want("no link")
	respond(200, page)
	setFields(bob, site.URL+"/me")
	setFields(alice, site.URL+"/me", "more")
	srv.RunJobs()
	want("saved again", "0")
	apptest.WantList(t, "of another account", verifiedFields(srv, bob.ID))
	fetched := site.Fetches("/me")
	setFields(alice, "more", site.URL+"/me")
	alice.UpdateProfile(map[string]any{"note": "x"})
	want("moved", "1")
	srv.RunJobs()
	runLinkChecks(srv)
	if got := site.Fetches("/me") - fetched; got != 0 {
		t.Errorf("got %d fetches of a verified page before a week", got)
	}
	setFields(alice, "more", site.URL+"/me#other")
	want("changed")
	respond(503, page)
	setFields(alice, site.URL+"/me")
	respond(200, page)
	srv.Advance(time.Hour) // the page is fetched again
	srv.RunJobs()
	want("reached later", "0")

	respond(503, page)
	for range 3 { // weeks
		srv.Advance(6*24*time.Hour + 20*time.Hour)
		runLinkChecks(srv)
		want("not reached", "0")
	}
	srv.Advance(9 * 24 * time.Hour)
	runLinkChecks(srv)
	want("not reached for long")
	respond(200, page)
	srv.Advance(7 * 24 * time.Hour)
	runLinkChecks(srv)
	want("back", "0")
	respond(200, "no link")
	srv.Advance(7 * 24 * time.Hour)
	runLinkChecks(srv)
	want("no link any more")
	setFields(alice)
	srv.Advance(7 * 24 * time.Hour)
	runLinkChecks(srv)
	if n := srv.Count(`SELECT count(*) FROM link_checks WHERE account_id = ?`, int64(alice.AccountID())); n != 0 {
		t.Error("an account without links is still checked")
	}
}

// TestVerifiedLinkBehindRedirects checks that the page to which a link redirects counts, and the links of that page as they are: whether another
// address redirects to the profile is up to its owner, and finding out would let each page choose where this server sends requests.
func TestVerifiedLinkBehindRedirects(t *testing.T) {
	srv, site := apptest.StartWithFake(t)
	target := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	profile := alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object().Str("url")
	for name, tt := range map[string]struct {
		link, page string
		want       bool
	}{
		"a page behind redirects":         {"/moved", fmt.Sprintf(mePage, profile), true},
		"a page behind too many of them":  {"/far/0", fmt.Sprintf(mePage, profile), false},
		"a link to a redirect":            {"/direct", fmt.Sprintf(mePage, target.URL+"/redirect"), false},
		"a relative link to the redirect": {"/moved", fmt.Sprintf(mePage, "/redirect"), false},
	} {
		t.Run(name, func(t *testing.T) {
			site.Check = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				if far, ok := strings.CutPrefix(r.URL.Path, "/far/"); ok {
					http.Redirect(w, r, "/far/"+far+"0", http.StatusFound)
				} else {
					http.Redirect(w, r, target.URL+"/page", http.StatusMovedPermanently)
				}
				return false
			}
			followed := 0
			target.Check = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				if r.URL.Path == "/redirect" {
					followed++
					http.Redirect(w, r, profile, http.StatusFound)
					return false
				}
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, tt.page)
				return false
			}
			link := site.URL + tt.link
			if tt.link == "/direct" {
				link = target.URL + tt.link
			}
			srv.Advance(2 * time.Hour)
			setFields(alice, link)
			srv.RunJobs()
			if got := len(verifiedFields(srv, alice.ID)) > 0; got != tt.want || followed > 0 {
				t.Errorf("verified: %v, want %v; %d requests for the redirect in the page", got, tt.want, followed)
			}
			setFields(alice)
		})
	}
}

// countRequests lets a site answer all requests with 404, and returns how many there were.
func countRequests(site *apptest.FakeServer) *int {
	n := new(int)
	site.Check = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		*n++
		http.Error(w, "", http.StatusNotFound)
		return false
	}
	return n
}

// TestLinkChecksAreBounded saves more links than may be checked, and lets others look at the profile.
func TestLinkChecksAreBounded(t *testing.T) {
	srv, site := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	requests := countRequests(site)
	for i := range 30 {
		setFields(alice, fmt.Sprint(site.URL, "/", i), fmt.Sprint(site.URL, "/", i, "b"))
		srv.RunJobs()
	}
	if *requests != 20 {
		t.Errorf("got %d requests for an account in an hour, want 20", *requests)
	}
	if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'check_link'`); n > 2 {
		t.Errorf("%d jobs for two fields are queued", n)
	}
	*requests = 0
	for i := range 5 {
		m := srv.SignUp(fmt.Sprint("m", i))
		for k := range 10 {
			setFields(m, fmt.Sprint(site.URL, "/", i, "/", k))
			srv.RunJobs()
		}
	}
	if *requests != 40 {
		t.Errorf("got %d requests for a host, want the rest of 60", *requests)
	}
	*requests = 0
	for range 3 {
		srv.As(nil).Get("/api/v1/accounts/" + alice.ID).Want(200)
		srv.As(nil).Get("/@alice", "").Want(200)
		srv.RunJobs()
	}
	if *requests != 0 {
		t.Errorf("visitors caused %d requests", *requests)
	}
	srv.Advance(26 * time.Hour)
	srv.RunJobs()
	if *requests != 3 {
		t.Errorf("got %d requests a day later, want those of the 3 fields that were not checked", *requests)
	}
}

// verifiableField is the field of a remote actor with a link to a page.
func verifiableField(page string) apptest.Doc {
	return apptest.Doc{"attachment": []any{
		apptest.Doc{"type": "PropertyValue", "name": "pronouns", "value": "she"},
		apptest.Doc{"type": "PropertyValue", "name": "site", "value": `<a href="` + page + `" target="_blank" rel="nofollow me"><span class="invisible">http://</span><span>` + strings.TrimPrefix(page, "http://") + `</span></a>`},
	}}
}

// TestVerifiedLinksOfRemoteAccount checks that the pages of a remote account are fetched once a local account follows it, and when a field changes.
func TestVerifiedLinksOfRemoteAccount(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	site := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob", verifiableField(site.URL+"/bob"))
	site.Respond("/bob", 200, "text/html", fmt.Appendf(nil, mePage, peer.URL+"/@bob/"))
	site.Respond("/other", 200, "text/html", fmt.Appendf(nil, mePage, bob))
	id := srv.FetchActor(bob)
	want := func(what string, fetches int, fields ...string) {
		t.Helper()
		apptest.WantList(t, what, verifiedFields(srv, id), fields...)
		if got := site.Fetches("/bob") + site.Fetches("/other"); got != fetches {
			t.Errorf("%s: got %d fetches, want %d", what, got, fetches)
		}
	}
	apptest.Settle(srv)
	want("known", 0)

	alice.Post("/api/v1/accounts/" + id + "/follow").Want(200)
	apptest.Settle(srv)
	want("requested", 0)
	follow := peer.OneDelivered("Follow")
	peer.PostAndSettle(srv, peer.Activity("Accept", bob, follow))
	want("followed", 1, "1")
	carol := srv.SignUp("carol")
	carol.Post("/api/v1/accounts/" + id + "/follow").Want(200)
	apptest.Settle(srv)
	peer.PostAndSettle(srv, peer.Activity("Accept", bob, peer.Delivered("Follow")[1]))
	want("followed by another", 1, "1")

	update := func(changes apptest.Doc) {
		t.Helper()
		peer.AddActor("bob", changes)
		peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.Doc{"id": bob, "type": "Person"}))
		srv.Advance(10 * time.Minute)
		srv.FetchActor(bob)
		apptest.Settle(srv)
	}
	update(apptest.With(verifiableField(site.URL+"/bob"), apptest.Doc{"summary": "new"}))
	want("another bio", 1, "1")
	update(verifiableField(site.URL + "/other"))
	want("another field", 2, "1")
	site.Respond("/other", 200, "text/html", []byte("no link"))
	srv.Advance(8 * 24 * time.Hour)
	runLinkChecks(srv)
	want("a week later", 3)
	site.Respond("/other", 200, "text/html", fmt.Appendf(nil, mePage, bob))
	srv.Advance(8 * 24 * time.Hour)
	runLinkChecks(srv)
	want("two weeks later", 4, "1")

	for _, m := range []*apptest.User{alice, carol} {
		m.Post("/api/v1/accounts/" + id + "/unfollow").Want(200)
	}
	srv.Advance(8 * 24 * time.Hour)
	runLinkChecks(srv)
	want("nobody follows", 4)
}

// TestLinkChecksOfRemoteAccountsAreBounded lets many remote accounts name one host, directly and by redirects.
func TestLinkChecksOfRemoteAccountsAreBounded(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	victim, redirector := apptest.StartFake(t), apptest.StartFake(t)
	alice := srv.SignUp("alice")
	requests := countRequests(victim)
	redirector.Check = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		http.Redirect(w, r, victim.URL+r.URL.Path, http.StatusFound)
		return false
	}
	for i := range 4 {
		var fields []any
		for k := range 20 {
			page := fmt.Sprint(victim.URL, "/", i, "/", k)
			if i%2 == 1 {
				page = fmt.Sprint(redirector.URL, "/", i, "/", k)
			}
			fields = append(fields, verifiableField(page)["attachment"].([]any)[1])
		}
		bob := peer.AddActor(fmt.Sprint("bob", i), apptest.Doc{"attachment": fields})
		alice.Post("/api/v1/accounts/" + srv.FetchActor(bob) + "/follow").Want(200)
		apptest.Settle(srv)
		follows := peer.Delivered("Follow")
		peer.PostAndSettle(srv, peer.Activity("Accept", bob, follows[len(follows)-1]))
		if i == 0 && *requests != 10 {
			t.Errorf("got %d requests of one account, want 10", *requests)
		}
	}
	if *requests != 10 {
		t.Errorf("got %d requests for a host, want 10 in an hour", *requests)
	}
	if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'check_link'`); n > 30 {
		t.Errorf("%d checks are queued, want at most 10 for each account", n)
	}
}
