package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/internal/config"
	"svc/store"
)

// TestWhoReadsObjects asks for posts of all kinds as everybody (federation 7.2 case 13, 14, 15, 120).
func TestWhoReadsObjects(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	peer := startFake(t)
	follower, named, stranger := peer.befriend(srv, "follower", alice), peer.befriend(srv, "named", bob), peer.actor("stranger")
	peer.remove(stranger, http.StatusNotFound)
	blocked := peer.befriend(srv, "blocked", alice)
	alice.to(srv.idOf(blocked), "block")
	at := "@named@" + peer.host + " "

	posts := map[string]string{
		"public":      alice.publish(at + "hello").id(),
		"unlisted":    alice.publish("hello", "visibility", "unlisted").id(),
		"private":     alice.publish(at+"hello", "visibility", "private").id(),
		"direct":      alice.publish(at+"hello", "visibility", "direct").id(),
		"list":        alice.publish("hello", "visibility", "list:"+srv.listWith(alice, named)).id(),
		"local":       alice.publish(at+"hello", "visibility", "local").id(),
		"nothing":     store.StatusID(1 << 40).String(),
		"no flake":    "nonsense",
		"gone":        alice.publish("soon gone").id(),
		"local, gone": alice.publish("soon gone", "visibility", "local").id(),
	}
	for _, name := range []string{"gone", "local, gone"} {
		alice.send("DELETE", "/api/v1/statuses/"+posts[name], nil).want(200)
	}
	readers := []string{"", stranger, follower, named, blocked}
	want := map[string][]int{ // unsigned, signed by the stranger, the follower, the named, the blocked
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
	var missing *answer
	for _, name := range []string{"nothing", "public", "unlisted", "private", "direct", "list", "local", "no flake", "gone", "local, gone"} {
		for i, reader := range readers {
			for _, path := range []string{"/objects/" + posts[name], "/activities/" + posts[name]} {
				a := peer.fetchAs(srv, path, reader, activityJSON)
				if a.status != want[name][i] {
					t.Errorf("%s, %s, read by %q: got %d, want %d: %s", name, path, reader, a.status, want[name][i], a.body)
				}
				if a.status == 404 {
					if missing == nil {
						missing = a
					}
					wantSame(t, name, a, missing)
				}
				if text := string(a.body); strings.Contains(text, `"bcc"`) || strings.Contains(text, `"bto"`) {
					t.Errorf("%s tells of bcc: %s", name, text)
				}
				open := reader == "" || reader == stranger // who is not known here gets what everybody gets
				if a.status == 200 && open != (a.header.Get("Cache-Control") == "no-cache") {
					t.Errorf("%s, read by %q: Cache-Control is %q", name, reader, a.header.Get("Cache-Control"))
				}
			}
		}
		page := srv.as(nil).request(srv.newGet(srv.url+"/objects/"+posts[name], "text/html"))
		if open := name == "public" || name == "unlisted"; open != (page.status == 302) || !open && page.status != 404 {
			t.Errorf("%s: a person gets %d", name, page.status)
		}
	}

	// To and cc say whom they are for (federation 4.1), and are the same on the activity.
	me, everybody := srv.url+"/users/"+alice.id, toPublic
	for name, want := range map[string]doc{
		"public":   {"to": []any{everybody, named}, "cc": []any{me + "/followers"}, "directMessage": nil},
		"unlisted": {"to": []any{me + "/followers"}, "cc": []any{everybody}},
		"private":  {"to": []any{me + "/followers", named}, "cc": []any{}},
		"direct":   {"to": []any{named}, "cc": []any{}, "directMessage": true},
		"list":     {"to": []any{}, "cc": []any{}, "directMessage": nil},
	} {
		peer.fetchAs(srv, "/objects/"+posts[name], named, activityJSON).want(200).is(want)
		create := peer.fetchAs(srv, "/activities/"+posts[name], named, activityJSON).want(200).is(want).document()
		if object, ok := create["object"].(doc); !ok || object["id"] != srv.url+"/objects/"+posts[name] || create["type"] != "Create" || create["actor"] != me {
			t.Errorf("%s: the activity is %v", name, create)
		}
	}

	// A signature that is none, or by somebody unknown, does no harm where everybody may read; elsewhere it is refused.
	req := srv.newGet(srv.url+"/objects/"+posts["public"], activityJSON)
	req.Header.Set("Signature", `keyId="x",algorithm="rsa-sha256",headers="(request-target)",signature="eA=="`)
	srv.as(nil).request(req).want(200)
	var refused *answer
	for _, name := range []string{"private", "nothing", "local"} {
		req := srv.newGet(srv.url+"/objects/"+posts[name], activityJSON)
		req.Header.Set("Signature", `keyId="x",algorithm="rsa-sha256",headers="(request-target)",signature="eA=="`)
		a := srv.as(nil).request(req).want(401)
		if refused == nil {
			refused = a
		}
		wantSame(t, name, a, refused)
	}
	settle(srv)
	if n := peer.asked(stranger); n > 1 { // because of what is open; nothing else is for somebody who is not known here
		t.Errorf("the stranger was asked %d times", n)
	}
	peer.rotate("named") // a new key of somebody known is asked for
	peer.fetchAs(srv, "/objects/"+posts["direct"], named, activityJSON).want(200)
}

// Who is not known and fetches an open post is met for that after the answer, and hears of its end (case 47).
func TestStrangersWhoReadHear(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice := srv.signUp("alice")
	for _, visibility := range []string{"public", "unlisted"} {
		peer, forged := startFake(t), startFake(t)
		st := alice.publish("soon gone", "visibility", visibility)
		stranger := peer.actor("stranger")
		peer.fetchAs(srv, st.str("uri"), stranger, activityJSON).want(200)
		settle(srv)
		peer.fetchAs(srv, st.str("uri"), stranger, activityJSON).want(200)
		if n := peer.asked(stranger); n != 1 {
			t.Errorf("the stranger was asked for %d times", n)
		}
		req := srv.newGet(st.str("uri"), activityJSON)
		forged.sign(req, forged.actor("stranger"))
		req.Header.Set("Date", time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat))
		srv.as(nil).request(req).want(200)
		settle(srv)
		alice.send("DELETE", "/api/v1/statuses/"+st.id(), nil).want(200)
		settle(srv)
		if got := peer.delivered("Delete"); len(got) != 1 || got[0]["object"].(doc)["id"] != st.str("uri") {
			t.Errorf("%s: the stranger heard %v", visibility, got)
		}
		if got := forged.delivered(); len(got) > 0 {
			t.Errorf("%s: whose signature is wrong heard %v", visibility, got)
		}
	}
}

