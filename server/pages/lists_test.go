package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestLists makes a list, adds a member that a search finds, reads the timeline, changes the list and deletes it.
func TestLists(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
	browser := alice.SignedIn()
	lists := browser.Get("/web/lists").Want(200, "You have no lists yet.")
	lists = lists.Press("Create the list", "title", "Friends", "replies_policy", "none", "exclusive", "true").Follow().Want(200, "Saved.", "Friends")
	list := alice.Get("/api/v1/lists").Want(200).List()[0]
	if list.Str("replies_policy") != "none" || !list.Bool("exclusive") {
		t.Errorf("the list is %v", list)
	}
	path := "/web/lists/" + list.ID()
	browser.Get(path+"/members", "q", "zoe").Want(200, "No account that you follow has such a name.")
	browser.Get(path+"/members", "q", "bob").Want(200, "Found").Press("Add").Follow().Want(200)
	bob.Publish("for the list")
	browser.Get(path).Want(200, "Friends", "for the list")
	browser.Get(path+"/edit").Press("Save", "title", "Best friends", "exclusive", "false").Follow().Want(200, "Saved.", "Best friends")
	if got := alice.Get("/api/v1/lists/" + list.ID()).Want(200).Object(); got.Bool("exclusive") || got.Str("title") != "Best friends" {
		t.Errorf("the list is %v", got)
	}
	browser.Get(path+"/members").Want(200, "@bob").Press("Remove").Follow().Want(200, "The list has no members yet.")
	others := bob.SignedIn()
	for _, page := range []string{path, path + "/edit", path + "/members", "/web/lists/none"} {
		others.Get(page).Want(404, "Not found")
	}
	browser.Get(path+"/edit").Press("Delete the list").Follow().Want(200, "Deleted.", "You have no lists yet.")
	lists.Press("Create the list", "title", "").Want(422)
}

// TestFollowedTags follows hashtags by a form and takes that back.
func TestFollowedTags(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	page := browser.Get("/web/tags").Want(200, "You follow no hashtags yet.")
	page.Press("Follow", "name", " ").Want(422, "Enter a hashtag.")
	page.Press("Follow", "name", "no tag!").Want(422)
	page = page.Press("Follow", "name", "#gardening").Follow().Want(200, "#gardening")
	if got := alice.Get("/api/v1/tags/gardening").Want(200).Object(); !got.Bool("following") {
		t.Errorf("the hashtag is %v", got)
	}
	page.Press("Unfollow").Follow().Want(200, "You follow no hashtags yet.")
}

// TestBookmarkFolders makes a folder, shows its bookmarks, changes it and deletes it.
func TestBookmarkFolders(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	first, second := alice.Publish("the first one").Str("id"), alice.Publish("the second one").Str("id")
	browser := alice.SignedIn()
	browser.Get("/web/bookmarks").Want(200, "You have no bookmarks yet.")
	browser.Get("/web/bookmark_folders").Want(200, "You have no folders yet.").Press("Create the folder", "name", "Recipes").Follow().Want(200, "Recipes")
	folder := alice.Get("/api/v1/svc/bookmark_folders").Want(200).List()[0].ID()
	alice.Post("/api/v1/statuses/"+first+"/bookmark", "folder_id", folder).Want(200)
	alice.Post("/api/v1/statuses/" + second + "/bookmark").Want(200)
	browser.Get("/web/bookmarks").Want(200, "the first one", "the second one", "Recipes")
	page := browser.Get("/web/bookmarks", "folder_id", folder).Want(200, "the first one")
	if strings.Contains(page.Text, "the second one") {
		t.Errorf("the folder has %s", page.Text)
	}
	browser.Get("/web/bookmarks", "folder_id", "none").Want(404)
	folders := browser.Get("/web/bookmark_folders").Press("Save", "name", "Cooking", "emoji", "🍲").Follow().Want(200, "🍲 Cooking")
	folders.Press("Delete the folder").Follow().Want(200, "You have no folders yet.")
	alice.Post("/api/v1/statuses/" + first + "/favourite").Want(200)
	browser.Get("/web/favourites").Want(200, "the first one")
}

// TestHomeMarker checks where the home page continues: posts that were not shown are linked until they are read.
func TestHomeMarker(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	const link = "Continue where you left off"
	var ids []string
	publish := func(n int) {
		for range n {
			ids = append(ids, alice.Publish(fmt.Sprint("post ", len(ids))).Str("id"))
		}
	}
	marker := func() string {
		return alice.Get("/api/v1/markers", "timeline[]", "home").Want(200).Object().Str("home.last_read_id")
	}
	publish(2)
	if page := browser.Get("/web").Want(200, "This server"); strings.Contains(page.Text, link) || marker() != ids[1] {
		t.Errorf("the marker is %s, the page %s", marker(), page.Text)
	}
	publish(25)
	browser.Get("/web").Want(200, link)
	if marker() != ids[1] {
		t.Errorf("the marker is %s although posts were not shown", marker())
	}
	next := browser.Get("/web", "min_id", ids[1]).Want(200, "To the newest posts", "post 2 ", "post 21")
	if marker() != ids[21] || strings.Contains(next.Text, "post 22") {
		t.Errorf("the marker is %s, want %s", marker(), ids[21])
	}
	if page := browser.Get("/web").Want(200); strings.Contains(page.Text, link) || marker() != ids[26] {
		t.Errorf("the page with all posts has a link to them")
	}
	publish(25)
	browser.Get("/web", "max_id", ids[30]).Want(200, "To the newest posts")
	if marker() != ids[26] {
		t.Errorf("older posts move the marker to %s", marker())
	}
	browser.Get("/web").Want(200, link).Press("Mark all as read").Follow().Want(200)
	if page := browser.Get("/web").Want(200); strings.Contains(page.Text, link) || marker() != ids[51] {
		t.Errorf("the marker is %s after all were marked as read", marker())
	}
}

// TestTimelineTabs checks the links between timelines.
func TestTimelineTabs(t *testing.T) {
	srv := apptest.Start(t)
	browser := srv.SignUp("alice").SignedIn()
	for path, current := range map[string]string{"/web": "Home", "/web/local": "This server", "/web/known": "Everything known"} {
		page := browser.Get(path).Want(200)
		if want := `<a href="` + path + `" aria-current="page">` + current; !strings.Contains(string(page.Body), want) {
			t.Errorf("%s: no %s", path, want)
		}
	}
	browser.Get("/web/menu").Want(200, "Follow requests", "Scheduled posts", "Filters", "Sign out")
	visitor := srv.Browser().Get("/web/local").Want(200)
	if strings.Contains(string(visitor.Body), `<a href="/web">`) {
		t.Error("visitors have a link to the home timeline")
	}
}
