package federation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
)

// newCollection makes a collection of a local account, and returns its id.
func newCollection(m *apptest.User, accounts ...string) string {
	m.Server.T.Helper()
	body := apptest.Doc{"name": "Cats", "description": "They post cats", "language": "en", "tag_name": "cats", "account_ids": append([]string{}, accounts...)}
	return m.SendJSON("POST", "/api/v1/collections", body).Want(200).Object().Str("collection.id")
}

// canFeature returns the member of an actor document that says who may put it into a collection.
func canFeature(automatic, manual []any) apptest.Doc {
	return apptest.Doc{"interactionPolicy": apptest.Doc{"canFeature": apptest.Doc{"automaticApproval": automatic, "manualApproval": manual}}}
}

// itemStates returns the states of the items of a collection that its owner is shown.
func itemStates(m *apptest.User, id string) string {
	m.Server.T.Helper()
	var states []string
	for _, i := range m.Get("/api/v1/collections/" + id).Want(200).Object().At("collection.items").([]any) {
		states = append(states, i.(map[string]any)["state"].(string))
	}
	return strings.Join(states, " ")
}

// TestCollectionDocuments checks the documents of a collection, its items and the list of collections, and the activities about them.
func TestCollectionDocuments(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.UpdateProfile(map[string]any{"feature_policy": "public"})
	peer.AddFollower(srv, "follower", alice)
	blocked := peer.AddActor("blocked")
	srv.FetchActor(blocked)
	apptest.Settle(srv)
	peer.ClearDelivered()

	id := newCollection(alice, bob.ID)
	apptest.Settle(srv)
	uri := srv.URL + "/collections/" + id
	list := srv.GetDocument(alice.URI()).Want(200).Document()["featuredCollections"].(string)
	added := peer.OneDelivered("Add")
	apptest.WantField(t, added, alice.URI(), "actor")
	apptest.WantField(t, added, list, "target")
	doc := srv.GetDocument(uri).Want(200).Document()
	for what, d := range map[string]apptest.Doc{"document": doc, "Add": added["object"].(apptest.Doc)} {
		for key, want := range map[string]any{
			"id": uri, "type": "FeaturedCollection", "attributedTo": alice.URI(), "name": "Cats", "summary": "They post cats", "url": uri, "discoverable": true,
			"sensitive": false, "totalItems": 1.0,
		} {
			if d[key] != want {
				t.Errorf("%s: %s is %v, want %v", what, key, d[key], want)
			}
		}
		apptest.WantField(t, d, "They post cats", "summaryMap", "en")
		apptest.WantField(t, d, "#cats", "topic", "name")
	}
	item := doc["orderedItems"].([]any)[0].(apptest.Doc)
	apptest.WantField(t, item, "FeaturedItem", "type")
	apptest.WantField(t, item, bob.URI(), "featuredObject")
	apptest.WantField(t, item, "Person", "featuredObjectType")
	if got := srv.GetDocument(item["id"].(string)).Want(200).Document(); got["featuredObject"] != bob.URI() {
		t.Errorf("the item is %v", got)
	}
	authorization := srv.GetDocument(item["featureAuthorization"].(string)).Want(200).Document()
	apptest.WantField(t, authorization, uri, "interactingObject")
	apptest.WantField(t, authorization, bob.URI(), "interactionTarget")
	if got := fmt.Sprint(srv.GetDocument(list).Want(200).Document()["orderedItems"]); got != "["+uri+"]" {
		t.Errorf("the list of collections has %s", got)
	}

	peer.ClearDelivered()
	alice.SendJSON("PATCH", "/api/v1/collections/"+id, apptest.Doc{"name": "Dogs", "discoverable": false}).Want(200)
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Update"), "Dogs", "object", "name")
	if got := fmt.Sprint(srv.GetDocument(list).Want(200).Document()["orderedItems"]); got != "[]" {
		t.Errorf("the list of collections has %s", got)
	}
	place := alice.Get("/api/v1/collections/" + id).Want(200).Object().At("collection.items").([]any)[0].(map[string]any)["id"].(string)
	bob.Post("/api/v1/collections/" + id + "/items/" + place + "/revoke").Want(200)
	apptest.Settle(srv)
	removed := peer.OneDelivered("Remove")
	apptest.WantField(t, removed, item["id"], "object")
	apptest.WantField(t, removed, uri, "target")
	srv.GetDocument(item["id"].(string)).Want(404)
	srv.GetDocument(item["featureAuthorization"].(string)).Want(404)

	alice.AccountAction(srv.KnownID(blocked), "block")
	for address, want := range map[string]int{uri: 404, list: 404} {
		peer.FetchAs(srv, strings.TrimPrefix(address, srv.URL), blocked, "application/activity+json").Want(want)
	}
	peer.ClearDelivered()
	alice.Do("DELETE", "/api/v1/collections/"+id, "", nil).Want(200)
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Delete"), uri, "object", "id")
	apptest.WantField(t, peer.OneDelivered("Remove"), list, "target")
	srv.GetDocument(uri).Want(404)
}

