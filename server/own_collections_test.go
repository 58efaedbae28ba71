package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

const collectionsPath = "/api/v1/collections"

// featurable signs up an account that everybody may put into a collection.
func featurable(srv *apptest.Server, name string) *apptest.User {
	m := srv.SignUp(name)
	m.UpdateProfile(map[string]any{"feature_policy": "public"})
	return m
}

// newCollection makes a collection, and returns its id.
func newCollection(m *apptest.User, name string, accounts ...*apptest.User) string {
	m.Server.T.Helper()
	ids := []string{}
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	return m.SendJSON("POST", collectionsPath, map[string]any{"name": name, "account_ids": ids}).Want(200).Object().Str("collection.id")
}

// addItem adds an account to a collection, and returns the id of the item.
func addItem(m *apptest.User, collection string, account *apptest.User) string {
	m.Server.T.Helper()
	return m.Post(collectionsPath+"/"+collection+"/items", "account_id", account.ID).Want(200).Object().Str("collection_item.id")
}

// itemStates returns the states of the items of a collection that a client is shown.
func itemStates(c *apptest.Client, id string) string {
	c.Server.T.Helper()
	var states []string
	for _, i := range c.Get(collectionsPath + "/" + id).Want(200).Object().At("collection.items").([]any) {
		states = append(states, i.(map[string]any)["state"].(string))
	}
	return strings.Join(states, " ")
}

// TestOwnCollections makes, changes and deletes a collection of a local account.
func TestOwnCollections(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), featurable(srv, "bob"), featurable(srv, "carol")
	made := alice.SendJSON("POST", collectionsPath, map[string]any{
		"name": " Nice\n accounts", "description": "<b>nice</b>", "language": "en", "tag_name": "#Cats", "sensitive": true, "discoverable": false, "account_ids": []string{bob.ID, bob.ID},
	}).Want(200).Object()
	id := made.Str("collection.id")
	apptest.WantFields(t, "collection", made, apptest.Doc{
		"collection.name": "Nice accounts", "collection.description": "&lt;b&gt;nice&lt;/b&gt;", "collection.language": "en", "collection.tag.name": "cats",
		"collection.tag.url": srv.URL + "/tags/cats", "collection.sensitive": true, "collection.discoverable": false, "collection.local": true,
		"collection.account_id": alice.ID, "collection.item_count": 1.0, "collection.uri": srv.URL + "/collections/" + id, "collection.url": srv.URL + "/collections/" + id,
	})
	path := collectionsPath + "/" + id
	item := addItem(alice, id, carol)
	apptest.WantList(t, "notifications of carol", carol.NotificationTypes(), "added_to_collection")
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes())
	shown := srv.As(nil).Get(path).Want(200).Object()
	if n := len(shown.At("accounts").([]any)); n != 3 || shown.Str("collection.name") != "Nice accounts" {
		t.Errorf("an anonymous client is shown %d accounts of %v", n, shown)
	}
	list := "/api/v1/accounts/" + alice.ID + "/collections"
	count := func(c *apptest.Client) int {
		t.Helper()
		return len(c.Get(list).Want(200).Object().At("collections").([]any))
	}
	if own, others := count(alice.Client), count(bob.Client); own != 1 || others != 0 {
		t.Errorf("the list of a collection that is not discoverable has %d for its owner, %d for others", own, others)
	}
	changed := alice.SendJSON("PATCH", path, map[string]any{"discoverable": true, "name": "Better accounts", "tag_name": "", "language": ""}).Want(200).Object()
	apptest.WantFields(t, "changed", changed, apptest.Doc{
		"collection.name": "Better accounts", "collection.description": "&lt;b&gt;nice&lt;/b&gt;", "collection.tag": nil, "collection.language": nil, "collection.item_count": 2.0,
	})
	if n := count(srv.As(nil)); n != 1 {
		t.Errorf("the list has %d collections, want 1", n)
	}
	apptest.WantList(t, "notifications after a change", carol.NotificationTypes(), "collection_update", "added_to_collection")
	alice.SendJSON("PATCH", path, map[string]any{"name": "Best accounts"}).Want(200)
	alice.SendJSON("PATCH", path, map[string]any{"name": "Best accounts"}).Want(200)
	apptest.WantList(t, "one unread notification of a change", carol.NotificationTypes(), "collection_update", "added_to_collection")

	found := bob.Get("/api/v2/search", "q", srv.URL+"/collections/"+id, "resolve", "true").Want(200).Object().At("accounts").([]any)
	if len(found) != 1 || found[0].(map[string]any)["id"] != alice.ID {
		t.Errorf("the address of the collection finds %v", found)
	}
	alice.Do("DELETE", path+"/items/"+item, "", nil).Want(200)
	alice.Do("DELETE", path+"/items/"+item, "", nil).Want(404)
	apptest.WantList(t, "notifications after the removal", carol.NotificationTypes())
	addItem(alice, id, carol)
	alice.Do("DELETE", path, "", nil).Want(200)
	alice.Get(path).Want(404)
	alice.Do("DELETE", path, "", nil).Want(404)
	apptest.WantList(t, "notifications after the deletion", carol.NotificationTypes())
	if n := srv.Count(`SELECT count(*) FROM collection_items`); n != 0 {
		t.Errorf("%d items stay", n)
	}
}

