package pages_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/server/web"
	"svc/store"
)

// TestInteractionRequestsPage approves and rejects replies and favourites that wait for it.
func TestInteractionRequestsPage(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := alice.Publish("ask me first", "interaction_policy[can_reply][manual_approval][]", "public", "interaction_policy[can_favourite][manual_approval][]", "public").Str("id")
	bob.Publish("@alice my reply", "in_reply_to_id", post)
	bob.Post("/api/v1/statuses/" + post + "/favourite").Want(200)
	browser := alice.SignedIn()
	browser.Get("/web/notifications").Want(200, "wants to reply to your post", "wants to favourite your post")
	page := browser.Get("/web/interaction_requests").Want(200, "my reply", "wants to favourite your post")
	page.Press("Approve").Follow().Press("Reject").Follow().Want(200, "Nothing waits for your approval.")
}

// TestWaitingForApproval checks that the pages say which reply, boost and favourite of the viewer waits for approval, until it is given.
func TestWaitingForApproval(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := alice.Publish("ask me first", "interaction_policy[can_reply][manual_approval][]", "public", "interaction_policy[can_favourite][manual_approval][]", "public",
		"interaction_policy[can_reblog][manual_approval][]", "public").ID()
	reply := bob.Publish("@alice my reply", "in_reply_to_id", post).ID()
	bob.Post("/api/v1/statuses/" + post + "/favourite").Want(200)
	bob.Post("/api/v1/statuses/" + post + "/reblog").Want(200)
	browser := bob.SignedIn()
	check := func(waits bool) {
		t.Helper()
		for path, text := range map[string]string{
			"/@bob/" + reply:  "This reply waits for the approval",
			"/@alice/" + post: "Your favourite waits for the approval",
			"/@bob":           "This boost waits for the approval",
		} {
			if got := strings.Contains(browser.Get(path).Want(200).Text, text); got != waits {
				t.Errorf("%s says %q: %v, want %v", path, text, got, waits)
			}
		}
	}
	check(true)
	page := alice.SignedIn().Get("/web/interaction_requests").Want(200)
	for range 3 {
		page = page.Press("Approve").Follow().Want(200)
	}
	check(false)
}

// TestNotificationTexts checks that all kinds of notifications have texts in all languages.
func TestNotificationTexts(t *testing.T) {
	for _, kind := range store.NotificationKinds {
		name := "notifications.kind." + strings.ReplaceAll(string(kind.Type), ".", "_")
		for _, key := range []string{name + ".one", name + ".other", kind.Link} {
			for _, m := range web.Languages() {
				if m.Text(key) == key && key != "" {
					t.Errorf("%s: there is no text for %s", m.Language, key)
				}
			}
		}
	}
}
