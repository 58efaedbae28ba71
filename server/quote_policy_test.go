package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// quoteOf returns the member quote of a status for a viewer, as JSON with the id of the quoted status only.
func quoteOf(m *apptest.Client, id string) string {
	m.Server.T.Helper()
	o := m.Get("/api/v1/statuses/" + id).Want(200).Object()
	if o.At("quote") == nil {
		return "none"
	}
	text := o.Str("quote.state")
	if o.At("quote.quoted_status") != nil {
		text += " " + o.Str("quote.quoted_status.id")
	}
	return text
}

// TestQuoteStates checks the quote of a status for viewers who see the quoted one or not, and why not.
func TestQuoteStates(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	first := alice.Publish("the first").ID()
	second := bob.Publish("the second", "quoted_status_id", first).ID()
	third := carol.Publish("the third", "quoted_status_id", second)
	private := alice.Publish("for followers", "visibility", "private").ID()
	about := alice.Publish("about that", "quoted_status_id", private).ID()
	if got := third.Str("quote.quoted_status.quote.quoted_status_id"); got != first || third.Str("quote.quoted_status.quote.state") != "accepted" {
		t.Errorf("the quote in a quote is %v", third.At("quote.quoted_status.quote"))
	}
	nested := func(want string, quoted any) {
		t.Helper()
		o := carol.Get("/api/v1/statuses/" + third.ID()).Want(200).Object()
		if got := o.Str("quote.quoted_status.quote.state"); got != want || o.At("quote.quoted_status.quote.quoted_status_id") != quoted {
			t.Errorf("the quote in a quote is %v, want %s", o.At("quote.quoted_status.quote"), want)
		}
	}
	want := func(what string, m *apptest.Client, id, want string) {
		t.Helper()
		if got := quoteOf(m, id); got != want {
			t.Errorf("%s: quote is %q, want %q", what, got, want)
		}
	}
	nested("accepted", first)
	want("no quote", alice.Client, first, "none")
	want("a public status", carol.Client, second, "accepted "+first)
	want("a public status", srv.As(nil), second, "accepted "+first)
	want("a private status, for another account", bob.Client, about, "unauthorized")
	want("a private status, for nobody", srv.As(nil), about, "unauthorized")
	srv.AddFollow(bob, alice)
	want("a private status, for a follower", bob.Client, about, "accepted "+private)
	carol.AccountAction(alice.ID, "mute")
	want("a muted author", carol.Client, second, "muted_account")
	nested("muted_account", nil)
	carol.AccountAction(alice.ID, "block")
	want("a blocked author", carol.Client, second, "blocked_account")
	carol.AccountAction(alice.ID, "unmute")
	carol.AccountAction(alice.ID, "unblock")
	alice.AccountAction(carol.ID, "block")
	want("an author who blocks", carol.Client, second, "unauthorized")
	alice.AccountAction(carol.ID, "unblock")
	srv.Exec(`UPDATE statuses SET domain = 'remote.example' WHERE text = 'the first'`)
	carol.Post("/api/v1/domain_blocks", "domain", "remote.example").Want(200)
	want("an author of a blocked domain", carol.Client, second, "blocked_domain")
	srv.Exec(`UPDATE statuses SET domain = '' WHERE text = 'the first'`)
	boost := bob.Post("/api/v1/statuses/" + second + "/reblog").Want(200).Object()
	if boost.Str("quote.quoted_status.id") != first || boost.Str("reblog.quote.quoted_status.id") != first {
		t.Errorf("a boost quotes %v", boost.At("quote.state"))
	}
	alice.Do("DELETE", "/api/v1/statuses/"+first, "", nil).Want(200)
	want("a deleted status", carol.Client, second, "deleted")
	nested("deleted", nil)
	if n := alice.Get("/api/v1/statuses/" + second).Want(200).Object().Int("quotes_count"); n != 1 {
		t.Errorf("quotes_count is %d", n)
	}
}