// TestInvalidCollections checks that bad input is refused and changes nothing.
func TestInvalidCollections(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, eve := srv.SignUp("alice"), featurable(srv, "bob"), srv.SignUp("eve")
	id := newCollection(alice, "cats", bob)
	item := alice.Get(collectionsPath + "/" + id).Want(200).Object().At("collection.items").([]any)[0].(map[string]any)["id"].(string)
	long := strings.Repeat("x", 101)
	rows := func() string {
		return fmt.Sprint(srv.Count(`SELECT count(*) FROM collections`), srv.Count(`SELECT count(*) FROM collection_items`),
			srv.Count(`SELECT count(*) FROM collections WHERE name = 'cats' AND description = ''`))
	}
	before := rows()
	path := collectionsPath + "/" + id
	for name, tt := range map[string]struct {
		as     *apptest.Client
		method string
		path   string
		body   any
		want   int
	}{
		"no name":                       {alice.Client, "POST", collectionsPath, apptest.Doc{"description": "x"}, 422},
		"a blank name":                  {alice.Client, "POST", collectionsPath, apptest.Doc{"name": " \n "}, 422},
		"a long name":                   {alice.Client, "POST", collectionsPath, apptest.Doc{"name": long[:41]}, 422},
		"a number for the name":         {alice.Client, "POST", collectionsPath, apptest.Doc{"name": []any{1}}, 400},
		"a long description":            {alice.Client, "POST", collectionsPath, apptest.Doc{"name": "x", "description": long}, 422},
		"no language":                   {alice.Client, "POST", collectionsPath, apptest.Doc{"name": "x", "language": "not a language"}, 422},
		"no hashtag":                    {alice.Client, "POST", collectionsPath, apptest.Doc{"name": "x", "tag_name": "two words"}, 422},
		"a text for a truth value":      {alice.Client, "POST", collectionsPath, apptest.Doc{"name": "x", "sensitive": "perhaps"}, 422},
		"an unknown account":            {alice.Client, "POST", collectionsPath, apptest.Doc{"name": "x", "account_ids": []string{bob.ID, "none"}}, 422},
		"an account that allows nobody": {alice.Client, "POST", collectionsPath, apptest.Doc{"name": "x", "account_ids": []string{eve.ID}}, 422},
		"too many accounts":             {alice.Client, "POST", collectionsPath, apptest.Doc{"name": "x", "account_ids": strings.Fields(strings.Repeat("none ", 26))}, 422},
		"anonymous":                     {srv.As(nil), "POST", collectionsPath, apptest.Doc{"name": "x"}, 401},
		"without the scope":             {srv.NewToken(alice, "read"), "POST", collectionsPath, apptest.Doc{"name": "x"}, 403},
		"a change to a long name":       {alice.Client, "PATCH", path, apptest.Doc{"name": long[:41]}, 422},
		"a change by another":           {eve.Client, "PATCH", path, apptest.Doc{"name": "x"}, 403},
		"a change of a missing one":     {alice.Client, "PATCH", collectionsPath + "/none", apptest.Doc{"name": "x"}, 404},
		"an anonymous change":           {srv.As(nil), "PATCH", path, apptest.Doc{"name": "x"}, 401},
		"a deletion by another":         {eve.Client, "DELETE", path, nil, 403},
		"an anonymous deletion":         {srv.As(nil), "DELETE", path, nil, 401},
		"no account":                    {alice.Client, "POST", path + "/items", apptest.Doc{}, 400},
		"the same account":              {alice.Client, "POST", path + "/items", apptest.Doc{"account_id": bob.ID}, 422},
		"a missing account":             {alice.Client, "POST", path + "/items", apptest.Doc{"account_id": "none"}, 422},
		"an addition by another":        {eve.Client, "POST", path + "/items", apptest.Doc{"account_id": eve.ID}, 403},
		"an addition to a missing one":  {alice.Client, "POST", collectionsPath + "/none/items", apptest.Doc{"account_id": bob.ID}, 404},
		"an anonymous addition":         {srv.As(nil), "POST", path + "/items", apptest.Doc{"account_id": bob.ID}, 401},
		"a removal by another":          {eve.Client, "DELETE", path + "/items/" + item, nil, 403},
		"a removal of a missing item":   {alice.Client, "DELETE", path + "/items/none", nil, 404},
		"an anonymous removal":          {srv.As(nil), "DELETE", path + "/items/" + item, nil, 401},
		"a revocation by the owner":     {alice.Client, "POST", path + "/items/" + item + "/revoke", nil, 403},
		"collections of a missing one":  {alice.Client, "GET", "/api/v1/accounts/none/collections", nil, 404},
	} {
		if a := tt.as.SendJSON(tt.method, tt.path, tt.body); a.Status != tt.want {
			t.Errorf("%s: %d %s, want %d", name, a.Status, a.Body, tt.want)
		}
		if after := rows(); after != before {
			t.Fatalf("%s has changed %s to %s", name, before, after)
		}
	}
}