// TestFeatureRequestsToOthers checks which remote accounts get a FeatureRequest, its members, and the effect of each answer.
func TestFeatureRequestsToOthers(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	id := newCollection(alice)
	items := "/api/v1/collections/" + id + "/items"
	self := func(name string) []any { return []any{peer.URL + "/users/" + name} }
	for name, tt := range map[string]struct {
		policy apptest.Doc
		want   int
		shown  string
	}{
		"silent":   {apptest.Doc{}, 422, "missing"},
		"empty":    {apptest.Doc{"interactionPolicy": apptest.Doc{"canFeature": 5}}, 422, "missing"},
		"noone":    {canFeature(self("noone"), []any{}), 422, "denied"},
		"others":   {canFeature([]any{peer.URL + "/someone"}, []any{}), 422, "unknown"},
		"everyone": {canFeature([]any{apptest.Public}, []any{}), 200, "automatic"},
		"asked":    {canFeature([]any{}, []any{apptest.Public}), 200, "manual"},
	} {
		actor := peer.AddActor(name, tt.policy)
		srv.FetchActor(actor)
		known := srv.KnownID(actor)
		if got := alice.Get("/api/v1/accounts/"+known, "with_relationships", "true").Want(200).Object().Str("feature_approval.current_user"); got != tt.shown {
			t.Errorf("%s: current_user is %s, want %s", name, got, tt.shown)
		}
		peer.ClearDelivered()
		a := alice.Post(items, "account_id", known)
		apptest.Settle(srv)
		if a.Status != tt.want || len(peer.Delivered("FeatureRequest")) != map[int]int{200: 1, 422: 0}[tt.want] {
			t.Errorf("%s: %d %s, and %d requests", name, a.Status, a.Body, len(peer.Delivered("FeatureRequest")))
		}
	}
	if got := itemStates(alice, id); got != "pending pending" {
		t.Errorf("the owner is shown %s", got)
	}
	if n := len(srv.As(nil).Get("/api/v1/collections/" + id).Want(200).Object().At("collection.items").([]any)); n != 0 {
		t.Errorf("others are shown %d pending items", n)
	}

	ask := func(actor string) (item string, request apptest.Doc) {
		t.Helper()
		peer.ClearDelivered()
		item = alice.Post(items, "account_id", srv.KnownID(actor)).Want(200).Object().Str("collection_item.id")
		apptest.Settle(srv)
		return item, peer.OneDelivered("FeatureRequest")
	}
	carol := peer.AddActor("carol", canFeature([]any{apptest.Public}, nil))
	srv.FetchActor(carol)
	peer.AddFollower(srv, "follower", alice)
	item, request := ask(carol)
	apptest.WantField(t, request, alice.URI(), "actor")
	apptest.WantField(t, request, carol, "object")
	apptest.WantField(t, request, srv.URL+"/collections/"+id, "instrument")
	state := func() string {
		t.Helper()
		return []string{"pending", "accepted", "rejected", "revoked"}[srv.Count(`SELECT state FROM collection_items WHERE target_id = (SELECT id FROM accounts WHERE uri = ?)`, carol)]
	}
	mallory := other.AddActor("mallory")
	srv.FetchActor(mallory)
	authorization := apptest.Doc{"result": peer.URL + "/authorizations/1"}
	peer.ClearDelivered()
	other.PostAndSettle(srv, other.Activity("Accept", mallory, request["id"], authorization))
	peer.PostAndSettle(srv, peer.Activity("Accept", carol, request["id"], apptest.Doc{"result": other.URL + "/authorizations/1"}))
	peer.PostAndSettle(srv, peer.Activity("Accept", carol, request["id"]))
	if got := state(); got != "pending" {
		t.Errorf("after answers of others, and without an authorization of its own: %s", got)
	}
	peer.PostAndSettle(srv, peer.Activity("Accept", carol, request, authorization))
	if got := state(); got != "accepted" {
		t.Errorf("after the Accept: %s", got)
	}
	added := peer.OneDelivered("Add")
	apptest.WantField(t, added, carol, "object", "featuredObject")
	apptest.WantField(t, added, authorization["result"], "object", "featureAuthorization")
	apptest.WantField(t, added, srv.URL+"/collections/"+id, "target")

	peer.ClearDelivered()
	other.PostAndSettle(srv, other.Activity("Delete", mallory, authorization["result"]))
	if got := state(); got != "accepted" {
		t.Errorf("after a Delete by another actor: %s", got)
	}
	peer.PostAndSettle(srv, peer.Activity("Delete", carol, apptest.Doc{"id": authorization["result"], "type": "FeatureAuthorization"}))
	if got := state(); got != "revoked" {
		t.Errorf("after the Delete of the authorization: %s", got)
	}
	peer.OneDelivered("Remove")
	alice.Post(items, "account_id", srv.KnownID(carol)).Want(422)
	peer.PostAndSettle(srv, peer.Activity("Accept", carol, request, authorization))
	if got := state(); got != "revoked" {
		t.Errorf("after a late Accept: %s", got)
	}
	srv.Exec(`DELETE FROM collection_items WHERE target_id = (SELECT id FROM accounts WHERE uri = ?)`, carol)

	again, request := ask(carol)
	if again == item {
		t.Error("a new request has the id of the old one")
	}
	peer.PostAndSettle(srv, peer.Activity("Reject", carol, apptest.Doc{
		"id": peer.NewID("copies"), "type": "FeatureRequest", "actor": alice.URI(), "object": carol, "instrument": request["instrument"],
	}))
	if got := state(); got != "rejected" {
		t.Errorf("after the Reject: %s", got)
	}
	_, request = ask(carol) // a rejected account may be asked again
	peer.PostAndSettle(srv, peer.Activity("Accept", carol, request["id"], authorization))
	peer.PostAndSettle(srv, peer.Activity("Block", carol, alice.URI()))
	if got := state(); got != "revoked" {
		t.Errorf("after a Block: %s", got)
	}
}