// wantSame checks that two answers are the same, but for what differs in all (case 120).
func wantSame(t *testing.T, what string, got, want *answer) {
	t.Helper()
	if got.status != want.status || !bytes.Equal(got.body, want.body) {
		t.Errorf("%s: got %d %s, want %d %s", what, got.status, got.body, want.status, want.body)
	}
	for key := range got.header {
		if key != "X-Request-Id" && key != "Date" && got.header.Get(key) != want.header.Get(key) {
			t.Errorf("%s: %s is %q, want %q", what, key, got.header.Get(key), want.header.Get(key))
		}
	}
	if len(got.header) != len(want.header) {
		t.Errorf("%s: headers %v, want %v", what, got.header, want.header)
	}
}

// idOf returns the id here of an account elsewhere.
func (a *api) idOf(uri string) string {
	a.t.Helper()
	account, err := a.db.AccountByURI(a.t.Context(), uri)
	if err != nil {
		a.t.Fatal(err)
	}
	return account.ID.String()
}

// listWith makes a list of accounts elsewhere.
func (a *api) listWith(owner *member, uris ...string) string {
	a.t.Helper()
	id := a.letList(owner)
	for _, uri := range uris {
		a.insert(`INSERT INTO list_members (list_id, account_id) SELECT ?, id FROM accounts WHERE uri = ?`, listID(id), uri)
	}
	return id
}

func listID(text string) store.ListID {
	var id store.ListID
	id.UnmarshalText([]byte(text))
	return id
}

// TestReaders remembers who has fetched a post, unless they hear of its end anyway (federation 1.10).
func TestReaders(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	near, far := startFake(t), startFake(t)
	follower := near.befriend(srv, "follower", alice)
	other := far.befriend(srv, "other", bob)
	st := alice.publish("hello")
	for range 2 {
		near.fetchAs(srv, "/objects/"+st.id(), follower, activityJSON).want(200)
		far.fetchAs(srv, "/objects/"+st.id(), other, activityJSON).want(200)
		far.fetchAs(srv, "/activities/"+st.id(), other, activityJSON).want(200)
		srv.document("/objects/" + st.id()).want(200)
	}
	readers, err := srv.db.Readers(t.Context(), statusID(st.id()), 10)
	if err != nil || !slices.Equal(readers, []string{far.url + "/inbox"}) {
		t.Errorf("readers are %v, %v", readers, err)
	}
}