// TestFeaturePolicyOfLocalOwners checks which local accounts another one may put into its collections.
func TestFeaturePolicyOfLocalOwners(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	id := newCollection(alice, "cats")
	for i, tt := range []struct {
		policy       string
		discoverable bool
		prepare      func(target *apptest.User)
		want         int
		approval     string
	}{
		{"default", false, nil, 422, "denied"},
		{"default", true, nil, 200, "automatic"},
		{"nobody", true, nil, 422, "denied"},
		{"public", false, nil, 200, "automatic"},
		{"followers", false, nil, 422, "denied"},
		{"followers", false, func(target *apptest.User) { alice.AccountAction(target.ID, "follow") }, 200, "automatic"},
		{"public", false, func(target *apptest.User) { target.AccountAction(alice.ID, "block") }, 422, "automatic"},
		{"public", false, func(target *apptest.User) { alice.AccountAction(target.ID, "block") }, 422, "automatic"},
	} {
		target := srv.SignUp(fmt.Sprint("target", i))
		target.UpdateProfile(map[string]any{"discoverable": tt.discoverable, "feature_policy": tt.policy})
		if tt.prepare != nil {
			tt.prepare(target)
		}
		if a := alice.Post(collectionsPath+"/"+id+"/items", "account_id", target.ID); a.Status != tt.want {
			t.Errorf("%d %s: %d %s, want %d", i, tt.policy, a.Status, a.Body, tt.want)
		}
		a := alice.Get("/api/v1/accounts/"+target.ID, "with_relationships", "true").Want(200).Object()
		if got := a.Str("feature_approval.current_user"); got != tt.approval {
			t.Errorf("%d %s: feature_approval is %v, want %s", i, tt.policy, a.At("feature_approval"), tt.approval)
		}
	}
	addItem(alice, id, alice)
	apptest.WantList(t, "notifications of the owner", alice.NotificationTypes())
}

