package pages_test

import (
	"testing"

	"svc/app/apptest"
)

// TestInCollectionsPage leaves a collection that a remote account has put the viewer into.
func TestInCollectionsPage(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	bob := peer.AddActor("bob")
	c := apptest.Doc{"id": peer.NewID("collections"), "type": "FeaturedCollection", "attributedTo": bob, "name": "Cat people", "summary": "They post cats"}
	peer.Serve(c)
	peer.PostAndSettle(srv, peer.Activity("FeatureRequest", bob, alice.URI(), apptest.Doc{"instrument": c["id"]}))
	browser := alice.SignedIn()
	browser.Get("/web/notifications").Want(200, "added you to a starter pack", "See your starter packs")
	page := browser.Get("/web/in_collections").Want(200, "Cat people", "They post cats", "@bob")
	page.Press("Leave").Follow().Want(200, "You are in no starter pack.")
}
