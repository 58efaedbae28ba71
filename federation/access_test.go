package federation_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// TestObjectAccess requests posts of each visibility as each kind of viewer (federation 7.2 cases 13, 14, 15, 120).
func TestObjectAccess(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	peer := apptest.StartFake(t)
	follower, named, unknown := peer.AddFollower(srv, "follower", alice), peer.AddFollower(srv, "named", bob), peer.AddActor("unknown")
	peer.Remove(unknown, http.StatusNotFound)
	blocked := peer.AddFollower(srv, "blocked", alice)
	alice.AccountAction(accountIDByURI(srv, blocked), "block")
	at := "@named@" + peer.Host + " "

	posts := map[string]string{
		"public":      alice.Publish(at + "hello").ID(),
		"unlisted":    alice.Publish("hello", "visibility", "unlisted").ID(),
		"private":     alice.Publish(at+"hello", "visibility", "private").ID(),
		"direct":      alice.Publish(at+"hello", "visibility", "direct").ID(),
		"list":        alice.Publish("hello", "visibility", "list:"+addListWithRemote(srv, alice, named)).ID(),
		"local":       alice.Publish(at+"hello", "visibility", "local").ID(),
		"nothing":     store.StatusID(1 << 40).String(),
		"no flake":    "nonsense",
		"gone":        alice.Publish("soon gone").ID(),
		"local, gone": alice.Publish("soon gone", "visibility", "local").ID(),
	}
	for _, name := range []string{"gone", "local, gone"} {
		alice.SendJSON("DELETE", "/api/v1/statuses/"+posts[name], nil).Want(200)
	}
	viewers := []string{"", unknown, follower, named, blocked}
	want := map[string][]int{ // unsigned, then signed by the unknown, following, mentioned and blocked account
		"public":      {200, 200, 200, 200, 404},
		"unlisted":    {200, 200, 200, 200, 404},
		"private":     {404, 404, 200, 200, 404},
		"direct":      {404, 404, 404, 200, 404},
		"list":        {404, 404, 404, 200, 404},
		"local":       {404, 404, 404, 404, 404},
		"nothing":     {404, 404, 404, 404, 404},
		"no flake":    {404, 404, 404, 404, 404},
		"gone":        {410, 410, 410, 410, 410},
		"local, gone": {404, 404, 404, 404, 404},
	}
	var missing *apptest.Response
	for _, name := range []string{"nothing", "public", "unlisted", "private", "direct", "list", "local", "no flake", "gone", "local, gone"} {
		for i, viewer := range viewers {
			for _, path := range []string{"/objects/" + posts[name], "/activities/" + posts[name]} {
				a := peer.FetchAs(srv, path, viewer, apptest.ActivityJSON)
				if a.Status != want[name][i] {
					t.Errorf("%s, %s, read by %q: got %d, want %d: %s", name, path, viewer, a.Status, want[name][i], a.Body)
				}
				if a.Status == 404 {
					if missing == nil {
						missing = a
					}
					wantSame(t, name, a, missing)
				}
				if text := string(a.Body); strings.Contains(text, `"bcc"`) || strings.Contains(text, `"bto"`) {
					t.Errorf("%s shows bcc: %s", name, text)
				}
				open := viewer == "" || viewer == unknown // an unknown account reads what anyone reads
				if a.Status == 200 && open != (a.Header.Get("Cache-Control") == "no-cache") {
					t.Errorf("%s, read by %q: Cache-Control is %q", name, viewer, a.Header.Get("Cache-Control"))
				}
			}
		}
		page := srv.As(nil).DoRequest(srv.NewGet(srv.URL+"/objects/"+posts[name], "text/html"))
		if open := name == "public" || name == "unlisted"; open != (page.Status == 302) || !open && page.Status != 404 {
			t.Errorf("%s: a person gets %d", name, page.Status)
		}
	}

	// to and cc follow from the visibility (federation 4.1), and the activity has the same.
	me, everybody := srv.URL+"/users/"+alice.ID, apptest.Public
	for name, want := range map[string]apptest.Doc{
		"public":   {"to": []any{everybody, named}, "cc": []any{me + "/followers"}, "directMessage": nil},
		"unlisted": {"to": []any{me + "/followers"}, "cc": []any{everybody}},
		"private":  {"to": []any{me + "/followers", named}, "cc": []any{}},
		"direct":   {"to": []any{named}, "cc": []any{}, "directMessage": true},
		"list":     {"to": []any{}, "cc": []any{}, "directMessage": nil},
	} {
		peer.FetchAs(srv, "/objects/"+posts[name], named, apptest.ActivityJSON).Want(200).WantFields(want)
		create := peer.FetchAs(srv, "/activities/"+posts[name], named, apptest.ActivityJSON).Want(200).WantFields(want).Document()
		if object, ok := create["object"].(apptest.Doc); !ok || object["id"] != srv.URL+"/objects/"+posts[name] || create["type"] != "Create" || create["actor"] != me {
			t.Errorf("%s: the activity is %v", name, create)
		}
	}

	// A malformed signature, or one by an unknown account, is ignored for public posts and refused for others.
	req := srv.NewGet(srv.URL+"/objects/"+posts["public"], apptest.ActivityJSON)
	req.Header.Set("Signature", `keyId="x",algorithm="rsa-sha256",headers="(request-target)",signature="eA=="`)
	srv.As(nil).DoRequest(req).Want(200)
	var refused *apptest.Response
	for _, name := range []string{"private", "nothing", "local"} {
		req := srv.NewGet(srv.URL+"/objects/"+posts[name], apptest.ActivityJSON)
		req.Header.Set("Signature", `keyId="x",algorithm="rsa-sha256",headers="(request-target)",signature="eA=="`)
		a := srv.As(nil).DoRequest(req).Want(401)
		if refused == nil {
			refused = a
		}
		wantSame(t, name, a, refused)
	}
	apptest.Settle(srv)
	if n := peer.Fetches(unknown); n > 1 { // for the public posts; unknown accounts cannot read others
		t.Errorf("the unknown actor was fetched %d times", n)
	}
	peer.RotateKey("named") // a new key of a known account is fetched
	peer.FetchAs(srv, "/objects/"+posts["direct"], named, apptest.ActivityJSON).Want(200)
}

