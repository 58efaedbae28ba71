package federation_test

import (
	"net/http"
	"svc/app/apptest"
	"testing"
)

// TestIncomingForwarded checks that an activity forwarded by the server of a followed account is verified at its origin (federation
// 2.4, case 31).
func TestIncomingForwarded(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	carol, eve := peer.AddActor("carol"), peer.AddActor("eve")
	bob := other.AddActor("bob")
	alice.FollowRemote(carol)
	post := peer.Note(carol, "what do you think?")
	peer.PostAndSettle(srv, peer.Create(post))
	answer := func(content string) apptest.Doc {
		n := other.Note(bob, content, apptest.Doc{"inReplyTo": post["id"]})
		other.Serve(n)
		return n
	}
	passOn := func(signer string, d apptest.Doc) {
		t.Helper()
		peer.Deliver(srv, "/inbox", signer, d).Want(202)
		apptest.Settle(srv)
	}
	n := answer("real")
	passOn(eve, other.Create(apptest.With(n, apptest.Doc{"content": "forged"})))
	if alice.FindPost(n["id"]) != nil || other.AllFetches() != 0 {
		t.Error("an account that is not followed caused a fetch")
	}
	passOn(carol, other.Create(apptest.With(n, apptest.Doc{"content": "forged"})))
	if got := alice.WantPost(n["id"]).Str("content"); got != "real" {
		t.Errorf("it says %q", got)
	}
	edited := apptest.With(n, apptest.Doc{"content": "edited", "updated": apptest.FromNow(0)})
	other.Serve(edited)
	passOn(carol, other.Activity("Update", bob, apptest.With(edited, apptest.Doc{"content": "forged"})))
	if got := alice.WantPost(n["id"]).Str("content"); got != "edited" {
		t.Errorf("it says %q", got)
	}
	for _, who := range []string{carol, eve} {
		passOn(who, other.Activity("Delete", bob, n["id"]))
		alice.WantPost(n["id"])
	}
	other.Remove(n["id"].(string), http.StatusGone)
	passOn(carol, other.Activity("Delete", bob, n["id"]))
	if alice.FindPost(n["id"]) != nil {
		t.Error("it is stored though its origin has deleted it")
	}
	alone := other.Note(bob, "to no local account")
	other.Serve(alone)
	passOn(carol, other.Create(alone))
	if alice.FindPost(alone["id"]) != nil {
		t.Error("an irrelevant post is stored")
	}
	liked := alice.Publish("a post")
	passOn(carol, other.Activity("Like", bob, liked.Str("uri")))
	passOn(carol, other.Activity("Follow", bob, alice.URI()))
	if n := alice.Favourites(liked.ID()); n != 0 {
		t.Errorf("%d favourites on the word of another", n)
	}
	if got := srv.Count(`SELECT count(*) FROM follows WHERE follower_local = 0`); got != 0 {
		t.Errorf("%d follows on the word of another", got)
	}
}