// TestAuthorizedFetch shows documents to those only who prove who they are (federation 2.6, 7.2 case 9).
func TestAuthorizedFetch(t *testing.T) {
	peer, rejected := startFake(t), startFake(t)
	srv := startPeers(t, 1, func(c *config.Config) {
		c.Federation.AuthorizedFetch = true
		c.MRFSimple.Reject = []config.HostReason{{Host: rejected.host}}
		c.MRF.Policies = append(c.MRF.Policies, "SimplePolicy")
	})[0]
	alice := srv.signUp("alice")
	st := alice.publish("hello").id()
	reader, bad := peer.actor("reader"), rejected.actor("bad")
	paths := []string{"/users/" + alice.id, "/objects/" + st, "/activities/" + st, "/contexts/" + st, "/objects/" + st + "/replies"}
	for _, c := range []string{"outbox", "outbox?page=true", "followers", "followers?page=true", "following", "collections/featured"} {
		paths = append(paths, "/users/"+alice.id+"/"+c)
	}
	for _, path := range paths {
		srv.document(path).wantError(401, "Requests have to be signed here")
		a := peer.fetchAs(srv, path, reader, activityJSON).want(200)
		if got := a.header.Get("Cache-Control"); got != "private, no-store" {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
		rejected.fetchAs(srv, path, bad, activityJSON).wantError(403, "There are no dealings with this server")
	}
	srv.document("/objects/nothing").wantError(401, "Requests have to be signed here")
	if n := rejected.askedAll(); n != 0 {
		t.Errorf("the rejected host was asked %d times", n)
	}
	for _, path := range []string{"/internal/fetch", "/relay"} {
		if key, ok := srv.document(path).want(200).document()["publicKey"].(doc); !ok || key["publicKeyPem"] == "" {
			t.Errorf("%s has no key", path)
		}
	}
	srv.as(nil).get("/.well-known/webfinger", "resource", "acct:alice@"+srv.settings.Host()).want(200)
	srv.as(nil).get("/nodeinfo/2.1.json").want(200)
	srv.as(nil).request(srv.newGet(srv.url+"/objects/"+st, "text/html")).want(302) // people still find the page

	// Who cannot show a key at the moment gets what it takes to answer them.
	away := startFake(t)
	ghost := away.actor("ghost")
	away.remove(ghost, 503)
	stub := away.fetchAs(srv, "/users/"+alice.id, ghost, activityJSON).want(200).document()
	if stub["inbox"] == nil || stub["publicKey"] == nil || stub["name"] != nil || stub["outbox"] != nil {
		t.Errorf("the stub is %v", stub)
	}
	away.fetchAs(srv, "/objects/"+st, ghost, activityJSON).want(503)
}

// TestRejectedHosts are refused where they say who they are, also where everybody may read.
func TestRejectedHosts(t *testing.T) {
	rejected := startFake(t)
	srv := startPeers(t, 1, func(c *config.Config) {
		c.MRFSimple.Reject = []config.HostReason{{Host: rejected.host}}
		c.MRF.Policies = append(c.MRF.Policies, "SimplePolicy")
	})[0]
	alice := srv.signUp("alice")
	st := alice.publish("hello").id()
	bad := rejected.actor("bad")
	for _, path := range []string{"/users/" + alice.id, "/objects/" + st, "/users/" + alice.id + "/outbox", "/objects/nothing"} {
		rejected.fetchAs(srv, path, bad, activityJSON).wantError(403, "There are no dealings with this server")
	}
	if n := rejected.askedAll(); n != 0 {
		t.Errorf("it was asked %d times", n)
	}
}

// TestSuspendedReaders are nobody (federation 7.2 case 119).
func TestSuspendedReaders(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice := srv.signUp("alice")
	peer := startFake(t)
	suspended, deleted := peer.befriend(srv, "suspended", alice), peer.befriend(srv, "deleted", alice)
	open, private := alice.publish("hello").id(), alice.publish("hello", "visibility", "private").id()
	for _, reader := range []string{suspended, deleted} {
		peer.fetchAs(srv, "/objects/"+private, reader, activityJSON).want(200)
	}
	srv.insert(`UPDATE accounts SET withheld = 1 WHERE uri = ?`, suspended)
	srv.insert(`UPDATE accounts SET withheld = 1, deleted_at = 1 WHERE uri = ?`, deleted)
	for _, reader := range []string{suspended, deleted} {
		peer.fetchAs(srv, "/objects/"+private, reader, activityJSON).wantError(401, "The signature could not be verified")
		peer.fetchAs(srv, "/objects/nothing", reader, activityJSON).wantError(401, "The signature could not be verified")
		peer.fetchAs(srv, "/objects/"+open, reader, activityJSON).want(200) // as for everybody
		outbox := peer.fetchAs(srv, "/users/"+alice.id+"/outbox?page=true", reader, activityJSON).want(200)
		if strings.Contains(string(outbox.body), private) {
			t.Errorf("%s reads a private post in the outbox", reader)
		}
	}
	mine := srv.newGet(srv.url+"/objects/"+private, activityJSON) // an app's token is of no use here
	alice.request(mine).wantError(404, "Record not found")
}

// TestNothingPrivateIsServed has everything of which others must not know, and asks for all documents and pages that there could be of it.
func TestNothingPrivateIsServed(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	peer := startFake(t)
	friend, stranger, blocked := peer.befriend(srv, "friend", alice), peer.befriend(srv, "stranger", carol), peer.befriend(srv, "blocked", alice)
	alice.to(srv.idOf(blocked), "block")
	const hush = "hush-hush"
	open := alice.publish("hello @carol").id()
	list := srv.listWith(alice, friend)
	secret := make(map[string]bool) // ids of posts
	tell := func(m *member, visibility string, more ...string) string {
		id := m.publish(hush+" @friend@"+peer.host, append([]string{"visibility", visibility, "spoiler_text", hush}, more...)...).id()
		secret[id] = true
		return id
	}
	tell(alice, "list:"+list)
	for _, visibility := range []string{"private", "direct", "local"} {
		id := tell(alice, visibility)
		alice.edit(id, jsonBody{"status": hush + " once more", "spoiler_text": hush}).want(200)
		tell(alice, visibility, "in_reply_to_id", open)
		tell(bob, visibility, "in_reply_to_id", open)
	}
	private := tell(alice, "private", "poll[options][]", hush, "poll[options][]", "no", "poll[expires_in]", "3600")
	boost := alice.post("/api/v1/statuses/" + private + "/reblog").want(200).object().id()
	secret[boost] = true
	if _, err := srv.social.ReceiveFavourite(t.Context(), srv.account(t, srv.idOf(friend)), statusID(private), friend+"/like"); err != nil {
		t.Fatal(err)
	}
	alice.reactWith(private, "🔥")
	alice.post("/api/v1/statuses/" + private + "/favourite").want(200)
	chat := alice.post("/api/v1/svc/chats/by-account-id/" + srv.idOf(friend)).want(200).object().id()
	alice.say(chat, hush)
	carol.to(alice.id, "mute")
	alice.publish(hush, "scheduled_at", "2030-01-01T00:00:00Z")
	alice.to(srv.idOf(stranger), "follow")

	srv.settle() // activities are on their way now
	var paths []string
	for _, who := range []*member{alice, bob, carol} {
		for _, path := range []string{"", "/outbox", "/outbox?page=true", "/followers?page=true", "/following?page=true", "/collections/featured", "/inbox"} {
			paths = append(paths, "/users/"+who.id+path)
		}
		paths = append(paths, "/@"+who.nick)
	}
	for _, table := range []string{"statuses", "favourites", "reactions", "follows", "chat_messages", "activities", "deliveries", "polls", "scheduled_statuses", "lists", "chats"} {
		ids := srv.idsOf(table)
		if len(ids) == 0 {
			t.Errorf("there is nothing in %s", table)
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
	for _, reader := range []string{"", stranger, blocked} {
		for _, path := range paths {
			for _, accept := range []string{activityJSON, "text/html"} {
				a := peer.fetchAs(srv, path, reader, accept)
				if strings.Contains(string(a.body), hush) || strings.Contains(fmt.Sprint(a.header), hush) {
					t.Errorf("%s as %s, read by %q: %s", path, accept, reader, a.body)
				}
				asked := path
				for id := range secret {
					if !strings.Contains(asked, id) && strings.Contains(string(a.body), id) {
						t.Errorf("%s as %s, read by %q, tells of %s", path, accept, reader, id)
					}
				}
			}
		}
	}
}

// idsOf returns the ids of all rows of a table.
func (a *api) idsOf(table string) (ids []int64) {
	a.t.Helper()
	for after := 0; ; {
		after = a.count(`SELECT ifnull(min(id), 0) FROM `+table+` WHERE id > ?`, after)
		if after == 0 {
			return ids
		}
		ids = append(ids, int64(after))
	}
}
