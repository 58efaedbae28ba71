package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const foldersPath = "/api/v1/svc/bookmark_folders"

func TestBookmarkFolders(t *testing.T) {
	srv := startAPI(t)
	srv.addEmoji("pets", map[string]string{"cat": "cat.png"})
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	if got := alice.get(foldersPath).want(200); string(got.body) != "[]" {
		t.Errorf("folders are %s", got.body)
	}
	catURL := srv.url + "/emoji/pets/cat.png"
	var folder string
	for _, tt := range []struct {
		name   string
		method string
		path   string
		body   map[string]any
		status int
		want   map[string]any
	}{
		{"made", "POST", "", map[string]any{"name": " To\nread ", "emoji": "📚"}, 200, map[string]any{"name": "To read", "emoji": "📚", "emoji_url": nil}},
		{"another name", "PATCH", "/ID", map[string]any{"name": "Read"}, 200, map[string]any{"name": "Read", "emoji": "📚", "emoji_url": nil}},
		{"a custom emoji", "PATCH", "/ID", map[string]any{"emoji": ":cat:"}, 200, map[string]any{"name": "Read", "emoji": ":cat:", "emoji_url": catURL}},
		{"another emoji", "PATCH", "/ID", map[string]any{"emoji": "👩‍👩‍👧‍👦"}, 200, map[string]any{"emoji": "👩‍👩‍👧‍👦", "emoji_url": nil}},
		{"a custom one without colons", "PATCH", "/ID", map[string]any{"emoji": "cat"}, 200, map[string]any{"emoji": ":cat:", "emoji_url": catURL}},
		{"a keycap", "PATCH", "/ID", map[string]any{"emoji": "1️⃣"}, 200, map[string]any{"emoji": "1️⃣"}},
		{"nothing", "PATCH", "/ID", map[string]any{}, 200, map[string]any{"name": "Read", "emoji": "1️⃣"}},
		{"one without its variation selector", "PATCH", "/ID", map[string]any{"emoji": "☎"}, 200, map[string]any{"emoji": "☎️"}},
		{"no emoji", "PATCH", "/ID", map[string]any{"emoji": nil}, 200, map[string]any{"name": "Read", "emoji": nil, "emoji_url": nil}},
		{"a letter", "PATCH", "/ID", map[string]any{"emoji": "x"}, 422, map[string]any{"error": "Invalid emoji"}},
		{"two emoji", "PATCH", "/ID", map[string]any{"emoji": "📚📚"}, 422, map[string]any{"error": "Invalid emoji"}},
		{"a custom one that there is not", "PATCH", "/ID", map[string]any{"emoji": ":dog:", "name": "x"}, 422, map[string]any{"error": "Invalid emoji"}},
		{"no name", "PATCH", "/ID", map[string]any{"name": " "}, 422, map[string]any{"error": "Validation failed: Name can't be blank"}},
		{"a long name", "PATCH", "/ID", map[string]any{"name": strings.Repeat("x", 257)}, 422, map[string]any{"error": "Validation failed: Name is too long (maximum is 256 characters)"}},
		{"a name of another type", "PATCH", "/ID", map[string]any{"name": []string{"x"}}, 400, nil},
		{"made without a name", "POST", "", map[string]any{"emoji": "📚"}, 422, map[string]any{"error": "Validation failed: Name can't be blank"}},
		{"one that is not there", "PATCH", "/0000000000000000AA", map[string]any{"name": "x"}, 404, map[string]any{"error": "Record not found"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := alice.send(tt.method, foldersPath+strings.Replace(tt.path, "ID", folder, 1), tt.body).want(tt.status).object()
			if folder == "" {
				folder = o.id()
			}
			for key, want := range tt.want {
				if got := o.at(key); got != want {
					t.Errorf("%s is %v, want %v", key, got, want)
				}
			}
		})
	}
	list := alice.get(foldersPath).want(200).list()
	if len(list) != 1 || list[0].str("name") != "Read" {
		t.Errorf("folders are %v", list)
	}
	wantIDs(t, "bob's folders", bob.get(foldersPath))
	for _, method := range []string{"PATCH", "DELETE"} {
		bob.send(method, foldersPath+"/"+folder, map[string]any{"name": "mine"}).wantError(404, "Record not found")
		srv.as(nil).send(method, foldersPath+"/"+folder, nil).want(403)
	}
	if got := alice.send("DELETE", foldersPath+"/"+folder, nil).want(200).object().str("name"); got != "Read" {
		t.Errorf("deleted %q", got)
	}
	alice.send("DELETE", foldersPath+"/"+folder, nil).wantError(404, "Record not found")
	for i := range 100 {
		alice.send("POST", foldersPath, map[string]any{"name": fmt.Sprint(i)}).want(200)
	}
	alice.send("POST", foldersPath, map[string]any{"name": "one too many"}).want(422)
}