// TestLeftCollection checks that an account leaves a collection of a local account for good, by itself or by a block, and which items each viewer sees.
func TestLeftCollection(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave := srv.SignUp("alice"), featurable(srv, "bob"), featurable(srv, "carol"), featurable(srv, "dave")
	id := newCollection(alice, "cats", bob, carol, dave)
	in := bob.Get("/api/v1/accounts/" + bob.ID + "/in_collections").Want(200).Object().At("collections").([]any)
	if len(in) != 1 || in[0].(map[string]any)["id"] != id {
		t.Fatalf("bob is in %v", in)
	}
	items := make(map[string]string)
	for _, i := range in[0].(map[string]any)["items"].([]any) {
		items[i.(map[string]any)["account_id"].(string)] = i.(map[string]any)["id"].(string)
	}
	revoke := collectionsPath + "/" + id + "/items/" + items[bob.ID] + "/revoke"
	carol.Post(revoke).Want(403)
	bob.Post(revoke).Want(200)
	bob.Post(revoke).Want(404)
	apptest.WantList(t, "notifications of bob", bob.NotificationTypes())
	alice.Post(collectionsPath+"/"+id+"/items", "account_id", bob.ID).Want(422)
	alice.Do("DELETE", collectionsPath+"/"+id+"/items/"+items[bob.ID], "", nil).Want(404)
	if got := itemStates(alice.Client, id); got != "accepted accepted" {
		t.Errorf("the owner is shown %s", got)
	}
	dave.AccountAction(carol.ID, "block")
	if got := itemStates(dave.Client, id); got != "accepted" {
		t.Errorf("dave, who blocks carol, is shown %s", got)
	}
	carol.AccountAction(alice.ID, "block")
	if got := itemStates(alice.Client, id); got != "accepted" {
		t.Errorf("after a block by carol, the owner is shown %s", got)
	}
	alice.AccountAction(dave.ID, "block")
	if got := itemStates(alice.Client, id); got != "" {
		t.Errorf("after a block of dave, the owner is shown %s", got)
	}
	dave.Get(collectionsPath + "/" + id).Want(404)
	dave.Get("/api/v1/accounts/" + alice.ID + "/collections").Want(404)
	srv.Exec(`UPDATE accounts SET unavailable = 1 WHERE nickname = 'alice'`)
	srv.As(nil).Get(collectionsPath + "/" + id).Want(404)
}

// TestCollectionLimits pushes against the numbers of collections, of items, and of changes a day.
func TestCollectionLimits(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Accounts.MaxCollections = 3 })
	alice := srv.SignUp("alice")
	if got := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object().At("role.collection_limit"); got != 3.0 {
		t.Errorf("role.collection_limit is %v", got)
	}
	id := newCollection(alice, "cats")
	for range 2 {
		newCollection(alice, "more")
	}
	alice.SendJSON("POST", collectionsPath, apptest.Doc{"name": "too many"}).Want(422)
	const maxItems, perDay = 25, 300
	changes := 3 // refused ones do not count
	var last *apptest.User
	for i := range maxItems {
		last = featurable(srv, fmt.Sprint("member", i))
		addItem(alice, id, last)
		changes++
	}
	other := featurable(srv, "other")
	alice.Post(collectionsPath+"/"+id+"/items", "account_id", other.ID).Want(422)
	if n := srv.Count(`SELECT count(*) FROM collection_items`); n != maxItems {
		t.Errorf("%d items, want %d", n, maxItems)
	}
	for i := range perDay - changes {
		alice.SendJSON("PATCH", collectionsPath+"/"+id, apptest.Doc{"description": fmt.Sprint(i)}).Want(200)
	}
	alice.SendJSON("PATCH", collectionsPath+"/"+id, apptest.Doc{"description": "one more"}).Want(429)
	other.SendJSON("POST", collectionsPath, apptest.Doc{"name": "not counted for others"}).Want(200)
	if n := srv.Count(`SELECT count(*) FROM notifications WHERE type = 'collection_update' AND account_id = ?`, last.AccountID()); n != 1 {
		t.Errorf("%d notifications of changes, want one that is unread", n)
	}
	srv.Advance(24*time.Hour + time.Minute)
	alice.SendJSON("PATCH", collectionsPath+"/"+id, apptest.Doc{"description": "the next day"}).Want(200)
	srv.Exec(`UPDATE collection_items SET state = 3`)
	srv.Exec(`WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 125)
		INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, actor_type, created_at) SELECT i, 'gone' || i, 'gone' || i, 'far.example', 'https://far.example/' || i, '', 'Person', 0 FROM n`)
	srv.Exec(`INSERT INTO collection_items (id, collection_id, target_id, account_id, domain, state, request_uri)
		SELECT a.id, i.collection_id, a.id, i.account_id, '', 3, '' FROM accounts a CROSS JOIN (SELECT * FROM collection_items LIMIT 1) i WHERE a.id <= 125`)
	alice.Post(collectionsPath+"/"+id+"/items", "account_id", other.ID).Want(422)
	srv.Exec(`UPDATE collection_items SET state = 2 WHERE id = 7`)
	addItem(alice, id, other)
	if n := srv.Count(`SELECT count(*) FROM collection_items WHERE id = 7`); n != 0 {
		t.Error("the rejected item has not made room")
	}
}

