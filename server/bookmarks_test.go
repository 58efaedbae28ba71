package server_test

import (
	"fmt"
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

const foldersPath = "/api/v1/svc/bookmark_folders"

func TestBookmarkFolders(t *testing.T) {
	srv := apptest.Start(t)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	if got := alice.Get(foldersPath).Want(200); string(got.Body) != "[]" {
		t.Errorf("folders are %s", got.Body)
	}
	catURL := srv.URL + "/emoji/pets/cat.png"
	var folder string
	for _, tt := range []struct {
		name   string
		method string
		path   string
		body   map[string]any
		status int
		want   map[string]any
	}{
		{"created", "POST", "", map[string]any{"name": " To\nread ", "emoji": "📚"}, 200, map[string]any{"name": "To read", "emoji": "📚", "emoji_url": nil}},
		{"another name", "PATCH", "/ID", map[string]any{"name": "Read"}, 200, map[string]any{"name": "Read", "emoji": "📚", "emoji_url": nil}},
		{"a custom emoji", "PATCH", "/ID", map[string]any{"emoji": ":cat:"}, 200, map[string]any{"name": "Read", "emoji": ":cat:", "emoji_url": catURL}},
		{"another emoji", "PATCH", "/ID", map[string]any{"emoji": "👩‍👩‍👧‍👦"}, 200, map[string]any{"emoji": "👩‍👩‍👧‍👦", "emoji_url": nil}},
		{"a custom one without colons", "PATCH", "/ID", map[string]any{"emoji": "cat"}, 200, map[string]any{"emoji": ":cat:", "emoji_url": catURL}},
		{"a keycap", "PATCH", "/ID", map[string]any{"emoji": "1️⃣"}, 200, map[string]any{"emoji": "1️⃣"}},
		{"no change", "PATCH", "/ID", map[string]any{}, 200, map[string]any{"name": "Read", "emoji": "1️⃣"}},
		{"one without its variation selector", "PATCH", "/ID", map[string]any{"emoji": "☎"}, 200, map[string]any{"emoji": "☎️"}},
		{"no emoji", "PATCH", "/ID", map[string]any{"emoji": nil}, 200, map[string]any{"name": "Read", "emoji": nil, "emoji_url": nil}},
		{"a letter", "PATCH", "/ID", map[string]any{"emoji": "x"}, 422, map[string]any{"error": "Invalid emoji"}},
		{"two emoji", "PATCH", "/ID", map[string]any{"emoji": "📚📚"}, 422, map[string]any{"error": "Invalid emoji"}},
		{"an unknown custom one", "PATCH", "/ID", map[string]any{"emoji": ":dog:", "name": "x"}, 422, map[string]any{"error": "Invalid emoji"}},
		{"no name", "PATCH", "/ID", map[string]any{"name": " "}, 422, map[string]any{"error": "Validation failed: Name can't be blank"}},
		{"a long name", "PATCH", "/ID", map[string]any{"name": strings.Repeat("x", 257)}, 422, map[string]any{"error": "Validation failed: Name is too long (maximum is 256 characters)"}},
		{"a name of another type", "PATCH", "/ID", map[string]any{"name": []string{"x"}}, 400, nil},
		{"created without a name", "POST", "", map[string]any{"emoji": "📚"}, 422, map[string]any{"error": "Validation failed: Name can't be blank"}},
		{"an unknown one", "PATCH", "/0000000000000000AA", map[string]any{"name": "x"}, 404, map[string]any{"error": "Record not found"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := alice.SendJSON(tt.method, foldersPath+strings.Replace(tt.path, "ID", folder, 1), tt.body).Want(tt.status).Object()
			if folder == "" {
				folder = o.ID()
			}
			for key, want := range tt.want {
				if got := o.At(key); got != want {
					t.Errorf("%s is %v, want %v", key, got, want)
				}
			}
		})
	}
	list := alice.Get(foldersPath).Want(200).List()
	if len(list) != 1 || list[0].Str("name") != "Read" {
		t.Errorf("folders are %v", list)
	}
	apptest.WantIDs(t, "bob's folders", bob.Get(foldersPath))
	for _, method := range []string{"PATCH", "DELETE"} {
		bob.SendJSON(method, foldersPath+"/"+folder, map[string]any{"name": "mine"}).WantError(404, "Record not found")
		srv.As(nil).SendJSON(method, foldersPath+"/"+folder, nil).Want(403)
	}
	if got := alice.SendJSON("DELETE", foldersPath+"/"+folder, nil).Want(200).Object().Str("name"); got != "Read" {
		t.Errorf("deleted %q", got)
	}
	alice.SendJSON("DELETE", foldersPath+"/"+folder, nil).WantError(404, "Record not found")
	for i := range 100 {
		alice.SendJSON("POST", foldersPath, map[string]any{"name": fmt.Sprint(i)}).Want(200)
	}
	alice.SendJSON("POST", foldersPath, map[string]any{"name": "one too many"}).Want(422)
}

func TestBookmarksInFolders(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	makeFolder := func(m *apptest.User, name string) string {
		return m.SendJSON("POST", foldersPath, map[string]any{"name": name}).Want(200).Object().ID()
	}
	one, two, theirs := makeFolder(alice, "one"), makeFolder(alice, "two"), makeFolder(bob, "theirs")
	var ids []string
	for i := range 5 {
		ids = append(ids, bob.Publish(fmt.Sprint(i)).ID())
	}
	slices.Reverse(ids)
	bookmark := func(id string, body map[string]any) *apptest.Response {
		return alice.SendJSON("POST", "/api/v1/statuses/"+id+"/bookmark", body)
	}
	folderOf := func(id string) any {
		return alice.Get("/api/v1/statuses/" + id).Want(200).Object().At("svc.bookmark_folder")
	}
	for i := range ids {
		id := ids[len(ids)-1-i]
		if got := bookmark(id, map[string]any{"folder_id": one}).Want(200).Object(); got.At("svc.bookmark_folder") != one || !got.Bool("bookmarked") {
			t.Errorf("the bookmark is in %v", got.At("svc.bookmark_folder"))
		}
	}
	apptest.WantPages(t, alice, "/api/v1/bookmarks?limit=2&folder_id="+one, ids)
	for _, tt := range []struct {
		name   string
		body   map[string]any
		status int
		want   any
	}{
		{"no folder_id", nil, 200, one},
		{"another folder", map[string]any{"folder_id": two}, 200, two},
		{"a folder of another user", map[string]any{"folder_id": theirs}, 404, two},
		{"an unknown one", map[string]any{"folder_id": "nonsense"}, 404, two},
		{"none", map[string]any{"folder_id": nil}, 200, nil},
		{"another again", map[string]any{"folder_id": two}, 200, two},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bookmark(ids[0], tt.body).Want(tt.status)
			if got := folderOf(ids[0]); got != tt.want {
				t.Errorf("the bookmark is in %v, want %v", got, tt.want)
			}
		})
	}
	fresh := bob.Publish("new").ID()
	bookmark(fresh, map[string]any{"folder_id": theirs}).WantError(404, "Record not found")
	if alice.Get("/api/v1/statuses/" + fresh).Object().Bool("bookmarked") {
		t.Error("a refused request created a bookmark")
	}
	apptest.WantIDs(t, "one", alice.Get("/api/v1/bookmarks?folder_id="+one), ids[1:]...)
	apptest.WantIDs(t, "two", alice.Get("/api/v1/bookmarks?folder_id="+two), ids[0])
	apptest.WantIDs(t, "all", alice.Get("/api/v1/bookmarks"), ids...)
	alice.Get("/api/v1/bookmarks?folder_id="+theirs).WantError(404, "Record not found")
	if got := bob.Get("/api/v1/statuses/" + ids[0]).Object().At("svc.bookmark_folder"); got != nil {
		t.Errorf("bob sees alice's folder %v", got)
	}

	// Bookmarking a boost bookmarks the boosted status. Deleting a folder keeps its bookmarks; removing a bookmark removes it from its folder.
	boost := bob.Post("/api/v1/statuses/" + ids[1] + "/reblog").Want(200).Object().ID()
	if got := bookmark(boost, map[string]any{"folder_id": two}).Want(200).Object().At("svc.bookmark_folder"); got != two || folderOf(ids[1]) != two {
		t.Errorf("the boosted status is in %v", folderOf(ids[1]))
	}
	alice.Post("/api/v1/statuses/" + ids[2] + "/unbookmark").Want(200)
	if got := folderOf(ids[2]); got != nil {
		t.Errorf("the status without a bookmark is in %v", got)
	}
	alice.SendJSON("DELETE", foldersPath+"/"+one, nil).Want(200)
	if got := alice.Get("/api/v1/statuses/" + ids[3]).Object(); got.At("svc.bookmark_folder") != nil || !got.Bool("bookmarked") {
		t.Errorf("after its folder was deleted: %v", got.Fields)
	}
	apptest.WantIDs(t, "all remaining", alice.Get("/api/v1/bookmarks"), ids[0], ids[1], ids[3], ids[4])
}
