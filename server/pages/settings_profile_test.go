package pages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestProfilePictures uploads an avatar and a banner by the page, and removes them.
func TestProfilePictures(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	for _, field := range []string{"avatar", "header"} {
		standard := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object().Str(field)
		own := apptest.FilePart(apptest.PNG(8, 8))
		own.Name = field
		page := browser.Get("/web/settings/profile").Want(200)
		if strings.Contains(page.Text, "Remove the picture") {
			t.Fatalf("%s: the standard picture can be removed", field)
		}
		page = page.PressWithFile("Save", own).Follow().Want(200, "Saved.", "Remove the picture")
		if got := alice.Get("/api/v1/accounts/verify_credentials").Object().Str(field); got == standard || !strings.Contains(string(page.Body), got) {
			t.Errorf("%s is %s, on the page %s", field, got, page.Body)
		}
		page.Press("Remove the picture").Follow().Want(200, "Saved.")
		if got := alice.Get("/api/v1/accounts/verify_credentials").Object().Str(field); got != standard {
			t.Errorf("%s is %s after it was removed", field, got)
		}
	}
}

// TestAttributionDomainsForm changes the hosts whose pages may name the account as their author: one a line. Wrong ones change nothing.
func TestAttributionDomainsForm(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	const path, field = "/web/settings/profile", "attribution_domains"
	stored := func() string {
		return fmt.Sprint(alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object().Find("source.attribution_domains"))
	}
	shown := func() string {
		forms := browser.Get(path).Want(200, "Websites that may name you as their author").Forms
		i := slices.IndexFunc(forms, func(f *apptest.Form) bool { return f.Fields.Has(field) })
		return forms[i].Fields.Get(field)
	}
	browser.Get(path).Press("Save", field, "Blog.example.org\r\n\r\n example.com blog.example.org\r\nmünchen.example").Follow().Want(200, "Saved.")
	const want = "[blog.example.org example.com xn--mnchen-3ya.example]"
	if got := stored(); got != want {
		t.Errorf("stored are %s, want %s", got, want)
	}
	if got := strings.Fields(shown()); fmt.Sprint(got) != want {
		t.Errorf("the form has %q", got)
	}
	browser.Get(path).Press("Save", "note", "Tea").Follow().Want(200, "Saved.")
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf("host%d.example", i)
	}
	for wrong, message := range map[string]string{
		"https://example.org": `"https://example.org" in attribution_domains is not a host name`, "example.org:8443": "is not a host name",
		"192.0.2.1": "is not a host name", "localhost": "is not a host name", "a_b@example.org": "is not a host name",
		strings.Repeat("x", 300) + ".example": "is not a host name", strings.Join(many, "\n"): "at most 100 hosts",
	} {
		browser.Get(path).Press("Save", "display_name", "Changed", field, wrong).Want(422, message)
	}
	if got := stored(); got != want || alice.Get("/api/v1/accounts/verify_credentials").Object().Str("display_name") == "Changed" {
		t.Errorf("stored are %s after wrong ones, want %s", got, want)
	}
	browser.Get(path).Press("Save", field, strings.Join(many[:100], "\n")).Follow().Want(200, "Saved.")
	browser.Get(path).Press("Save", field, "").Follow().Want(200, "Saved.")
	if got := stored(); got != "[]" || shown() != "" {
		t.Errorf("stored are %s after they were removed, the form has %q", got, shown())
	}
}

// TestFeaturedTagsPage adds and removes hashtags of the profile.
func TestFeaturedTagsPage(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	alice.Publish("a cup of #tea and #milk")
	browser := alice.SignedIn()
	const path = "/web/settings/featured_tags"
	page := browser.Get(path).Want(200, "You feature no hashtags yet.", "Hashtags that you often use")
	page = page.Press("Feature #tea").Follow().Want(200, "Saved.", "Posts: 1")
	page = page.Press("Feature the hashtag", "name", "#Cake").Follow().Want(200, "Saved.", "#cake")
	names := func() (list []string) {
		for _, tag := range alice.Get("/api/v1/featured_tags").Want(200).List() {
			list = append(list, tag.Str("name"))
		}
		return list
	}
	if got := names(); !slices.Equal(got, []string{"tea", "cake"}) {
		t.Errorf("featured are %v", got)
	}
	for _, name := range []string{"", "not a tag", "#", "!"} {
		refused := page.Press("Feature the hashtag", "name", name).Want(422, "Validation failed")
		if !strings.Contains(string(refused.Body), `role="alert"`) {
			t.Errorf("%q: %s", name, refused.Text)
		}
	}
	browser.Get(path).Press("Remove #tea").Follow().Want(200, "Saved.")
	if got := names(); len(got) != 1 {
		t.Errorf("featured are %v after one was removed", got)
	}
	for i := range 9 {
		alice.Post("/api/v1/featured_tags", "name", fmt.Sprintf("more%d", i)).Want(200)
	}
	browser.Get(path).Press("Feature the hashtag", "name", "eleventh").Want(422, "You cannot feature more than 10 hashtags")
}

