package server_test

import (
	"testing"

	"svc/app/apptest"
)

// addToCollection lets a remote account put a user into a collection, and returns the id of the collection.
func addToCollection(srv *apptest.Server, peer *apptest.FakeServer, owner string, m *apptest.User, name string) string {
	srv.T.Helper()
	c := apptest.Doc{"id": peer.NewID("collections"), "type": "FeaturedCollection", "attributedTo": owner, "name": name, "summary": "<p>Cats</p><script>x</script>", "totalItems": 7}
	peer.Serve(c)
	peer.PostAndSettle(srv, peer.Activity("FeatureRequest", owner, m.URI(), apptest.Doc{"instrument": c["id"]}))
	return m.Get("/api/v1/accounts/" + m.ID + "/in_collections").Want(200).Object().At("collections").([]any)[0].(map[string]any)["id"].(string)
}

// TestCollections checks the lists of collections that an account is in, their notifications, and that only the account itself lists and leaves them.
func TestCollections(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, eve := srv.SignUp("alice"), srv.SignUp("eve")
	alice.UpdateProfile(map[string]any{"source": map[string]any{"feature_policy": "public"}})
	if got := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object().Str("source.feature_policy"); got != "public" {
		t.Errorf("source.feature_policy is %s", got)
	}
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"feature_policy": "friends", "display_name": "changed"}).Want(422)
	if got := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object(); got.Str("source.feature_policy") != "public" || got.Str("display_name") == "changed" {
		t.Errorf("an unknown policy has changed the account: %v", got.Fields)
	}
	bob := peer.AddActor("bob")
	first := addToCollection(srv, peer, bob, alice, "First")
	second := addToCollection(srv, peer, bob, alice, "Second")
	list, path := "/api/v1/accounts/"+alice.ID+"/in_collections", func(id string) string { return "/api/v1/collections/" + id }
	for query, want := range map[string]string{"": second, "?offset=1": first, "?max_id=" + second: first, "?limit=1": second} {
		found := alice.Get(list + query).Want(200).Object().At("collections").([]any)
		if got := found[0].(map[string]any)["id"]; got != want {
			t.Errorf("%s begins with %v, want %s", query, got, want)
		}
	}
	shown := alice.Get(path(first)).Want(200).Object()
	apptest.WantFields(t, "collection", shown, apptest.Doc{
		"collection.name": "First", "collection.description": "Cats", "collection.item_count": 7.0, "collection.local": false, "collection.account_id": srv.KnownID(bob),
	})
	if n := len(shown.At("accounts").([]any)); n != 2 {
		t.Errorf("%d accounts, want the owner and alice", n)
	}
	apptest.WantList(t, "notifications", alice.NotificationTypes(), "added_to_collection", "added_to_collection")

	eve.Get(list).Want(403)
	srv.As(nil).Get(list).Want(401)
	eve.Get(path(first)).Want(200)
	srv.As(nil).Get(path(first)).Want(200)
	alice.Get(path("nonsense")).Want(404)
	item := func(id string) string {
		return alice.Get(path(id)).Want(200).Object().At("collection.items").([]any)[0].(map[string]any)["id"].(string)
	}
	place := item(first)
	revoke := func(collection, item string) string { return path(collection) + "/items/" + item + "/revoke" }
	eve.Post(revoke(first, place)).Want(403)
	alice.Post(revoke(first, item(second))).Want(404)
	alice.Post(revoke("nonsense", "nonsense")).Want(404)
	srv.As(nil).Post(revoke(first, place)).Want(401)
	srv.NewToken(alice, "read").Post(revoke(first, place)).Want(403)
	alice.Post(revoke(first, place)).Want(200)
	alice.Post(revoke(first, place)).Want(404)
	if n := len(alice.Get(path(first)).Want(200).Object().At("collection.items").([]any)); n != 0 {
		t.Errorf("the collection that alice has left has %d items", n)
	}
	apptest.WantList(t, "notifications after leaving one", alice.NotificationTypes(), "added_to_collection")

	srv.Exec(`UPDATE accounts SET unavailable = 1, suspended_at = 1 WHERE uri = ?`, bob)
	alice.Get(path(second)).Want(404)
	if n := len(alice.Get(list).Want(200).Object().At("collections").([]any)); n != 0 {
		t.Errorf("%d collections of a suspended account are shown", n)
	}
}