// TestQuotePolicy checks who may quote a status under each policy, and that quote_approval says the same.
func TestQuotePolicy(t *testing.T) {
	srv := apptest.Start(t)
	alice, follower, other := srv.SignUp("alice"), srv.SignUp("follower"), srv.SignUp("other")
	srv.AddFollow(follower, alice)
	viewers := map[string]*apptest.Client{"alice": alice.Client, "follower": follower.Client, "other": other.Client, "nobody": srv.As(nil)}
	for _, tt := range []struct {
		visibility, policy string
		automatic          string
		may                string
	}{
		{"public", "", "public", "alice follower other"},
		{"public", "public", "public", "alice follower other"},
		{"public", "followers", "followers", "alice follower"},
		{"unlisted", "followers", "followers", "alice follower"},
		{"public", "nobody", "", "alice"},
		{"local", "public", "public", "alice follower other"},
		{"private", "public", "", "alice"},
		{"direct", "public", "", ""},
	} {
		t.Run(tt.visibility+" "+tt.policy, func(t *testing.T) {
			id := alice.Publish("quote me @follower @other", "visibility", tt.visibility, "quote_approval_policy", tt.policy).ID()
			for name, m := range viewers {
				may := strings.Contains(tt.may, name)
				want := map[bool]string{true: "automatic", false: "denied"}[may]
				a := m.Get("/api/v1/statuses/" + id)
				if a.Status == 404 && name == "nobody" {
					continue
				}
				o := a.Want(200).Object()
				automatic := strings.Trim(fmt.Sprint(o.At("quote_approval.automatic")), "[]")
				if automatic != tt.automatic || o.Str("quote_approval.current_user") != want || len(o.At("quote_approval.manual").([]any)) != 0 {
					t.Errorf("quote_approval of %s is %v, want %q, %s", name, o.At("quote_approval"), tt.automatic, want)
				}
				if name != "nobody" {
					status := map[bool]int{true: 200, false: 422}[may]
					m.Post("/api/v1/statuses", "status", "look", "quoted_status_id", id, "visibility", "local").Want(status)
				}
			}
		})
	}
	id := alice.Publish("nobody", "quote_approval_policy", "nobody").ID()
	other.Post("/api/v1/statuses", "status", "look", "quoted_status_id", id).WantError(422, "The author of this post does not allow you to quote it")
	alice.Post("/api/v1/statuses", "status", "x", "quote_approval_policy", "everyone").Want(422)
}

// TestChangeQuotePolicy changes the policy of a status, and the default.
func TestChangeQuotePolicy(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	id := alice.Publish("quote me").ID()
	quote := bob.Publish("look", "quoted_status_id", id).ID()
	path := "/api/v1/statuses/" + id + "/interaction_policy"
	l := srv.OpenStream(bob.Client, "stream", "public")
	policy := func(o *apptest.Object) string { return fmt.Sprint(o.At("quote_approval.automatic")) }
	if o := alice.Do("PUT", path, "application/json", strings.NewReader(`{"quote_approval_policy":"nobody"}`)).Want(200).Object(); policy(o) != "[]" || o.At("edited_at") != nil {
		t.Errorf("quote_approval is %v, edited at %v", o.At("quote_approval"), o.At("edited_at"))
	}
	l.WantEvents("a new policy", "public: status.update "+id)
	alice.SendJSON("PUT", path, map[string]any{"quote_approval_policy": "nobody"}).Want(200)
	l.WantEvents("the same policy")
	bob.Post("/api/v1/statuses", "status", "again", "quoted_status_id", id).Want(422)
	if got := quoteOf(bob.Client, quote); got != "accepted "+id {
		t.Errorf("an earlier quote is %s", got)
	}
	for _, tt := range []struct {
		as   *apptest.Client
		id   string
		body string
		want int
	}{
		{alice.Client, id, `{}`, 400},
		{alice.Client, id, `{"quote_approval_policy":""}`, 422},
		{alice.Client, id, `{"quote_approval_policy":"friends"}`, 422},
		{bob.Client, id, `{"quote_approval_policy":"public"}`, 404},
		{alice.Client, "x", `{"quote_approval_policy":"public"}`, 404},
		{srv.As(nil), id, `{"quote_approval_policy":"public"}`, 401},
		{srv.NewToken(alice, "read"), id, `{"quote_approval_policy":"public"}`, 403},
	} {
		tt.as.Do("PUT", "/api/v1/statuses/"+tt.id+"/interaction_policy", "application/json", strings.NewReader(tt.body)).Want(tt.want)
	}
	edited := alice.EditStatus(id, map[string]any{"status": "quote me", "quote_approval_policy": "followers"}).Want(200).Object()
	if policy(edited) != "[followers]" || edited.At("edited_at") != nil {
		t.Errorf("after an edit quote_approval is %v, edited at %v", edited.At("quote_approval"), edited.At("edited_at"))
	}
	alice.EditStatus(id, map[string]any{"status": "quote me", "quote_approval_policy": "x"}).Want(422)
	if o := alice.EditStatus(id, map[string]any{"status": "do quote me"}).Want(200).Object(); policy(o) != "[followers]" {
		t.Errorf("after an edit without a policy it is %v", o.At("quote_approval"))
	}

	alice.UpdateProfile(map[string]any{"source": map[string]any{"quote_policy": "nobody"}})
	if got := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object().Str("source.quote_policy"); got != "nobody" {
		t.Errorf("source.quote_policy is %s", got)
	}
	if got := policy(alice.Publish("default")); got != "[]" {
		t.Errorf("the default makes %s", got)
	}
	if got := policy(alice.Publish("not the default", "quote_approval_policy", "public")); got != "[public]" {
		t.Errorf("the parameter makes %s", got)
	}
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"source": map[string]any{"quote_policy": "all"}}).Want(422)

	later := store.At(srv.DB.Now()).Time().AddDate(0, 0, 1).Format("2006-01-02T15:04:05Z")
	scheduled := alice.Post("/api/v1/statuses", "status", "later", "scheduled_at", later, "quote_approval_policy", "followers", "quoted_status_id", quote).Want(200).Object()
	if scheduled.Str("params.quote_approval_policy") != "followers" || scheduled.Str("params.quoted_status_id") != quote {
		t.Errorf("a scheduled status has %v", scheduled.At("params"))
	}
}

