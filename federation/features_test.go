package federation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// featuredCollection serves a collection of accounts of an actor, and returns it.
func featuredCollection(peer *apptest.FakeServer, owner string, changes ...apptest.Doc) apptest.Doc {
	d := apptest.Doc{
		"id": peer.NewID("collections"), "type": "FeaturedCollection", "attributedTo": owner, "name": "Cat people", "summary": "<p>They post <b>cats</b></p>",
		"totalItems": 2, "discoverable": true, "orderedItems": []any{},
	}
	for _, c := range changes {
		d = apptest.With(d, c)
	}
	peer.Serve(d)
	return d
}

// featureRequest is what Mastodon sends: it names no actor.
func featureRequest(peer *apptest.FakeServer, target string, collection any) apptest.Doc {
	return apptest.Doc{
		"@context": []any{"https://www.w3.org/ns/activitystreams", "https://w3id.org/fep/7aa9"},
		"id":       peer.NewID("requests"), "type": "FeatureRequest", "object": target, "instrument": collection,
	}
}

// sendFeatureRequest delivers a FeatureRequest signed by owner, and returns it.
func sendFeatureRequest(srv *apptest.Server, peer *apptest.FakeServer, owner, target string, collection any) apptest.Doc {
	srv.T.Helper()
	peer.ClearDelivered()
	d := featureRequest(peer, target, collection)
	peer.Deliver(srv, "/inbox", owner, d).Want(202)
	apptest.Settle(srv)
	return d
}

// TestFeaturePolicyDocument checks that the actor document says who may put the account into a collection, and that a change is federated.
func TestFeaturePolicyDocument(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	peer.AddFollower(srv, "bob", alice)
	for _, tt := range []struct {
		policy       string
		discoverable bool
		want         string
	}{
		{"default", false, alice.URI()},
		{"default", true, apptest.Public},
		{"public", false, apptest.Public},
		{"followers", true, alice.URI() + "/followers"},
		{"nobody", true, alice.URI()},
	} {
		peer.ClearDelivered()
		alice.UpdateProfile(map[string]any{"discoverable": tt.discoverable, "source": map[string]any{"feature_policy": tt.policy}})
		srv.Advance(time.Minute)
		apptest.Settle(srv)
		updated := peer.OneDelivered("Update")["object"].(apptest.Doc)
		for what, doc := range map[string]apptest.Doc{"actor": srv.GetDocument(alice.URI()).Want(200).Document(), "Update": updated} {
			rule, _ := doc["interactionPolicy"].(apptest.Doc)["canFeature"].(apptest.Doc)
			if got := fmt.Sprint(rule["automaticApproval"], rule["manualApproval"]); got != "["+tt.want+"] []" {
				t.Errorf("%s, discoverable %v: the %s has %s", tt.policy, tt.discoverable, what, got)
			}
		}
	}
}

// TestFeatureRequest checks who may put a local account into a collection, by its policy and the relation of the two.
func TestFeatureRequest(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	blockedServer := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	follower := peer.AddFollower(srv, "follower", alice)
	unrelated, blocked, suspended := peer.AddActor("unrelated"), peer.AddActor("blocked"), peer.AddActor("suspended")
	ofBlockedDomain := blockedServer.AddActor("dave")
	for _, actor := range []string{blocked, suspended, ofBlockedDomain} {
		srv.FetchActor(actor)
	}
	alice.AccountAction(srv.KnownID(blocked), "block")
	alice.Post("/api/v1/domain_blocks", "domain", blockedServer.Host).Want(200)
	srv.Exec(`UPDATE accounts SET unavailable = 1, suspended_at = 1 WHERE uri = ?`, suspended)
	const accept, reject, silence = "Accept", "Reject", ""
	for _, tt := range []struct {
		policy       string
		discoverable bool
		follower     string
		unrelated    string
	}{
		{"default", false, reject, reject},
		{"default", true, accept, accept},
		{"public", false, accept, accept},
		{"followers", true, accept, reject},
		{"nobody", true, reject, reject},
	} {
		alice.UpdateProfile(map[string]any{"discoverable": tt.discoverable, "feature_policy": tt.policy})
		for owner, want := range map[string]string{follower: tt.follower, unrelated: tt.unrelated, blocked: reject, ofBlockedDomain: reject, suspended: silence} {
			of := peer
			if owner == ofBlockedDomain {
				of = blockedServer
			}
			c := featuredCollection(of, owner)["id"].(string)
			request := sendFeatureRequest(srv, of, owner, alice.URI(), c)
			var got string
			for _, d := range of.Delivered("Accept", "Reject") {
				got += d["type"].(string)
				apptest.WantField(t, d, alice.URI(), "actor")
				apptest.WantField(t, d, request["id"], "object", "id")
				apptest.WantField(t, d, owner, "object", "actor")
				apptest.WantField(t, d, alice.URI(), "object", "object")
				apptest.WantField(t, d, c, "object", "instrument")
				if (d["result"] != nil) != (got == accept) {
					t.Errorf("%s has the result %v", got, d["result"])
				}
			}
			if got != want {
				t.Errorf("%s, discoverable %v: %s gets %q, want %q", tt.policy, tt.discoverable, owner, got, want)
			}
			if want != accept && of.Fetches(strings.TrimPrefix(c, of.URL)) > 0 {
				t.Errorf("%s: the collection of %s was fetched for nothing", tt.policy, owner)
			}
		}
	}
}

