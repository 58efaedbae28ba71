package pages_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestConversations opens, marks and deletes a conversation of direct messages.
func TestConversations(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	browser := alice.SignedIn()
	browser.Get("/web/conversations").Want(200, "You have no direct messages.")
	post := bob.Publish("@alice a secret", "visibility", "direct").Str("id")
	page := browser.Get("/web/conversations").Want(200, "@bob", "a secret", "unread")
	if got, _ := page.Press("Open").Location(); got != "/@bob/"+post {
		t.Errorf("opening leads to %s", got)
	}
	id := alice.Get("/api/v1/conversations").Want(200).List()[0].ID()
	page = browser.Get("/web/conversations").Want(200)
	if strings.Contains(page.Text, "unread @") || alice.Get("/api/v1/conversations").List()[0].Bool("unread") {
		t.Error("the conversation is unread after it was opened")
	}
	page.Press("Mark as unread").Follow().Want(200, "unread")
	other := srv.SignUp("carol").SignedIn()
	other.Post("/web/conversations/"+id+"/open", map[string][]string{"form_token": other.Get("/web").Forms[0].Fields["form_token"]}).Want(404)
	browser.Get("/web/conversations").Press("Delete").Follow().Want(200, "You have no direct messages.")
}

// TestChats starts a chat, sends messages with and without a file, reads and deletes them.
func TestChats(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	browser := alice.SignedIn()
	chats := browser.Get("/web/chats").Want(200, "You have no chats yet.")
	chats.Press("Start a chat", "acct", "nobody").Want(404, "There is no account with this name.")
	chat := chats.Press("Start a chat", "acct", "bob").Follow().Want(200, "@bob", "There are no messages yet.")
	chat.Press("Send", "content", "").Want(400)
	chat = chat.Press("Send", "content", "hello bob").Follow().Want(200, "hello bob")
	chat.PressWithFile("Send", apptest.FilePart(apptest.PNG(20, 20)), "content", "a picture").Follow().Want(200, "a picture")
	theirs := bob.Chats()
	if len(theirs) != 1 {
		t.Fatalf("bob has %d chats", len(theirs))
	}
	reader := bob.SignedIn()
	reader.Get("/web/chats").Want(200, "@alice", "2 new messages")
	id := bob.Get("/api/v2/svc/chats").Want(200).List()[0].ID()
	read := reader.Get("/web/chats/"+id).Want(200, "hello bob", "a picture")
	if got := bob.Get("/api/v1/svc/chats/" + id).Want(200).Object().Int("unread"); got != 0 {
		t.Errorf("%d messages are unread after they were shown", got)
	}
	if strings.Index(read.Text, "hello bob") > strings.Index(read.Text, "a picture") {
		t.Error("the newest message is not the last")
	}
	read = read.Press("Delete").Follow().Want(200)
	if strings.Contains(read.Text, "hello bob") {
		t.Error("the deleted message is shown")
	}
	srv.SignUp("carol").SignedIn().Get("/web/chats/" + id).Want(404)
}

// TestSearch finds people, posts and hashtags, by kind and by page.
func TestSearch(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bobby")
	for range 22 {
		bob.Publish("searching for bobby #bobbytag")
	}
	browser := alice.SignedIn()
	browser.Get("/web/search").Want(200, "A handle or an address")
	browser.Get("/web/search", "q", "bobby").Want(200, "People", "@bobby", "Posts", "searching for", "#bobbytag")
	page := browser.Get("/web/search", "q", "bobby", "type", "hashtags").Want(200, "#bobbytag")
	if strings.Contains(page.Text, "searching for") {
		t.Error("a search for hashtags finds posts")
	}
	posts := browser.Get("/web/search", "q", "searching", "type", "statuses").Want(200, "Older")
	if n := strings.Count(posts.Text, "searching for bobby"); n != 20 {
		t.Errorf("%d posts on a page", n)
	}
	rest := browser.Get("/web/search", "q", "searching", "type", "statuses", "offset", "20").Want(200, "Newer")
	if n := strings.Count(rest.Text, "searching for bobby"); n != 2 {
		t.Errorf("%d posts on the second page", n)
	}
	browser.Get("/web/search", "q", "zzzzzz").Want(200, "Nothing was found.")
	address := bob.Publish("the one at this address").Str("url")
	browser.Get("/web/search", "q", address).Want(200, "the one at this address")
	browser.Get("/web/search", "q", "bobby", "type", "accounts").Press("Follow").Follow().Want(200, "Unfollow")
}

// TestFollowRequestsPage accepts and rejects follow requests.
func TestFollowRequestsPage(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.Lock()
	browser := alice.SignedIn()
	browser.Get("/web/requests").Want(200, "Nobody waits for your answer.")
	for _, u := range []*apptest.User{bob, carol} {
		u.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	}
	page := browser.Get("/web/requests").Want(200, "@bob", "@carol").Press("Accept").Follow().Want(200)
	page.Press("Reject").Follow().Want(200, "Nobody waits for your answer.")
	if got := alice.Get("/api/v1/accounts/" + alice.ID + "/followers").Want(200).List(); len(got) != 1 {
		t.Errorf("%d followers", len(got))
	}
}

// TestFilters makes a filter, changes its keywords and deletes it.
func TestFilters(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	browser := alice.SignedIn()
	browser.Get("/web/filters").Want(200, "You have no filters yet.")
	browser.Get("/web/filters/new").Press("Save", "title", "").Want(422)
	form := browser.Get("/web/filters/new").Want(200)
	form.Press("Save", "title", "Spoilers", "keywords[]", "finale", "keywords[]", "ending", "keywords[]", "", "context[]", "home", "context[]", "thread",
		"filter_action", "hide", "expires_in", "3600").Follow().Want(200, "Saved.", "Spoilers", "finale", "ending", "Leave the post out", "until")
	f := alice.Get("/api/v2/filters").Want(200).List()[0]
	if f.Find("keywords.1.keyword") != "ending" || f.Find("context.1") != "thread" || f.Find("expires_at") == nil {
		t.Errorf("the filter is %v", f.Fields)
	}
	edit := "/web/filters/edit/" + f.ID()
	browser.Get(edit).Want(200).Press("Save", "keywords[]", "finale", "keywords[]", "", "keywords[]", "last episode", "keywords[]", "", "keywords[]", "",
		"expires_in", "never").Follow().Want(200, "Saved.", "last episode")
	f = alice.Get("/api/v2/filters").Want(200).List()[0]
	if f.Find("keywords.1.keyword") != "last episode" || f.Find("keywords.2") != nil || f.Find("expires_at") != nil {
		t.Errorf("the filter is %v", f.Fields)
	}
	bob.SignedIn().Get(edit).Want(404)
	browser.Get(edit).Press("Delete the filter").Follow().Want(200, "Deleted.", "You have no filters yet.")
}
