package federation_test

import (
	"testing"

	"svc/app/apptest"
)

// TestSearchConsent checks that posts of local and remote accounts that do not consent to the search are found by their author, their
// recipients and accounts that interacted with them.
func TestSearchConsent(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, fan, other := srv.SignUp("alice"), srv.SignUp("fan"), srv.SignUp("other")
	found := func(what string, m *apptest.Client, want ...string) {
		t.Helper()
		statuses := m.Get("/api/v2/search", "q", "needle", "type", "statuses").Want(200).Object()
		apptest.WantList(t, what, apptest.ListField(statuses, "statuses", "id"), want...)
	}
	// Without a statement, everybody finds posts (spec, search).
	first := alice.Publish("a needle").ID()
	found("no statement", other.Client, first)
	for _, tt := range []struct {
		indexable bool
		others    []string
	}{{false, nil}, {true, []string{first}}, {false, nil}} {
		alice.UpdateProfile(map[string]any{"indexable": tt.indexable})
		found("of others", other.Client, tt.others...)
		found("anonymous", srv.As(nil), tt.others...)
		found("own", alice.Client, first)
		apptest.Settle(srv)
		apptest.WantField(t, srv.GetDocument(alice.URI()).Want(200).Document(), tt.indexable, "indexable")
	}
	fan.Post("/api/v1/statuses/" + first + "/favourite").Want(200)
	found("after a favourite", fan.Client, first)
	second := alice.Publish("another needle for @other").ID()
	found("mentioned", other.Client, second)
	found("not mentioned", fan.Client, first)
	alice.UpdateProfile(map[string]any{"indexable": true})

	// Remote authors: a missing statement is no refusal, and an Update changes it.
	silent, shy := peer.AddActor("silent"), peer.AddActor("shy", apptest.Doc{"indexable": false})
	var ids []string
	for _, actor := range []string{silent, shy} {
		other.FollowRemote(actor)
		note := peer.Note(actor, "a remote needle")
		peer.PostAndSettle(srv, peer.Create(note))
		ids = append(ids, other.WantPost(note["id"]).ID())
	}
	found("remote", fan.Client, ids[0], second, first)
	other.Post("/api/v1/statuses/" + ids[1] + "/bookmark").Want(200)
	found("remote, after a bookmark", other.Client, ids[1], ids[0], second, first)
	account := other.Get("/api/v1/accounts/" + srv.KnownID(shy)).Want(200).Object()
	if account.Bool("indexable") {
		t.Error("the remote account is shown as indexable")
	}
	peer.PostAndSettle(srv, peer.Activity("Update", shy, apptest.Doc{
		"id": shy, "type": "Person", "preferredUsername": "shy", "inbox": shy + "/inbox", "indexable": true,
	}))
	found("remote, after consent", fan.Client, ids[1], ids[0], second, first)
}