// TestFeatureAuthorization checks the authorization, its repetition, and its end by a revocation and by a block.
func TestFeatureAuthorization(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	authorization := func(owner string, c any) string {
		t.Helper()
		sendFeatureRequest(srv, peer, owner, alice.URI(), c)
		result, _ := peer.OneDelivered("Accept")["result"].(string)
		return result
	}
	first := featuredCollection(peer, bob)["id"]
	id := authorization(bob, first)
	for what, answer := range map[string]*apptest.Response{
		"anonymous": srv.As(nil).Get(id), "signed": peer.FetchAs(srv, strings.TrimPrefix(id, srv.URL), carol, "application/activity+json"),
	} {
		var doc apptest.Doc
		if err := json.Unmarshal(answer.Want(200).Body, &doc); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]any{
			"id": id, "type": "FeatureAuthorization", "attributedTo": alice.URI(), "interactingObject": first, "interactionTarget": alice.URI(),
		} {
			if doc[key] != want {
				t.Errorf("%s: %s is %v, want %v", what, key, doc[key], want)
			}
		}
	}
	if again := authorization(bob, first); again != id {
		t.Errorf("a repeated request gets %s, the first one %s", again, id)
	}
	apptest.WantList(t, "notifications", alice.NotificationTypes(), "added_to_collection")
	sendFeatureRequest(srv, peer, carol, alice.URI(), first) // it is bob's
	if len(peer.Delivered("Accept")) > 0 {
		t.Errorf("carol may use the collection of bob")
	}

	list := alice.Get("/api/v1/accounts/" + alice.ID + "/in_collections").Want(200).Object()
	in := list.At("collections").([]any)[0].(map[string]any)
	item := in["items"].([]any)[0].(map[string]any)["id"].(string)
	peer.ClearDelivered()
	alice.Post("/api/v1/collections/" + in["id"].(string) + "/items/" + item + "/revoke").Want(200)
	apptest.Settle(srv)
	gone := peer.OneDelivered("Delete")
	apptest.WantField(t, gone, id, "object", "id")
	apptest.WantField(t, gone, "FeatureAuthorization", "object", "type")
	apptest.WantField(t, gone, first, "object", "interactingObject")
	apptest.WantField(t, gone, alice.URI(), "object", "interactionTarget")
	srv.As(nil).Get(id).Want(404)
	apptest.WantList(t, "notifications after the revocation", alice.NotificationTypes())
	sendFeatureRequest(srv, peer, bob, alice.URI(), first)
	peer.OneDelivered("Reject")

	second := authorization(bob, featuredCollection(peer, bob)["id"])
	other := authorization(carol, featuredCollection(peer, carol)["id"])
	peer.ClearDelivered()
	alice.AccountAction(srv.KnownID(bob), "block")
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Delete"), second, "object", "id")
	srv.As(nil).Get(second).Want(404)
	srv.As(nil).Get(other).Want(200)
	peer.ClearDelivered()
	alice.Post("/api/v1/domain_blocks", "domain", peer.Host).Want(200)
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Delete"), other, "object", "id")
	srv.As(nil).Get(other).Want(404)
}

// TestFeatureAuthorizationWithAuthorizedFetch checks that servers must sign to read an authorization if others must, too.
func TestFeatureAuthorizationWithAuthorizedFetch(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) { c.Federation.AuthorizedFetch = true })
	alice := srv.SignUp("alice")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	bob := peer.AddActor("bob")
	sendFeatureRequest(srv, peer, bob, alice.URI(), featuredCollection(peer, bob)["id"])
	id := peer.OneDelivered("Accept")["result"].(string)
	srv.As(nil).Get(id).Want(401)
	peer.FetchAs(srv, strings.TrimPrefix(id, srv.URL), bob, "application/activity+json").Want(200)
}