// TestRevokeQuote removes quotes of local statuses by local ones.
func TestRevokeQuote(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	id, other := alice.Publish("quote me").ID(), alice.Publish("not this").ID()
	quote, kept := bob.Publish("look", "quoted_status_id", id).ID(), bob.Publish("see", "quoted_status_id", id).ID()
	list := func() string {
		b, _ := json.Marshal(carol.Get("/api/v1/statuses/" + id + "/quotes").Want(200).IDs())
		return string(b)
	}
	if got := list(); got != `["`+kept+`","`+quote+`"]` {
		t.Errorf("the quotes are %s", got)
	}
	carol.Get("/api/v1/statuses/x/quotes").Want(404)
	apptest.WantPages(t, carol, "/api/v1/statuses/"+id+"/quotes", []string{kept, quote})
	for _, tt := range []struct {
		as        *apptest.Client
		id, quote string
		want      int
	}{
		{bob.Client, id, quote, 404}, {carol.Client, id, quote, 404}, {alice.Client, other, quote, 404}, {alice.Client, id, other, 404},
		{alice.Client, id, "x", 404}, {srv.As(nil), id, quote, 401}, {srv.NewToken(alice, "read"), id, quote, 403},
	} {
		tt.as.Post("/api/v1/statuses/" + tt.id + "/quotes/" + tt.quote + "/revoke").Want(tt.want)
	}
	if got := quoteOf(carol.Client, quote); got != "accepted "+id {
		t.Errorf("before it is revoked the quote is %s", got)
	}
	l := srv.OpenStream(carol.Client, "stream", "public")
	revoked := alice.Post("/api/v1/statuses/" + id + "/quotes/" + quote + "/revoke").Want(200).Object()
	if revoked.ID() != quote || revoked.Str("quote.state") != "revoked" || revoked.At("quote.quoted_status") != nil || revoked.At("svc.quote") != nil {
		t.Errorf("the answer is %v with quote %v", revoked.ID(), revoked.At("quote"))
	}
	if got := revoked.Str("content"); strings.Contains(got, "RE:") {
		t.Errorf("the content is still %s", got)
	}
	l.WantEvents("a revoked quote", "public: status.update "+quote)
	alice.Post("/api/v1/statuses/" + id + "/quotes/" + quote + "/revoke").Want(404)
	if got := list(); got != `["`+kept+`"]` {
		t.Errorf("the quotes left are %s", got)
	}
	if n := carol.Get("/api/v1/statuses/" + id).Want(200).Object().Int("quotes_count"); n != 1 {
		t.Errorf("quotes_count is %d", n)
	}
	bob.EditStatus(quote, map[string]any{"status": "look again"}).Want(200)
	if got := quoteOf(bob.Client, quote); got != "revoked" {
		t.Errorf("after an edit the quote is %s", got)
	}
}