// TestCollectionNotificationsOfLocalOwner checks that an owner who adds and removes an account again and again notifies it no more often than by mentions.
func TestCollectionNotificationsOfLocalOwner(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), featurable(srv, "bob")
	id := newCollection(alice, "cats")
	notified := 0
	const mentionsAnHour = 30
	for range mentionsAnHour + 10 {
		item := addItem(alice, id, bob)
		notified += srv.Count(`SELECT count(*) FROM notifications WHERE type = 'added_to_collection'`)
		alice.Do("DELETE", collectionsPath+"/"+id+"/items/"+item, "", nil).Want(200)
	}
	if notified != mentionsAnHour {
		t.Errorf("%d notifications, want %d", notified, mentionsAnHour)
	}
}

// TestCollectionLists checks the pages of a list of collections.
func TestCollectionLists(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	first, second, third := newCollection(alice, "1"), newCollection(alice, "2"), newCollection(alice, "3")
	for query, want := range map[string][]string{
		"": {third, second, first}, "?limit=2": {third, second}, "?offset=2": {first}, "?max_id=" + second: {first}, "?min_id=" + first + "&limit=1": {second},
	} {
		var got []string
		for _, c := range srv.As(nil).Get("/api/v1/accounts/" + alice.ID + "/collections" + query).Want(200).Object().At("collections").([]any) {
			got = append(got, c.(map[string]any)["id"].(string))
		}
		apptest.WantList(t, query, got, want...)
	}
	if link := alice.Get("/api/v1/accounts/" + alice.ID + "/collections?limit=2").Header.Get("Link"); !strings.Contains(link, "max_id="+url.QueryEscape(second)) {
		t.Errorf("Link is %s", link)
	}
}

// TestReportedCollection checks that a report has copies of the collections that it names, and only of the reported account.
func TestReportedCollection(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	id, others := newCollection(alice, "Bad"), newCollection(bob, "Good")
	report := bob.SendJSON("POST", "/api/v1/reports", apptest.Doc{"account_id": alice.ID, "collection_ids": []string{id, id, others, "none"}}).Want(200).Object()
	if got := fmt.Sprint(report.At("collection_ids")); got != "["+id+"]" {
		t.Errorf("collection_ids are %s, want %s", got, id)
	}
	bob.SendJSON("POST", "/api/v1/reports", apptest.Doc{"account_id": alice.ID, "collection_ids": strings.Fields(strings.Repeat("none ", 21))}).Want(422)
	alice.Do("DELETE", collectionsPath+"/"+id, "", nil).Want(200)
	for _, path := range []string{"/api/v1/admin/reports/", "/api/v1/svc/admin/reports/"} {
		shown := root.Get(path + report.ID()).Want(200).Object().At("collections").([]any)
		if len(shown) != 1 || shown[0].(map[string]any)["name"] != "Bad" || shown[0].(map[string]any)["id"] != id {
			t.Errorf("%s shows %v", path, shown)
		}
	}
	root.SignedIn().Get("/web/admin/reports/"+report.ID()).Want(200, "Reported starter packs", "Bad")
}