// TestInteractionPoliciesPage chooses who may interact with new posts, and keeps what an app has set.
func TestInteractionPoliciesPage(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	browser := alice.SignedIn()
	const path, defaults = "/web/settings/interactions", "/api/v1/interaction_policies/defaults"
	browser.Get(path).Want(200).Press("Save").Follow().Want(200, "Saved.")
	if id := alice.Publish("free").ID(); alice.Get("/api/v1/statuses/"+id).Object().Find("interaction_policy") != nil {
		t.Error("saving the standard makes a policy")
	}
	for _, tt := range []struct{ field, rule, member, automatic, manual string }{
		{"public_can_reply", "followers|public", "public.can_reply", "[author followers]", "[public]"},
		{"public_can_favourite", "|public", "public.can_favourite", "[author]", "[public]"},
		{"unlisted_can_reblog", "|", "unlisted.can_reblog", "[author]", "[]"},
		{"private_can_reply", "following|followers", "private.can_reply", "[author following]", "[followers]"},
		{"direct_can_favourite", "|", "direct.can_favourite", "[author]", "[]"},
		{"public_can_reply", "public|", "public.can_reply", "[public]", "[]"},
	} {
		t.Run(tt.field+" "+tt.rule, func(t *testing.T) {
			page := browser.Get(path).Want(200).Press("Save", tt.field, tt.rule).Follow().Want(200, "Saved.")
			o := alice.Get(defaults).Want(200).Object()
			if a, m := fmt.Sprint(o.Find(tt.member+".automatic_approval")), fmt.Sprint(o.Find(tt.member+".manual_approval")); a != tt.automatic || m != tt.manual {
				t.Errorf("the rule is %s %s", a, m)
			}
			if i := slices.IndexFunc(page.Forms, func(f *apptest.Form) bool { return f.Fields.Get(tt.field) == tt.rule }); i < 0 {
				t.Errorf("the page shows another rule: %s", page.Body)
			}
		})
	}
	// The rules that were chosen one after another are all in force.
	id := alice.Publish("asked", "visibility", "public").ID()
	if got := bob.Post("/api/v1/statuses/" + id + "/favourite").Want(200).Object(); !got.Bool("svc.pending_favourite") {
		t.Error("a favourite does not wait for approval")
	}
	alice.SendJSON("PATCH", defaults, map[string]any{"public": map[string]any{"can_reply": map[string]any{"always": []string{"following", "followers"}}}}).Want(200)
	browser.Get(path).Want(200, "As set by an app").Press("Save", "public_can_reblog", "|").Follow()
	if got := fmt.Sprint(alice.Get(defaults).Object().Find("public.can_reply.automatic_approval")); got != "[author followers following]" {
		t.Errorf("the rule of the app became %s", got)
	}
	browser.Get(path).Press("Save", "public_can_reply", "robots|").Want(422, `Invalid value "robots": must be public, followers`)
}

// TestSentFollowRequests withdraws a follow request.
func TestSentFollowRequests(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.Lock()
	browser := alice.SignedIn()
	browser.Get("/web/requests/sent").Want(200, "All your requests are answered.")
	alice.AccountAction(bob.ID, "follow")
	browser.Get("/web/requests/sent").Want(200, "@bob").Press("Withdraw").Follow().Want(200, "Your request is withdrawn.", "All your requests are answered.")
	if alice.Relationship(bob.ID).Bool("requested") {
		t.Error("the request is not withdrawn")
	}
}

// TestAliasRefused names an account that does not exist as the old one.
func TestAliasRefused(t *testing.T) {
	srv := apptest.Start(t)
	page := srv.SignUp("alice").SignedIn().Get("/web/settings/moving").Press("Add", "alias", "nobody@"+srv.Settings.Host()).Want(404, "Target account does not exist.")
	if !strings.Contains(string(page.Body), `value="nobody@`) || !strings.Contains(string(page.Body), `role="alert"`) {
		t.Errorf("the page is %s", page.Body)
	}
}

// TestChangedPassword changes the password by the page, which signs out all browsers and apps and leads to the sign-in page.
func TestChangedPassword(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser, other := alice.SignedIn(), alice.SignedIn()
	const password = "another long one"
	browser.Get("/web/settings/password").Press("Change the password", "password", apptest.Password, "new_password", password, "new_password_confirmation", password).
		Follow().Want(200, "Your password is changed. Sign in with the new one.", "Nickname or e-mail address")
	for _, b := range []*apptest.Browser{browser, other} {
		if a := b.Get("/web"); a.Status != 302 {
			t.Errorf("a browser gets %d", a.Status)
		}
	}
	alice.Get("/api/v1/accounts/verify_credentials").Want(401)
	page := srv.Browser().Get("/web/sign_in").Want(200)
	page.Press("Sign in", "name", "alice", "password", apptest.Password).Want(401)
	page.Press("Sign in", "name", "alice", "password", password).Follow().Want(200)
}