// TestRemovedByMastodon checks that the Remove of a collection from the list of its owner's collections deletes it, as Mastodon sends it.
func TestRemovedByMastodon(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	srv.FetchActor(carol)
	c := featuredCollection(peer, bob)
	sendFeatureRequest(srv, peer, bob, alice.URI(), c["id"])
	for _, tt := range []struct {
		actor string
		want  int
	}{{carol, 1}, {bob, 0}} {
		peer.PostAndSettle(srv, peer.Activity("Remove", tt.actor, c["id"], apptest.Doc{"target": tt.actor + "/featured_collections"}))
		if n := srv.Count(`SELECT count(*) FROM collections`); n != tt.want {
			t.Errorf("after a Remove by %s: %d collections, want %d", tt.actor, n, tt.want)
		}
	}
}

// TestReportedCollectionIsForwarded checks that a Flag names the collections of a report, and that a Flag about a local one is a report of it.
func TestReportedCollectionIsForwarded(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	bob := peer.AddActor("bob")
	c := featuredCollection(peer, bob)
	sendFeatureRequest(srv, peer, bob, alice.URI(), c["id"])
	id := alice.Get("/api/v1/accounts/" + alice.ID + "/in_collections").Want(200).Object().At("collections").([]any)[0].(map[string]any)["id"].(string)
	alice.SendJSON("POST", "/api/v1/reports", apptest.Doc{"account_id": srv.KnownID(bob), "collection_ids": []string{id}, "forward": true}).Want(200)
	apptest.Settle(srv)
	if b, _ := json.Marshal(peer.OneDelivered("Flag")["object"]); !strings.Contains(string(b), c["id"].(string)) {
		t.Errorf("the Flag is about %s", b)
	}
	own := newCollection(alice)
	peer.PostAndSettle(srv, peer.Activity("Flag", bob, []any{alice.URI(), srv.URL + "/collections/" + own}))
	reports := root.Get("/api/v1/admin/reports", "target_account_id", alice.ID).Want(200).List()
	if len(reports) != 1 || reports[0].At("collections").([]any)[0].(map[string]any)["id"] != own {
		t.Errorf("the reports of alice are %v", reports)
	}
}
