package pages_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"svc/app/apptest"
)

// hostile is HTML that would run a script, or change the page, if a page showed it as it is.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`, `<a href="javascript:alert(1)">x</a>`,
	`<a href="JaVa&#9;Script:alert(1)">x</a>`, `<iframe src="https://evil.example"></iframe>`, `<style>body{display:none}</style>`, `<p style="position:fixed">x</p>`,
	`<form action="https://evil.example"><button form=act formaction=https://evil.example>x</button></form>`, `<math><mi//xlink:href="data:x,<script>">`,
	`<noscript><p title="</noscript><img src=x onerror=alert(1)>">`, `</textarea><script>alert(1)</script>`, `</title><script>alert(1)</script>`,
	`<input name=form_token value=x>`, `<base href="https://evil.example/">`, `<meta http-equiv=refresh content="0;url=https://evil.example">`, `{{.Frame}}`,
}

// TestHostileContent puts such HTML wherever users and other servers can put text, and looks at the elements and attributes of each page that shows it.
func TestHostileContent(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	admin := srv.SignUp("admin")
	srv.SetRole(admin, true, false)
	all := strings.Join(hostile, " ")
	short := hostile[2]
	bob := peer.AddActor("bob", apptest.Doc{"name": short, "summary": all, "attachment": []any{
		apptest.Doc{"type": "PropertyValue", "name": short, "value": all},
	}})
	bobID := srv.FetchActor(bob)
	admin.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{
		"display_name": short, "note": all, "fields_attributes": []any{map[string]any{"name": short, "value": short}},
	}).Want(200)
	var ids []string
	for i, text := range hostile {
		ids = append(ids, admin.Publish(text, "spoiler_text", text, "content_type", []string{"text/plain", "text/html", "text/markdown"}[i%3], "language", "en").ID())
		note := peer.Note(bob, text+` <a href="`+admin.URI()+`" class="mention">@admin</a>`, apptest.Doc{
			"summary": text, "tag": []any{
				apptest.Doc{"type": "Mention", "href": admin.URI(), "name": "@admin"}, apptest.Doc{"type": "Hashtag", "name": "#" + text, "href": "javascript:alert(1)"},
				apptest.Doc{"type": "Emoji", "name": ":x" + `"onerror="` + ":", "icon": apptest.Doc{"type": "Image", "url": `https://evil.example/"onerror="x`}},
			},
			"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": `https://far.example/a.png?"onerror="x`, "name": text}},
			"cc":         []any{admin.URI()},
		})
		peer.PostAndSettle(srv, peer.Create(note))
	}
	poll := admin.SendJSON("POST", "/api/v1/statuses", map[string]any{"status": "poll", "poll": map[string]any{"options": hostile[:3], "expires_in": 3600}}).Want(200).Object().ID()
	admin.Post("/api/v1/lists", "title", short).Want(200)
	admin.Post("/api/v2/filters", "title", short, "context[]", "home", "keywords_attributes[][keyword]", short).Want(200)
	admin.Post("/api/v1/reports", "account_id", bobID, "comment", all).Want(200)

	app := srv.RegisterApp("client_name", short, "website", "https://example.org/?"+short)
	query := func(pairs ...string) string { return "?" + apptest.Pairs(pairs).Encode() }
	authorize := query("response_type", "code", "client_id", app.ID, "state", all)
	paths := []string{
		"/oauth/authorize" + authorize, "/oauth/authorize" + authorize + "&force_login=true", "/oauth/authorize" + query("client_id", all),
		"/auth/sign_up" + query("nickname", all, "email", all, "reason", all, "birthday", all, "continue", "/oauth/authorize?"+all), "/auth/forgot_password", "/auth/confirmed" + query("state", all),
		"/main/ostatus" + query("nickname", "admin", "profile", all), "/main/ostatus" + query("status_id", poll, "profile", all),
		"/ostatus_subscribe" + query("acct", bob), "/ostatus_subscribe" + query("acct", srv.URL+"/@admin/"+poll), "/ostatus_subscribe" + query("acct", all[:200]), "/setup/%3Cscript%3E",
		"/api/v1/svc/password_reset/%3Cscript%3E", "/registration/%3Cscript%3E",
		"/", "/about", "/public", "/@admin", "/@admin/with_replies", "/@admin/media", "/@admin/" + poll, "/web", "/web/known", "/web/notifications", "/web/lists", "/web/filters",
		"/web/search?q=" + "%3Cscript%3Ealert(1)%3C/script%3E", "/web/compose?reply=" + ids[0], "/web/compose?quote=" + ids[1], "/web/compose?edit=" + ids[2], "/@bob@" + peer.Host,
		"/web/admin/reports", "/web/admin/accounts", "/web/settings/profile", "/web/settings/sessions", "/web/sign_in?back=%22%3E%3Cscript%3E", "/tags/%3Cscript%3E",
		"/web?done=%22%3E%3Cscript%3E", "/web/statuses/" + ids[0] + "/more", "/web/statuses/" + ids[3] + "/delete", "/@admin.rss",
	}
	for _, id := range ids {
		paths = append(paths, "/@admin/"+id, "/ostatus_subscribe"+query("acct", srv.URL+"/@admin/"+id))
	}
	for name, browser := range map[string]*apptest.Browser{"an admin": admin.SignedIn(), "a visitor": srv.Browser()} {
		for _, path := range paths {
			page := browser.Get(path)
			if page.Status >= 500 {
				t.Errorf("%s gets %d for %s", name, page.Status, path)
			}
			for _, fault := range faultsOf(string(page.Body)) {
				t.Errorf("%s, %s: %s", path, name, fault)
			}
			if policy := page.Header.Get("Content-Security-Policy"); page.Status == 200 && !strings.Contains(policy, "default-src 'none'") && !strings.HasSuffix(path, ".rss") {
				t.Errorf("%s has the policy %q", path, policy)
			}
		}
	}
}

// faultsOf returns the elements and attributes of a page that none of its templates has.
func faultsOf(source string) (faults []string) {
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return []string{err.Error()}
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			value := strings.ToLower(strings.Map(printable, a.Val))
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc", a.Key == "http-equiv":
				faults = append(faults, fmt.Sprintf("<%s %s=%q>", n.Data, a.Key, a.Val))
			case slices.Contains([]string{"href", "src", "action", "formaction", "poster"}, a.Key) && strings.HasPrefix(value, "javascript:"),
				slices.Contains([]string{"action", "formaction"}, a.Key) && !strings.HasPrefix(value, "/"):
				faults = append(faults, fmt.Sprintf("<%s %s=%q>", n.Data, a.Key, a.Val))
			case n.Data == "script" && a.Key == "src" && !regexp.MustCompile(`^/web/assets/[\w-]{12}/app\.js$`).MatchString(a.Val):
				faults = append(faults, fmt.Sprintf("<script src=%q>", a.Val))
			}
		}
		switch {
		case slices.Contains([]string{"iframe", "style", "base", "object", "embed", "noscript", "math"}, n.Data):
			faults = append(faults, "<"+n.Data+">")
		case n.Data == "script" && n.FirstChild != nil:
			faults = append(faults, "<script>"+n.FirstChild.Data)
		}
	}
	return faults
}

// printable leaves out the characters that browsers ignore in the scheme of a URL.
func printable(r rune) rune {
	if r <= ' ' {
		return -1
	}
	return r
}
