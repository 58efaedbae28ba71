package staff_test

import (
	"testing"

	"svc/app/apptest"
)

// TestEmojiLog checks that each change of emoji packs is in the moderation log, and that what fails is not.
func TestEmojiLog(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	srv := peers[0]
	apptest.WriteDataFile(peers[1], "emoji/cats/blobcat.png", string(apptest.PNG(4, 4)))
	apptest.WriteDataFile(peers[1], "emoji/cats/pack.json", `{"files":{"blobcat":"blobcat.png"},"pack":{"share-files":true}}`)
	if err := peers[1].Emojis.Reload(); err != nil {
		t.Fatal(err)
	}
	root := srv.SignUpAdmin()
	const pack, files = "/api/v1/svc/emoji/pack", "/api/v1/svc/emoji/packs/files"
	root.Post(pack + "?name=own").Want(200)
	root.Post(pack + "?name=own").Want(409)
	root.SendJSON("PATCH", pack+"?name=own", apptest.Doc{"metadata": apptest.Doc{"license": "CC0"}}).Want(200)
	root.SendForm("POST", files+"?name=own", apptest.FormPart{Name: "file", Content: string(apptest.PNG(4, 4)), Filename: "sun.png", Type: "image/png", IsFile: true}).Want(200)
	root.SendJSON("PATCH", files+"?name=own", apptest.Doc{"shortcode": "sun", "new_shortcode": "star", "new_filename": "star.png"}).Want(200)
	root.Do("DELETE", files+"?name=own&shortcode=star", "", nil).Want(200)
	root.SendJSON("POST", "/api/v1/svc/emoji/packs/download", apptest.Doc{"url": peers[1].URL, "name": "cats"}).Want(200)
	root.Get("/api/v1/svc/emoji/packs/import").Want(200)
	root.Post("/api/v1/svc/admin/reload_emoji").Want(200)
	root.Do("DELETE", pack+"?name=own", "", nil).Want(200)
	apptest.WantList(t, "the log", messages(root.Client),
		"@root deleted emoji pack own", "@root read all emoji packs again", "@root imported emoji packs from the disk",
		"@root downloaded emoji pack cats from "+peers[1].URL, "@root deleted emoji star of pack own", "@root renamed emoji sun of pack own",
		"@root added an emoji to pack own", "@root changed the metadata of emoji pack own", "@root created emoji pack own")
}

// TestChangeUnreadableStatus checks that staff who may not read restricted posts do not see one by changing it.
func TestChangeUnreadableStatus(t *testing.T) {
	srv := apptest.Start(t)
	moderator, alice := srv.SignUp("mod"), srv.SignUp("alice")
	srv.SetRole(moderator, false, true)
	secret, public := alice.Publish("secret words", "visibility", "private"), alice.Publish("public words")
	const path = "/api/v1/svc/admin/statuses/"
	as := srv.NewToken(moderator, "admin:write:statuses admin:read:statuses")
	as.Get(path + secret.ID()).Want(403)
	a := as.SendJSON("PUT", path+secret.ID(), apptest.Doc{"sensitive": true}).Want(200)
	if got := bodyText(a); got != `{"id":"`+secret.ID()+`","sensitive":true,"visibility":"private"}` {
		t.Errorf("the answer is %s", got)
	}
	if got := as.SendJSON("PUT", path+public.ID(), apptest.Doc{"sensitive": true}).Want(200).Object().Str("content"); got != "<p>public words</p>" {
		t.Errorf("a public post has the content %q", got)
	}
}