// TestMalformedFeatureRequests checks that malformed requests have no effect and no answer.
func TestMalformedFeatureRequests(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice, gone := srv.SignUp("alice"), srv.SignUp("gone")
	for _, m := range []*apptest.User{alice, gone} {
		m.UpdateProfile(map[string]any{"feature_policy": "public"})
	}
	srv.Exec(`UPDATE accounts SET unavailable = 1 WHERE uri = ?`, gone.URI())
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	good := featuredCollection(peer, bob)["id"]
	collection := func(changes apptest.Doc) any { return featuredCollection(peer, bob, changes)["id"] }
	for name, tt := range map[string]struct {
		target     any
		collection any
	}{
		"no account":                    {nil, good},
		"a number for the account":      {5, good},
		"an unknown account":            {srv.URL + "/users/unknown", good},
		"a remote account":              {carol, good},
		"an unavailable account":        {gone.URI(), good},
		"no collection":                 {alice.URI(), nil},
		"a list for the collection":     {alice.URI(), []any{}},
		"a collection of another host":  {alice.URI(), featuredCollection(other, bob)["id"]},
		"a collection that is missing":  {alice.URI(), peer.URL + "/missing"},
		"a collection of another actor": {alice.URI(), featuredCollection(peer, carol)["id"]},
		"another type":                  {alice.URI(), collection(apptest.Doc{"type": "OrderedCollection"})},
		"no name":                       {alice.URI(), collection(apptest.Doc{"name": ""})},
		"a list for the name":           {alice.URI(), collection(apptest.Doc{"name": []any{1, 2}})},
		"a number for the owner":        {alice.URI(), collection(apptest.Doc{"attributedTo": 7})},
		"an embedded one of another":    {alice.URI(), apptest.With(featuredCollection(peer, carol), apptest.Doc{"summary": "embedded"})},
	} {
		peer.ClearDelivered()
		d := featureRequest(peer, "", tt.collection)
		d["object"] = tt.target
		peer.Deliver(srv, "/inbox", bob, d)
		apptest.Settle(srv)
		if n := srv.Count(`SELECT count(*) FROM collection_items`); n > 0 || len(peer.Delivered()) > 0 {
			t.Errorf("%s: %d rows, answers %v", name, n, peer.Delivered())
			srv.Exec(`DELETE FROM collection_items`)
		}
	}
	if a := peer.DeliverRaw(srv, "/inbox", bob, []byte(`{"@context":"https://www.w3.org/ns/activitystreams","type":"Like","id":"`+peer.NewID("likes")+`","object":"x"}`)); a.Status != 400 {
		t.Errorf("a Like without an actor is answered with %d", a.Status)
	}
}

// TestFeatureLimits checks how many collections of an account and of a domain a local account can be in.
func TestFeatureLimits(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	add := func(owner string, n int) (accepted int) {
		t.Helper()
		peer.ClearDelivered()
		for range n {
			peer.Deliver(srv, "/inbox", owner, featureRequest(peer, alice.URI(), featuredCollection(peer, owner)["id"])).Want(202)
		}
		apptest.Settle(srv)
		if answers := len(peer.Delivered("Accept", "Reject")); answers != n {
			t.Errorf("%d of %d requests are answered", answers, n)
		}
		return len(peer.Delivered("Accept"))
	}
	const ofOwner, ofDomain = 20, 100
	if got := add(peer.AddActor("first"), ofOwner+3); got != ofOwner {
		t.Errorf("one owner gets %d, want %d", got, ofOwner)
	}
	total := ofOwner
	for i := range ofDomain/ofOwner + 1 {
		total += add(peer.AddActor(fmt.Sprint("owner", i)), ofOwner)
	}
	if total != ofDomain || srv.Count(`SELECT count(*) FROM collection_items`) != ofDomain {
		t.Errorf("one domain gets %d, and %d rows, want %d", total, srv.Count(`SELECT count(*) FROM collection_items`), ofDomain)
	}
}

// TestFeatureRequestRate checks that an account that sends too many requests gets no more answers.
func TestFeatureRequestRate(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice") // allows nobody, so that each request is cheap
	bob := peer.AddActor("bob")
	const perHour = 300
	for range perHour + 5 {
		peer.Deliver(srv, "/inbox", bob, featureRequest(peer, alice.URI(), peer.URL+"/c")).Want(202)
	}
	apptest.Settle(srv)
	if got := len(peer.Delivered("Reject")); got != perHour {
		t.Errorf("%d answers, want %d", got, perHour)
	}
	srv.Advance(time.Hour + time.Minute)
	sendFeatureRequest(srv, peer, bob, alice.URI(), peer.URL+"/c")
	peer.OneDelivered("Reject")
}