func TestBookmarksInFolders(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	makeFolder := func(m *member, name string) string {
		return m.send("POST", foldersPath, map[string]any{"name": name}).want(200).object().id()
	}
	one, two, theirs := makeFolder(alice, "one"), makeFolder(alice, "two"), makeFolder(bob, "theirs")
	var ids []string
	for i := range 5 {
		ids = append(ids, bob.publish(fmt.Sprint(i)).id())
	}
	slices.Reverse(ids)
	bookmark := func(id string, body map[string]any) *answer {
		return alice.send("POST", "/api/v1/statuses/"+id+"/bookmark", body)
	}
	folderOf := func(id string) any {
		return alice.get("/api/v1/statuses/" + id).want(200).object().at("svc.bookmark_folder")
	}
	for i := range ids {
		id := ids[len(ids)-1-i]
		if got := bookmark(id, map[string]any{"folder_id": one}).want(200).object(); got.at("svc.bookmark_folder") != one || !got.truth("bookmarked") {
			t.Errorf("it is in %v", got.at("svc.bookmark_folder"))
		}
	}
	wantPages(t, alice, "/api/v1/bookmarks?limit=2&folder_id="+one, ids)
	for _, tt := range []struct {
		name   string
		body   map[string]any
		status int
		want   any
	}{
		{"no word of a folder", nil, 200, one},
		{"another folder", map[string]any{"folder_id": two}, 200, two},
		{"not one's own", map[string]any{"folder_id": theirs}, 404, two},
		{"one that is not there", map[string]any{"folder_id": "nonsense"}, 404, two},
		{"none", map[string]any{"folder_id": nil}, 200, nil},
		{"another again", map[string]any{"folder_id": two}, 200, two},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bookmark(ids[0], tt.body).want(tt.status)
			if got := folderOf(ids[0]); got != tt.want {
				t.Errorf("it is in %v, want %v", got, tt.want)
			}
		})
	}
	fresh := bob.publish("new").id()
	bookmark(fresh, map[string]any{"folder_id": theirs}).wantError(404, "Record not found")
	if alice.get("/api/v1/statuses/" + fresh).object().truth("bookmarked") {
		t.Error("it became a bookmark all the same")
	}
	wantIDs(t, "one", alice.get("/api/v1/bookmarks?folder_id="+one), ids[1:]...)
	wantIDs(t, "two", alice.get("/api/v1/bookmarks?folder_id="+two), ids[0])
	wantIDs(t, "all", alice.get("/api/v1/bookmarks"), ids...)
	alice.get("/api/v1/bookmarks?folder_id="+theirs).wantError(404, "Record not found")
	if got := bob.get("/api/v1/statuses/" + ids[0]).object().at("svc.bookmark_folder"); got != nil {
		t.Errorf("bob sees alice's folder %v", got)
	}

	// A boost is filed as what it boosts. What was deleted with its folder stays bookmarked; what is taken away leaves its folder.
	boost := bob.post("/api/v1/statuses/" + ids[1] + "/reblog").want(200).object().id()
	if got := bookmark(boost, map[string]any{"folder_id": two}).want(200).object().at("svc.bookmark_folder"); got != two || folderOf(ids[1]) != two {
		t.Errorf("the boosted is in %v", folderOf(ids[1]))
	}
	alice.post("/api/v1/statuses/" + ids[2] + "/unbookmark").want(200)
	if got := folderOf(ids[2]); got != nil {
		t.Errorf("what is no bookmark is in %v", got)
	}
	alice.send("DELETE", foldersPath+"/"+one, nil).want(200)
	if got := alice.get("/api/v1/statuses/" + ids[3]).object(); got.at("svc.bookmark_folder") != nil || !got.truth("bookmarked") {
		t.Errorf("after its folder has gone: %v", got.m)
	}
	wantIDs(t, "all that is left", alice.get("/api/v1/bookmarks"), ids[0], ids[1], ids[3], ids[4])
}