// TestDeleteToUnknownFetchers checks that an unknown actor that fetches a public post is fetched after the response, and receives the
// post's Delete (case 47).
func TestDeleteToUnknownFetchers(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice := srv.SignUp("alice")
	for _, visibility := range []string{"public", "unlisted"} {
		peer, forged := apptest.StartFake(t), apptest.StartFake(t)
		st := alice.Publish("soon gone", "visibility", visibility)
		unknown := peer.AddActor("unknown")
		peer.FetchAs(srv, st.Str("uri"), unknown, apptest.ActivityJSON).Want(200)
		apptest.Settle(srv)
		peer.FetchAs(srv, st.Str("uri"), unknown, apptest.ActivityJSON).Want(200)
		if n := peer.Fetches(unknown); n != 1 {
			t.Errorf("the unknown actor was fetched %d times", n)
		}
		req := srv.NewGet(st.Str("uri"), apptest.ActivityJSON)
		forged.Sign(req, forged.AddActor("unknown"))
		req.Header.Set("Date", time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat))
		srv.As(nil).DoRequest(req).Want(200)
		apptest.Settle(srv)
		alice.SendJSON("DELETE", "/api/v1/statuses/"+st.ID(), nil).Want(200)
		apptest.Settle(srv)
		if got := peer.Delivered("Delete"); len(got) != 1 || got[0]["object"].(apptest.Doc)["id"] != st.Str("uri") {
			t.Errorf("%s: the unknown actor received %v", visibility, got)
		}
		if got := forged.Delivered(); len(got) > 0 {
			t.Errorf("%s: the actor whose signature is wrong received %v", visibility, got)
		}
	}
}

// wantSame compares two responses without the members that differ in every response (case 120).
func wantSame(t *testing.T, what string, got, want *apptest.Response) {
	t.Helper()
	if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) {
		t.Errorf("%s: got %d %s, want %d %s", what, got.Status, got.Body, want.Status, want.Body)
	}
	for key := range got.Header {
		if key != "X-Request-Id" && key != "Date" && got.Header.Get(key) != want.Header.Get(key) {
			t.Errorf("%s: %s is %q, want %q", what, key, got.Header.Get(key), want.Header.Get(key))
		}
	}
	if len(got.Header) != len(want.Header) {
		t.Errorf("%s: headers %v, want %v", what, got.Header, want.Header)
	}
}