// TestFeatureRequestRateOfDomain checks that the accounts of a registered domain together get no more answers than 1000 an hour, and that those of
// others still get theirs.
func TestFeatureRequestRateOfDomain(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	const perAccount, perDomain = 300, 1000
	for i := range perDomain/perAccount + 1 { // the requests but one, without the cost of their signatures
		uri := peer.AddActor(fmt.Sprint("owner", i))
		srv.FetchActor(uri)
		owner, err := srv.DB.AccountsByURI(t.Context(), []string{uri})
		if err != nil {
			t.Fatal(err)
		}
		for range min(perAccount, perDomain-1-i*perAccount) {
			if _, err := srv.Social.AllowsFeature(t.Context(), owner[uri], alice.AccountID()); err != nil {
				t.Fatal(err)
			}
		}
	}
	answered := func(by *apptest.FakeServer, nick string) bool {
		t.Helper()
		sendFeatureRequest(srv, by, by.AddActor(nick), alice.URI(), by.URL+"/c")
		return len(by.Delivered("Reject")) > 0
	}
	if !answered(peer, "last") {
		t.Errorf("request %d of a domain has no answer", perDomain)
	}
	if answered(peer, "late") {
		t.Errorf("request %d of a domain is answered", perDomain+1)
	}
	if !answered(other, "bob") {
		t.Error("a request of another domain has no answer")
	}
	srv.Advance(time.Hour + time.Minute)
	if !answered(peer, "later") {
		t.Error("a request an hour later has no answer")
	}
}

// TestFeatureItemLimits checks how many local accounts one collection can have, and how many collections a local account can be in altogether. Places
// that an account has left count, because their rows stay.
func TestFeatureItemLimits(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), peer.AddActor("bob")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	srv.FetchActor(peer.AddActor("carol"))
	srv.FetchActor(bob)
	const ofCollection, ofAccount = 150, 1000
	full := featuredCollection(peer, bob)["id"]
	srv.Exec(`
		INSERT INTO accounts (id, nickname, nickname_key, uri, url, created_at)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT i, 'm' || i, 'm' || i, 'm' || i, '', 0 FROM n`, ofCollection)
	// insert adds n items: those with an odd number have been left. columns: the id, collection, account that is in it and owner of item i.
	insert := func(n int, columns string, args ...any) {
		srv.Exec(`
			INSERT INTO collection_items (id, collection_id, target_id, account_id, domain, state, request_uri)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			SELECT `+columns+`, 'example.org', iif(i % 2, 3, 1), '' FROM n`, append([]any{n}, args...)...)
	}
	collect := func(n int, uri string, args ...any) {
		srv.Exec(`
			INSERT INTO collections (id, account_id, uri, url, name, description, sensitive, discoverable, updated_at)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			SELECT i, ?2, `+uri+`, '', 'x', '', 0, 1, 0 FROM n`, append([]any{n}, args...)...)
	}
	accepted := func(c any) bool {
		t.Helper()
		sendFeatureRequest(srv, peer, bob, alice.URI(), c)
		if n := len(peer.Delivered("Accept", "Reject")); n != 1 {
			t.Errorf("%d answers", n)
		}
		return len(peer.Delivered("Accept")) > 0
	}
	owner := srv.Count(`SELECT id FROM accounts WHERE nickname = 'bob'`)
	collect(1, "?3", owner, full)
	insert(ofCollection-1, "i, 1, i, ?2", owner)
	if !accepted(full) {
		t.Errorf("account %d of a collection is refused", ofCollection)
	}
	srv.Exec(`DELETE FROM collection_items WHERE target_id = ?`, int64(alice.AccountID()))
	insert(1, "1000, 1, ?2, ?3", ofCollection, owner)
	if accepted(full) {
		t.Errorf("account %d of a collection is accepted", ofCollection+1)
	}
	srv.Exec(`DELETE FROM collections`)
	owner = srv.Count(`SELECT id FROM accounts WHERE nickname = 'carol'`)
	collect(ofAccount-1, "'https://example.org/' || i", owner)
	insert(ofAccount-1, "1000 + i, i, ?2, ?3", int64(alice.AccountID()), owner)
	if !accepted(featuredCollection(peer, bob)["id"]) {
		t.Errorf("collection %d of an account is refused", ofAccount)
	}
	if accepted(featuredCollection(peer, bob)["id"]) {
		t.Errorf("collection %d of an account is accepted", ofAccount+1)
	}
	if n := srv.Count(`SELECT count(*) FROM collection_items WHERE target_id = ?`, int64(alice.AccountID())); n != ofAccount {
		t.Errorf("%d rows, want %d", n, ofAccount)
	}
}

