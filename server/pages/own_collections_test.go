package pages_test

import (
	"testing"

	"svc/app/apptest"
)

// TestOwnCollectionPages makes a collection, adds an account that a search finds, and shows it to its member, to others and to visitors.
func TestOwnCollectionPages(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob, carol := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	bob.UpdateProfile(map[string]any{"feature_policy": "public"})
	browser := alice.SignedIn()
	browser.Get("/web/menu").Want(200, "Your starter packs")
	list := browser.Get("/web/collections").Want(200, "You have no starter packs yet.")
	list.Press("Create the starter pack", "name", "").Want(422)
	list.Press("Create the starter pack", "name", "Cats & co", "description", "They post <cats>", "tag_name", "#cats", "language", "en").Follow().Want(200, "Saved.", "Cats & co", "0 accounts")
	id := alice.Get("/api/v1/accounts/" + alice.ID + "/collections").Want(200).Object().At("collections").([]any)[0].(map[string]any)["id"].(string)
	public, edit := "/collections/"+id, "/web/collections/"+id+"/edit"
	browser.Get(edit, "q", "zoe").Want(200, "No such account is known.")
	browser.Get(edit, "q", "carol").Want(200, "Found").Press("Add").Want(422)
	browser.Get(edit, "q", "bob").Want(200, "Found").Press("Add").Follow().Want(200, "@bob", "Remove")
	browser.Get(edit).Press("Save", "name", "Cats", "description", "They post <cats>", "discoverable", "true").Follow().Want(200, "Saved.")

	bobs := bob.SignedIn()
	bobs.Get("/web/notifications").Want(200, "added you to a starter pack", "changed a starter pack that you are in")
	bobs.Get("/web/in_collections").Want(200, "Cats", "@alice", "Leave")
	for _, path := range []string{public, "/web" + public} {
		srv.Browser().Get(path).Want(200, "Cats", "They post <cats>", "1 account", "@bob", "Made by")
	}
	srv.Browser().Get("/@alice").Want(200, "Starter packs:", "Cats")
	srv.Browser().Get("/collections/none").Want(404)
	srv.GetDocument(srv.URL + public).Want(200)
	others := carol.SignedIn()
	others.Get(edit).Want(404)
	others.Get(public).Want(200, "Follow").Press("Follow").Follow().Want(200, "Unfollow")
	others.Get("/web/accounts/"+alice.ID+"/report", "collection", id).Want(200, "About the starter pack", "Cats").Press("Send the report", "comment", "no cats").Follow().Want(200)
	report := root.Get("/api/v1/admin/reports").Want(200).List()[0].ID()
	root.SignedIn().Get("/web/admin/reports/"+report).Want(200, "Reported starter packs", "Cats")

	bobs.Get(public).Want(200).Press("Leave").Follow().Want(200, "There are no accounts in it yet.")
	browser.Get(edit).Press("Delete the starter pack").Follow().Want(200, "Deleted.", "You have no starter packs yet.")
	srv.Browser().Get(public).Want(404)
}
