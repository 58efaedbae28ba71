package federation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// emojiTags returns the names of the Emoji tags of an object. Each must be complete.
func emojiTags(t *testing.T, srv *apptest.Server, what string, tags any) []string {
	t.Helper()
	names := []string{}
	list, _ := tags.([]any)
	for _, v := range list {
		tag, _ := v.(map[string]any)
		if tag["type"] != "Emoji" {
			continue
		}
		name := fmt.Sprint(tag["name"])
		icon, _ := tag["icon"].(map[string]any)
		want := srv.URL + "/emoji/pets/" + strings.Trim(name, ":") + ".png"
		if icon["type"] != "Image" || icon["url"] != want || icon["mediaType"] != "image/png" || tag["id"] != want || tag["updated"] == nil {
			t.Errorf("%s: the tag is %v", what, tag)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestOutgoingEmojiTags checks that whatever shows a custom emoji is sent with its tag: posts, warnings, polls, names, biographies, fields and
// reactions. Unknown shortcodes get none.
func TestOutgoingEmojiTags(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png", "dog": "dog.png", "fox": "fox.png", "owl": "owl.png", "pig": "pig.png"})
	alice := srv.SignUp("alice")
	follower := peer.AddFollower(srv, "follower", alice)
	peer.ClearDelivered()
	want := func(what string, tags any, names ...string) {
		t.Helper()
		apptest.WantList(t, what, emojiTags(t, srv, what, tags), names...)
	}
	object := func(activityType string) map[string]any {
		t.Helper()
		apptest.Settle(srv)
		o, _ := peer.OneDelivered(activityType)["object"].(map[string]any)
		peer.ClearDelivered()
		return o
	}

	alice.Publish(":cat: and :cat: and :none:", "spoiler_text", "a :dog:")
	want("a post", object("Create")["tag"], ":cat:", ":dog:")
	alice.PublishPoll([]string{"a :fox:", "no :owl:"})
	want("a poll", object("Create")["tag"], ":fox:", ":owl:")
	alice.UpdateProfile(map[string]any{
		"display_name": "Alice :pig:", "note": "likes :owl:", "fields_attributes": []any{map[string]any{"name": "pet :dog:", "value": "is :cat:"}, map[string]any{"name": "no", "value": ":none:"}},
	})
	srv.RunDelayedJobs()
	want("a profile", object("Update")["tag"], ":cat:", ":dog:", ":owl:", ":pig:")
	actor := peer.FetchAs(srv, alice.URI(), follower, "application/activity+json").Want(200).Document()
	want("the actor", actor["tag"], ":cat:", ":dog:", ":owl:", ":pig:")

	note := peer.Note(follower, "hello", apptest.Doc{"to": []any{alice.URI(), "https://www.w3.org/ns/activitystreams#Public"}})
	peer.PostAndSettle(srv, peer.Create(note))
	peer.ClearDelivered()
	alice.ReactWith(alice.WantPost(note["id"]).ID(), "cat")
	apptest.Settle(srv)
	reaction := peer.OneDelivered("EmojiReact")
	want("a reaction", reaction["tag"], ":cat:")
	if reaction["content"] != ":cat:" {
		t.Errorf("the reaction is %v", reaction["content"])
	}
}