// TestFeatureNotificationRate checks that an owner who adds and removes an account again and again notifies it no more often than by mentions, unless
// the account follows the owner.
func TestFeatureNotificationRate(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), peer.AddActor("bob")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	notified := func() bool {
		t.Helper()
		c := featuredCollection(peer, bob)["id"]
		sendFeatureRequest(srv, peer, bob, alice.URI(), c)
		peer.OneDelivered("Accept")
		is := len(alice.NotificationTypes()) > 0
		peer.PostAndSettle(srv, peer.Activity("Delete", bob, c))
		return is
	}
	const perHour = 30
	for i := range perHour + 2 {
		if got := notified(); got != (i < perHour) {
			t.Errorf("collection %d notifies: %v", i+1, got)
		}
	}
	alice.FollowRemote(bob)
	if !notified() {
		t.Error("an account that alice follows does not notify her")
	}
}

// TestChangedCollection checks that changes of a collection by its owner reach the local account that is in it, and those by others do not.
func TestChangedCollection(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	srv.FetchActor(carol)
	names := func() string {
		t.Helper()
		var names []string
		for _, c := range alice.Get("/api/v1/accounts/" + alice.ID + "/in_collections").Want(200).Object().At("collections").([]any) {
			names = append(names, c.(map[string]any)["name"].(string))
		}
		return strings.Join(names, ", ")
	}
	c := featuredCollection(peer, bob)
	sendFeatureRequest(srv, peer, bob, alice.URI(), c["id"])
	authorization := peer.OneDelivered("Accept")["result"]
	want := func(what, want string) {
		t.Helper()
		if got := names(); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	want("accepted", "Cat people")
	changed := apptest.With(c, apptest.Doc{"name": "Dog people"})
	peer.PostAndSettle(srv, peer.Activity("Update", carol, changed))
	want("an Update by another actor", "Cat people")
	peer.PostAndSettle(srv, peer.Activity("Update", bob, changed))
	want("an Update", "Dog people")
	peer.PostAndSettle(srv, peer.Activity("Create", bob, changed))
	if reasons := srv.Refusals(peer.Activity("Create", bob, changed)["id"]); reasons != "" {
		t.Errorf("a Create is refused: %s", reasons)
	}
	item := apptest.Doc{"id": peer.NewID("items"), "type": "FeaturedItem", "featuredObject": alice.URI(), "featureAuthorization": authorization}
	peer.PostAndSettle(srv, peer.Activity("Add", bob, item, apptest.Doc{"target": c["id"]}))
	peer.PostAndSettle(srv, peer.Activity("Remove", carol, item["id"], apptest.Doc{"target": c["id"]}))
	peer.PostAndSettle(srv, peer.Activity("Remove", bob, peer.NewID("items"), apptest.Doc{"target": c["id"]}))
	want("Removes of something else", "Dog people")
	peer.PostAndSettle(srv, peer.Activity("Remove", bob, item["id"], apptest.Doc{"target": c["id"]}))
	want("a Remove", "")
	apptest.WantList(t, "notifications", alice.NotificationTypes())

	sendFeatureRequest(srv, peer, bob, alice.URI(), c["id"])
	want("added again", "Cat people")
	peer.PostAndSettle(srv, peer.Activity("Delete", carol, c["id"]))
	want("a Delete by another actor", "Cat people")
	peer.PostAndSettle(srv, peer.Activity("Delete", bob, c["id"]))
	want("a Delete", "")
}

// TestSearchedCollection checks that the URL of a collection leads to its owner, and that of a forged one to nobody.
func TestSearchedCollection(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob, carol := peer.AddActor("bob"), other.AddActor("carol")
	find := func(url any) int {
		t.Helper()
		found := alice.Get("/api/v2/search?resolve=true&type=accounts&q=" + url.(string)).Want(200).Object()
		return len(found.At("accounts").([]any))
	}
	if n := find(featuredCollection(peer, bob)["id"]); n != 1 {
		t.Errorf("%d accounts are found by a collection, want its owner", n)
	}
	if n := find(featuredCollection(peer, carol)["id"]); n != 0 {
		t.Errorf("%d accounts are found by a collection of another host", n)
	}
}