// accountIDByURI returns the local id of a remote account.
func accountIDByURI(a *apptest.Server, uri string) string {
	a.T.Helper()
	account, err := a.DB.AccountByURI(a.T.Context(), uri)
	if err != nil {
		a.T.Fatal(err)
	}
	return account.ID.String()
}

// addListWithRemote creates a list of remote accounts.
func addListWithRemote(a *apptest.Server, owner *apptest.User, uris ...string) string {
	a.T.Helper()
	id := a.AddList(owner)
	for _, uri := range uris {
		a.Exec(`INSERT INTO list_members (list_id, account_id) SELECT ?, id FROM accounts WHERE uri = ?`, listID(id), uri)
	}
	return id
}

func listID(text string) store.ListID {
	var id store.ListID
	id.UnmarshalText([]byte(text))
	return id
}

// TestStatusFetchers checks that an account that fetches a post is recorded, unless it receives the Delete anyway (federation 1.10).
func TestStatusFetchers(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	near, far := apptest.StartFake(t), apptest.StartFake(t)
	follower := near.AddFollower(srv, "follower", alice)
	other := far.AddFollower(srv, "other", bob)
	st := alice.Publish("hello")
	for range 2 {
		near.FetchAs(srv, "/objects/"+st.ID(), follower, apptest.ActivityJSON).Want(200)
		far.FetchAs(srv, "/objects/"+st.ID(), other, apptest.ActivityJSON).Want(200)
		far.FetchAs(srv, "/activities/"+st.ID(), other, apptest.ActivityJSON).Want(200)
		srv.GetDocument("/objects/" + st.ID()).Want(200)
	}
	inboxes, err := srv.DB.FetcherInboxes(t.Context(), apptest.StatusID(st.ID()), 10)
	if err != nil || !slices.Equal(inboxes, []string{far.URL + "/inbox"}) {
		t.Errorf("inboxes are %v, %v", inboxes, err)
	}
}

