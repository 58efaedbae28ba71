package pages_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestNotifications shows notifications in words, by view, marks them as read, dismisses one and deletes all.
func TestNotifications(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	post := alice.Publish("my post").Str("id")
	for _, u := range []*apptest.User{bob, carol} {
		u.Post("/api/v1/statuses/" + post + "/favourite").Want(200)
	}
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	bob.Post("/api/v1/statuses/" + post + "/reblog").Want(200)
	bob.React("PUT", post, "🎉").Want(200)
	carol.Publish("@alice hello there")
	browser := alice.SignedIn()
	browser.Get("/web").Want(200, "Notifications 6")
	page := browser.Get("/web/notifications").Want(200, "follows you", "boosted your post", "favourited your post", "reacted to your post with 🎉", "mentioned you", "hello there", "new")
	if strings.Contains(page.Text, "Notifications 6") {
		t.Error("the page that shows them counts them as unread")
	}
	if got := alice.Get("/api/v1/notifications/unread_count").Want(200).Object(); got.Int("count") != 0 {
		t.Errorf("unread: %v", got)
	}
	views := map[string]string{"mentions": "mentioned you", "follows": "follows you", "reactions": "boosted your post"}
	for view, text := range views {
		page := browser.Get("/web/notifications", "view", view).Want(200, text)
		for other, text := range views {
			if other != view && strings.Contains(page.Text, text) {
				t.Errorf("%s shows %q", view, text)
			}
		}
	}
	browser.Get("/web/notifications", "view", "mentions").Press("Dismiss").Follow().Want(200, "There are no notifications here yet.")
	browser.Get("/web/notifications/groups/none").Want(404)
	browser.Get("/web/notifications/clear").Want(200).Press("Delete all notifications").Follow().Want(200, "Deleted.", "There are no notifications here yet.")
}

// TestGroupsOfMany shows the accounts of a group that has more than are named.
func TestGroupsOfMany(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	post := alice.Publish("my post").Str("id")
	for _, name := range []string{"bob", "carol", "dave", "erin"} {
		srv.SignUp(name).Post("/api/v1/statuses/" + post + "/favourite").Want(200)
	}
	browser := alice.SignedIn()
	browser.Get("/web/notifications").Want(200, "and 2 others favourited your post")
	key := alice.Get("/api/v2/notifications").Want(200).Object().Find("notification_groups.0.group_key").(string)
	browser.Get("/web/notifications/groups/"+key).Want(200, "@bob", "@carol", "@dave", "@erin")
}

// TestNotificationRequests accepts and rejects what the policy held back.
func TestNotificationRequests(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	browser := alice.SignedIn()
	alice.SendJSON("PATCH", "/api/v2/notifications/policy", map[string]string{"for_not_following": "filter"}).Want(200)
	bob.Publish("@alice first")
	carol.Publish("@alice second")
	browser.Get("/web/notifications").Want(200, "Held back from 2 accounts")
	requests := browser.Get("/web/notifications/filtered").Want(200, "@bob", "@carol")
	list := alice.Get("/api/v1/notifications/requests").Want(200).List()
	browser.Get("/web/notifications/filtered/"+list[0].ID()).Want(200, "second")
	bob.SignedIn().Get("/web/notifications/filtered/" + list[0].ID()).Want(404)
	requests.Press("Accept").Follow().Want(200, "@bob")
	browser.Get("/web/notifications").Want(200, "second", "Held back from 1 account")
	browser.Get("/web/notifications/filtered").Press("Reject").Follow().Want(200, "No notifications are held back.")
}
