package federation_test

import (
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/text"
)

// TestPictureDescriptionsOut checks what other servers learn of the pictures and tabs of a profile.
func TestPictureDescriptionsOut(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	peer.AddFollower(srv, "bob", alice)
	alice.SendForm("PATCH", "/api/v1/accounts/update_credentials",
		apptest.FormPart{Name: "avatar", Content: string(apptest.PNG(40, 40)), Filename: "a.png", IsFile: true},
		apptest.ValuePart("avatar_description", "A <cat>"), apptest.ValuePart("header_description", "of no picture"),
		apptest.ValuePart("show_media", "false"), apptest.ValuePart("show_featured", "false")).Want(200)
	actor := srv.GetDocument("/users/alice").Document()
	apptest.WantField(t, actor, "A <cat>", "icon", "name")
	apptest.WantField(t, actor, "A <cat>", "icon", "summary")
	if actor["image"] != nil {
		t.Errorf("the actor has the header %v", actor["image"])
	}
	apptest.WantField(t, actor, false, "showMedia")
	apptest.WantField(t, actor, true, "showRepliesInMedia")
	apptest.WantField(t, actor, false, "showFeatured")
	peer.ClearDelivered()
	alice.UpdateProfile(map[string]any{"avatar_description": "A dog"})
	srv.Advance(time.Minute)
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Update"), "A dog", "object", "icon", "name")
	alice.UpdateProfile(map[string]any{"avatar_description": ""})
	if icon := srv.GetDocument("/users/alice").Document()["icon"].(map[string]any); icon["name"] != nil || icon["summary"] != nil {
		t.Errorf("without a description the icon is %v", icon)
	}
}

// TestPictureDescriptionsIn checks which descriptions of remote pictures are read, and how they are cut.
func TestPictureDescriptionsIn(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	image := func(members apptest.Doc) apptest.Doc {
		return apptest.With(apptest.Doc{"type": "Image", "mediaType": "image/png", "url": "https://cdn.example/a.png"}, members)
	}
	for i, tt := range []struct {
		name  string
		icon  any
		want  string
		noPic bool
	}{
		{"name", image(apptest.Doc{"name": "A cat"}), "A cat", false},
		{"summary", image(apptest.Doc{"summary": "A cat"}), "A cat", false},
		{"both", image(apptest.Doc{"name": "A cat", "summary": "A dog"}), "A cat", false},
		{"none", image(nil), "", false},
		{"an address", "https://cdn.example/a.png", "", false},
		{"lines", image(apptest.Doc{"name": " A\ncat\t "}), "A cat", false},
		{"the first is no picture", []any{apptest.Doc{"type": "Video", "mediaType": "video/mp4", "name": "A film", "url": "https://cdn.example/a.mp4"}, image(apptest.Doc{"name": "A cat"})}, "A cat", false},
		{"a number", image(apptest.Doc{"name": 5}), "", false},
		{"a list", image(apptest.Doc{"name": []any{apptest.Doc{}}, "summary": nil}), "", false},
		{"no picture", image(apptest.Doc{"name": "A cat", "url": "javascript:alert(1)"}), "", true},
	} {
		id := srv.FetchActor(peer.AddActor("bob"+string(rune('a'+i)), apptest.Doc{"icon": tt.icon, "image": tt.icon, "showMedia": false, "showRepliesInMedia": "no", "showFeatured": nil}))
		a := srv.Account(t, id)
		if a.AvatarDescription != tt.want || a.HeaderDescription != tt.want || tt.noPic != (a.Avatar == "") {
			t.Errorf("%s: got %q and %q for %q", tt.name, a.AvatarDescription, a.HeaderDescription, a.Avatar)
		}
		if !a.HideMedia || a.HideMediaReplies || a.HideFeatured {
			t.Errorf("%s: the tabs are %v %v %v", tt.name, a.HideMedia, a.HideMediaReplies, a.HideFeatured)
		}
	}
	long := peer.AddActor("long", apptest.Doc{"icon": image(apptest.Doc{"name": strings.Repeat("ä", 100_000)})})
	a := srv.Account(t, srv.FetchActor(long))
	if n := text.JSONSize(a.AvatarDescription); n > 2_100 || n < 500 {
		t.Errorf("a long description takes %d bytes", n)
	}
	peer.Replace(long, strings.Repeat("ä", 100_000), "short")
	peer.PostAndSettle(srv, peer.Activity("Update", long, long))
	srv.Advance(time.Hour) // the actor was fetched a moment ago
	apptest.Settle(srv)
	if got := srv.Account(t, a.ID.String()).AvatarDescription; got != "short" {
		t.Errorf("after an Update the description is %.50q", got)
	}
}