// TestAuthorizedFetch checks that documents need a signed request (federation 2.6, 7.2 case 9).
func TestAuthorizedFetch(t *testing.T) {
	peer, rejected := apptest.StartFake(t), apptest.StartFake(t)
	srv := apptest.StartPeers(t, 1, func(c *config.Config) {
		c.Federation.AuthorizedFetch = true
		c.MRFSimple.Reject = []config.HostReason{{Host: rejected.Host}}
		c.MRF.Policies = append(c.MRF.Policies, "SimplePolicy")
	})[0]
	alice := srv.SignUp("alice")
	st := alice.Publish("hello").ID()
	viewer, bad := peer.AddActor("viewer"), rejected.AddActor("bad")
	paths := []string{"/users/" + alice.ID, "/objects/" + st, "/activities/" + st, "/contexts/" + st, "/objects/" + st + "/replies"}
	for _, c := range []string{"outbox", "outbox?page=true", "followers", "followers?page=true", "following", "collections/featured"} {
		paths = append(paths, "/users/"+alice.ID+"/"+c)
	}
	for _, path := range paths {
		srv.GetDocument(path).WantError(401, "A signature is required")
		a := peer.FetchAs(srv, path, viewer, apptest.ActivityJSON).Want(200)
		if got := a.Header.Get("Cache-Control"); got != "private, no-store" {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
		rejected.FetchAs(srv, path, bad, apptest.ActivityJSON).WantError(403, "This instance is blocked")
	}
	srv.GetDocument("/objects/nothing").WantError(401, "A signature is required")
	if n := rejected.AllFetches(); n != 0 {
		t.Errorf("the rejected host received %d requests", n)
	}
	for _, path := range []string{"/internal/fetch", "/relay"} {
		if key, ok := srv.GetDocument(path).Want(200).Document()["publicKey"].(apptest.Doc); !ok || key["publicKeyPem"] == "" {
			t.Errorf("%s has no key", path)
		}
		outbox := srv.GetDocument(path + "/outbox").Want(200).Document()
		got := fmt.Sprintf("%v %v %v %v", outbox["id"], outbox["type"], outbox["totalItems"], outbox["orderedItems"])
		if got != srv.URL+path+"/outbox OrderedCollection 0 []" {
			t.Errorf("the outbox of %s is %s", path, got)
		}
	}
	srv.As(nil).Get("/.well-known/webfinger", "resource", "acct:alice@"+srv.Settings.Host()).Want(200)
	srv.As(nil).Get("/nodeinfo/2.1.json").Want(200)
	srv.As(nil).DoRequest(srv.NewGet(srv.URL+"/objects/"+st, "text/html")).Want(302) // browsers still find the page

	// A server whose key cannot be fetched gets a stub of the actor, with which it can verify our signatures.
	away := apptest.StartFake(t)
	ghost := away.AddActor("ghost")
	away.Remove(ghost, 503)
	stub := away.FetchAs(srv, "/users/"+alice.ID, ghost, apptest.ActivityJSON).Want(200).Document()
	if stub["inbox"] == nil || stub["publicKey"] == nil || stub["name"] != nil || stub["outbox"] != nil {
		t.Errorf("the stub is %v", stub)
	}
	away.FetchAs(srv, "/objects/"+st, ghost, apptest.ActivityJSON).Want(503)
}

// TestAccessOfRejectedHosts checks that signed requests of rejected hosts are refused, also for public documents.
func TestAccessOfRejectedHosts(t *testing.T) {
	rejected := apptest.StartFake(t)
	srv := apptest.StartPeers(t, 1, func(c *config.Config) {
		c.MRFSimple.Reject = []config.HostReason{{Host: rejected.Host}}
		c.MRF.Policies = append(c.MRF.Policies, "SimplePolicy")
	})[0]
	alice := srv.SignUp("alice")
	st := alice.Publish("hello").ID()
	bad := rejected.AddActor("bad")
	for _, path := range []string{"/users/" + alice.ID, "/objects/" + st, "/users/" + alice.ID + "/outbox", "/objects/nothing"} {
		rejected.FetchAs(srv, path, bad, apptest.ActivityJSON).WantError(403, "This instance is blocked")
	}
	if n := rejected.AllFetches(); n != 0 {
		t.Errorf("the rejected host received %d requests", n)
	}
}

// TestAccessOfSuspendedAccounts checks that suspended accounts read as much as anonymous viewers (federation 7.2 case 119).
func TestAccessOfSuspendedAccounts(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice := srv.SignUp("alice")
	peer := apptest.StartFake(t)
	suspended, deleted := peer.AddFollower(srv, "suspended", alice), peer.AddFollower(srv, "deleted", alice)
	open, private := alice.Publish("hello").ID(), alice.Publish("hello", "visibility", "private").ID()
	for _, viewer := range []string{suspended, deleted} {
		peer.FetchAs(srv, "/objects/"+private, viewer, apptest.ActivityJSON).Want(200)
	}
	srv.Exec(`UPDATE accounts SET unavailable = 1 WHERE uri = ?`, suspended)
	srv.Exec(`UPDATE accounts SET unavailable = 1, deleted_at = 1 WHERE uri = ?`, deleted)
	for _, viewer := range []string{suspended, deleted} {
		peer.FetchAs(srv, "/objects/"+private, viewer, apptest.ActivityJSON).WantError(401, "The signature could not be verified")
		peer.FetchAs(srv, "/objects/nothing", viewer, apptest.ActivityJSON).WantError(401, "The signature could not be verified")
		peer.FetchAs(srv, "/objects/"+open, viewer, apptest.ActivityJSON).Want(200) // as for anonymous viewers
		outbox := peer.FetchAs(srv, "/users/"+alice.ID+"/outbox?page=true", viewer, apptest.ActivityJSON).Want(200)
		if strings.Contains(string(outbox.Body), private) {
			t.Errorf("%s reads a private post in the outbox", viewer)
		}
	}
	mine := srv.NewGet(srv.URL+"/objects/"+private, apptest.ActivityJSON) // an app's token has no effect on documents
	alice.DoRequest(mine).WantError(404, "Record not found")
}

// TestNothingPrivateIsServed adds private rows of every kind, and requests every document and page that could show them.
func TestNothingPrivateIsServed(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	peer := apptest.StartFake(t)
	friend, unknown, blocked := peer.AddFollower(srv, "friend", alice), peer.AddFollower(srv, "unknown", carol), peer.AddFollower(srv, "blocked", alice)
	alice.AccountAction(accountIDByURI(srv, blocked), "block")
	const hush = "hush-hush"
	open := alice.Publish("hello @carol").ID()
	list := addListWithRemote(srv, alice, friend)
	secret := make(map[string]bool) // ids of posts
	tell := func(m *apptest.User, visibility string, more ...string) string {
		id := m.Publish(hush+" @friend@"+peer.Host, append([]string{"visibility", visibility, "spoiler_text", hush}, more...)...).ID()
		secret[id] = true
		return id
	}
	tell(alice, "list:"+list)
	for _, visibility := range []string{"private", "direct", "local"} {
		id := tell(alice, visibility)
		alice.EditStatus(id, apptest.Doc{"status": hush + " once more", "spoiler_text": hush}).Want(200)
		tell(alice, visibility, "in_reply_to_id", open)
		tell(bob, visibility, "in_reply_to_id", open)
	}
	private := tell(alice, "private", "poll[options][]", hush, "poll[options][]", "no", "poll[expires_in]", "3600")
	boost := alice.Post("/api/v1/statuses/" + private + "/reblog").Want(200).Object().ID()
	secret[boost] = true
	if _, err := srv.Social.ReceiveFavourite(t.Context(), srv.Account(t, accountIDByURI(srv, friend)), apptest.StatusID(private), friend+"/like", ""); err != nil {
		t.Fatal(err)
	}
	alice.ReactWith(private, "🔥")
	alice.Post("/api/v1/statuses/" + private + "/favourite").Want(200)
	chat := alice.Post("/api/v1/svc/chats/by-account-id/" + accountIDByURI(srv, friend)).Want(200).Object().ID()
	alice.SendChat(chat, hush)
	carol.AccountAction(alice.ID, "mute")
	alice.Publish(hush, "scheduled_at", "2030-01-01T00:00:00Z")
	alice.AccountAction(accountIDByURI(srv, unknown), "follow")

	srv.RunJobs() // its activities are still queued
	var paths []string
	for _, who := range []*apptest.User{alice, bob, carol} {
		for _, path := range []string{"", "/outbox", "/outbox?page=true", "/followers?page=true", "/following?page=true", "/collections/featured", "/inbox"} {
			paths = append(paths, "/users/"+who.ID+path)
		}
		paths = append(paths, "/@"+who.Nickname)
	}
	for _, table := range []string{"statuses", "favourites", "reactions", "follows", "chat_messages", "activities", "deliveries", "polls", "scheduled_statuses", "lists", "chats"} {
		ids := rowIDs(srv, table)
		if len(ids) == 0 {
			t.Errorf("%s is empty", table)
		}
		for _, id := range ids {
			flake := store.StatusID(id).String()
			for _, path := range []string{"/objects/", "/objects/" + flake + "/replies?x=", "/activities/", "/contexts/", "/@alice/", "/quote_authorizations/", "/lists/"} {
				paths = append(paths, path+flake)
			}
			paths = append(paths, "/contexts/"+flake+"?page=true", "/objects/"+flake+"/replies?page=true&min_id=1")
		}
	}
	if len(paths) < 300 {
		t.Fatalf("there are only %d addresses", len(paths))
	}
	for _, viewer := range []string{"", unknown, blocked} {
		for _, path := range paths {
			for _, accept := range []string{apptest.ActivityJSON, "text/html"} {
				a := peer.FetchAs(srv, path, viewer, accept)
				if strings.Contains(string(a.Body), hush) || strings.Contains(fmt.Sprint(a.Header), hush) {
					t.Errorf("%s as %s, read by %q: %s", path, accept, viewer, a.Body)
				}
				asked := path
				for id := range secret {
					if !strings.Contains(asked, id) && strings.Contains(string(a.Body), id) {
						t.Errorf("%s as %s, read by %q, shows %s", path, accept, viewer, id)
					}
				}
			}
		}
	}
}

// rowIDs returns the ids of all rows of a table.
func rowIDs(a *apptest.Server, table string) (ids []int64) {
	a.T.Helper()
	for after := 0; ; {
		after = a.Count(`SELECT ifnull(min(id), 0) FROM `+table+` WHERE id > ?`, after)
		if after == 0 {
			return ids
		}
		ids = append(ids, int64(after))
	}
}
